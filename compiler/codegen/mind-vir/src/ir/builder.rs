//! Builder of functions.

use rustc_hash::FxHashMap;

use super::byte_product::ByteProduct;
use super::function::{
    Block, Carried, Constant, Function, IfAny, Loop, LoopKind, Merged, Scratch, Statement,
};
use super::interleave::interleaved;
use super::op::{
    Addr, BinaryOp, ConvertOp, IndexOp, MaskOp, Op, Predicate, ShiftOp, UnaryOp, Value,
};
use super::types::{Lane, Type};

/// Appends statements to a function.
///
/// Constants, index arithmetic and addresses are hash-consed, and arithmetic on constant indices is folded. Methods
/// panic if types do not fit, because that is a bug of the lowering and never depends on its input.
#[derive(Debug)]
pub struct Builder {
    function: Function,
    /// The insertion block.
    current: Vec<Statement>,
    constants: FxHashMap<(Lane, u64), Value>,
    /// Available indices and addresses, and the order in which they were added.
    known: FxHashMap<Op, Value>,
    known_order: Vec<Op>,
    index_constants: FxHashMap<Value, i64>,
    /// The scratch memory, and its size in use at this point.
    scratch: Option<Scratch>,
    scratch_taken: usize,
}

/// Alignment in bytes of each part of the scratch memory.
const SCRATCH_ALIGN: usize = 64;

/// An open block, and the block that it is nested in.
#[derive(Debug)]
pub struct OpenBlock {
    outer: Vec<Statement>,
    known: usize,
}

/// The values of a loop iteration.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// The index of this iteration.
    pub index: Value,
    /// The loop-carried values at its start.
    pub carried: &'a [Value],
}

impl Builder {
    /// Returns a builder of the body of `function`, whose parameters are declared.
    pub(super) fn of(function: Function) -> Builder {
        Builder {
            function,
            current: Vec::new(),
            constants: FxHashMap::default(),
            known: FxHashMap::default(),
            known_order: Vec::new(),
            index_constants: FxHashMap::default(),
            scratch: None,
            scratch_taken: 0,
        }
    }

    /// Returns the number of lanes of every vector.
    pub fn lanes(&self) -> u32 {
        self.function.lanes
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// The lane type of a vector.
    pub fn lane(&self, value: Value) -> Lane {
        self.function.lane(value)
    }

    /// Returns the function. Its last parameter is the scratch memory, if it uses any.
    pub fn finish(mut self) -> Function {
        self.function.body.statements = self.current;
        self.function.scratch = self.scratch;
        let scratch = self.function.scratch.map(|scratch| scratch.param);
        self.function.params.extend(scratch);
        self.function
    }

    fn new_value(&mut self, ty: Type) -> Value {
        self.function.types.push(ty);
        Value(self.function.types.len() as u32 - 1)
    }

    /// Appends `body` with a pointer to `bytes` bytes of scratch memory, aligned to 64, that is exclusive to `body`.
    /// They are uninitialised at first, and their contents are lost after `body`.
    ///
    /// The function is invalid if the pointer to 0 bytes is used.
    pub fn scratch<R>(&mut self, bytes: usize, body: impl FnOnce(&mut Builder, Value) -> R) -> R {
        if bytes == 0 {
            // A value without a definition, because the verifier then reports any use of it.
            let nothing = self.new_value(Type::Ptr);
            return body(self, nothing);
        }
        let param = match self.scratch {
            Some(scratch) => scratch.param,
            None => self.new_value(Type::Ptr),
        };
        let before = self.scratch_taken;
        let start = before.next_multiple_of(SCRATCH_ALIGN);
        let end = start + bytes;
        let known = self.scratch.map_or(0, |scratch| scratch.bytes);
        self.scratch = Some(Scratch {
            param,
            bytes: known.max(end),
        });
        let start = match i32::try_from(start) {
            Ok(offset) => Addr::at(param).plus(offset),
            Err(_) => Addr::element(param, self.index(start as i64), Lane::I8),
        };
        // A new value, even if another part begins at the same offset.
        let pointer = self.op(Op::Address(start));
        self.function.scratch_parts.push((pointer, bytes));
        self.scratch_taken = end;
        let result = body(self, pointer);
        self.scratch_taken = before;
        result
    }

    /// Marks `ptr` as a streamed pointer: whole vectors stored through it, with or without an index, are not read again
    /// soon.
    pub fn stream(&mut self, ptr: Value) {
        self.function.streamed.push(ptr);
    }

    /// Returns a vector with `bits` in every lane.
    pub fn constant(&mut self, lane: Lane, bits: u64) -> Value {
        let bits = bits & lane.mask();
        if let Some(&value) = self.constants.get(&(lane, bits)) {
            return value;
        }
        let value = self.new_value(Type::Vector(lane));
        self.function.constants.push(Constant { value, bits });
        self.constants.insert((lane, bits), value);
        value
    }

    /// Returns whether a vector is a [`constant`](Builder::constant).
    pub fn is_constant(&self, vector: Value) -> bool {
        let mut constants = self.function.constants.iter();
        constants.any(|constant| constant.value == vector)
    }

    /// Returns a vector with `x` in every lane.
    pub fn f32(&mut self, x: f32) -> Value {
        self.constant(Lane::F32, x.to_bits().into())
    }

    /// Returns a vector with `x` in every lane.
    pub fn f64(&mut self, x: f64) -> Value {
        self.constant(Lane::F64, x.to_bits())
    }

    /// Appends an operation and returns its result; for example, `op(Op::Splat(x))` broadcasts a lane.
    ///
    /// # Panics
    ///
    /// Panics if the types of its operands do not fit.
    pub fn op(&mut self, op: Op) -> Value {
        let ty = op.result_type(|value| self.function.ty(value));
        let ty = ty.unwrap_or_else(|| panic!("the operands of {op:?} do not fit"));
        let value = self.new_value(ty);
        self.current.push(Statement::Let(value, op));
        value
    }

    /// Returns the available value of the same operation, or appends it.
    fn shared(&mut self, op: Op) -> Value {
        if let Some(&value) = self.known.get(&op) {
            return value;
        }
        let value = self.op(op);
        self.known.insert(op, value);
        self.known_order.push(op);
        value
    }

    /// A constant index.
    pub fn index(&mut self, n: i64) -> Value {
        let value = self.shared(Op::Index(n));
        self.index_constants.insert(value, n);
        value
    }

    /// Returns the value of a constant index; `None` if it is not a constant.
    pub fn index_constant(&self, index: Value) -> Option<i64> {
        self.index_constants.get(&index).copied()
    }

    /// Arithmetic on indices.
    pub fn index_op(&mut self, op: IndexOp, a: Value, b: Value) -> Value {
        use IndexOp::*;
        let (first, second) = (self.index_constant(a), self.index_constant(b));
        match (op, first, second) {
            (_, Some(x), Some(y)) => self.index(op.apply(x, y)),
            (_, Some(_), None) if op.is_commutative() => self.index_op(op, b, a),
            (Add | Sub, None, Some(0)) | (Mul, None, Some(1)) => a,
            (Mul, None, Some(0)) => self.index(0),
            _ => self.shared(Op::IndexOp(op, a, b)),
        }
    }

    /// `addr` as a pointer.
    pub fn address(&mut self, addr: Addr) -> Value {
        if addr == Addr::at(addr.base) {
            return addr.base;
        }
        self.shared(Op::Address(addr))
    }

    /// Consecutive elements, the first `count` of them if there is a count.
    pub fn load(&mut self, lane: Lane, addr: Addr, count: Option<Value>) -> Value {
        self.op(Op::Load { lane, addr, count })
    }

    /// One element in every lane.
    pub fn load_splat(&mut self, lane: Lane, addr: Addr) -> Value {
        self.op(Op::LoadSplat { lane, addr })
    }

    /// Writes consecutive elements, the first `count` of them if there is a count.
    pub fn store(&mut self, value: Value, addr: Addr, count: Option<Value>) {
        self.current.push(Statement::Store { value, addr, count });
    }

    /// Writes the first lane.
    pub fn store_first(&mut self, value: Value, addr: Addr) {
        self.current.push(Statement::StoreFirst { value, addr });
    }

    /// Prefetches memory.
    pub fn prefetch(&mut self, addr: Addr) {
        self.current.push(Statement::Prefetch(addr));
    }

    /// Multiplies matrices of bytes in memory.
    pub fn byte_product(&mut self, product: ByteProduct) {
        self.current.push(Statement::ByteProduct(Box::new(product)));
    }

    /// A function of one vector of floats.
    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        self.op(Op::Unary(op, a))
    }

    /// A function of two vectors.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.op(Op::Binary(op, a, b))
    }

    /// `a * b + c`, rounded once.
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.op(Op::Fma(a, b, c))
    }

    /// `c` plus the dot product of the bytes of each lane, unsigned ones of `a` with signed ones of `b`.
    pub fn dot_bytes(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.op(Op::DotBytes(a, b, c))
    }

    /// A comparison.
    pub fn compare(&mut self, predicate: Predicate, a: Value, b: Value) -> Value {
        self.op(Op::Compare(predicate, a, b))
    }

    /// The lanes below `count`, as a mask for lanes of type `lane`.
    pub fn below(&mut self, lane: Lane, count: Value) -> Value {
        self.op(Op::Below(lane, count))
    }

    /// A combination of masks.
    pub fn mask_op(&mut self, op: MaskOp, a: Value, b: Value) -> Value {
        self.op(Op::MaskOp(op, a, b))
    }

    /// `a` where `mask` holds, else `b`.
    pub fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.op(Op::Select(mask, a, b))
    }

    /// Interleaves blocks of `block` lanes of two vectors, one step of a transposition.
    pub fn transpose(&mut self, odd: bool, block: u32, first: Value, second: Value) -> Value {
        self.op(Op::Transpose {
            odd,
            block,
            first,
            second,
        })
    }

    /// A shift by `n` bits.
    pub fn shift(&mut self, op: ShiftOp, a: Value, n: u32) -> Value {
        self.op(Op::Shift(op, a, n))
    }

    /// Broadcasts the first lane of `a`.
    pub fn splat(&mut self, a: Value) -> Value {
        self.op(Op::Splat(a))
    }

    /// A conversion; returns `a` if it has the type `to` already and `op` keeps the bits.
    pub fn convert(&mut self, op: ConvertOp, to: Lane, a: Value) -> Value {
        if op == ConvertOp::Bits && self.lane(a) == to {
            return a;
        }
        self.op(Op::Convert(op, to, a))
    }

    /// Appends `count` pieces whose statements are interleaved as far as dependencies allow, because the out-of-order
    /// window holds only a few dozen instructions.
    ///
    /// A piece must not write memory that another one accesses.
    pub fn interleaved(&mut self, count: u32, mut piece: impl FnMut(&mut Builder, u32)) {
        let before = std::mem::take(&mut self.current);
        let pieces = (0..count).map(|number| {
            piece(self, number);
            std::mem::take(&mut self.current)
        });
        let pieces = pieces.collect();
        self.current = before;
        self.current.extend(interleaved(pieces));
    }

    /// Appends a loop with the body that `body` appends.
    ///
    /// `body` returns the values for the next iteration, with the types of `inits`. Returns the index at the end and
    /// the loop-carried values. If constant bounds give a trip count of 1, the body is appended without a loop.
    ///
    /// # Panics
    ///
    /// Panics if `body` returns another number of values.
    pub fn repeat(
        &mut self,
        kind: LoopKind,
        (lower, upper): (Value, Value),
        step: i64,
        inits: &[Value],
        body: impl FnOnce(&mut Builder, Round<'_>) -> Vec<Value>,
    ) -> (Value, Vec<Value>) {
        if let Some(last) = self.last_of_one_round(kind, (lower, upper), step) {
            let round = Round {
                index: lower,
                carried: inits,
            };
            let nexts = body(self, round);
            assert_eq!(nexts.len(), inits.len(), "a value for each that is carried");
            return (self.index(last), nexts);
        }
        let index = self.new_value(Type::Index);
        let params: Vec<Value> = (inits.iter())
            .map(|&init| self.new_value(self.function.ty(init)))
            .collect();
        let round = Round {
            index,
            carried: &params,
        };
        let open = self.open_block();
        let nexts = body(self, round);
        let body = self.close_block(open);
        assert_eq!(nexts.len(), inits.len(), "a value for each that is carried");
        let last = self.new_value(Type::Index);
        let carried: Vec<Carried> = (0..inits.len())
            .map(|slot| Carried {
                param: params[slot],
                init: inits[slot],
                next: nexts[slot],
                result: self.new_value(self.function.ty(inits[slot])),
            })
            .collect();
        let results = carried.iter().map(|carried| carried.result).collect();
        self.current.push(Statement::Loop(Box::new(Loop {
            kind,
            index,
            lower,
            upper,
            step,
            last,
            carried,
            body,
        })));
        (last, results)
    }

    /// Returns the final index of a loop whose constant bounds give a trip count of 1.
    fn last_of_one_round(
        &self,
        kind: LoopKind,
        (lower, upper): (Value, Value),
        step: i64,
    ) -> Option<i64> {
        let (lower, upper) = (self.index_constant(lower)?, self.index_constant(upper)?);
        let last = lower.checked_add(step)?;
        let goes_round = |index: i64| match kind {
            LoopKind::Whole => index.checked_add(step).is_some_and(|end| end <= upper),
            LoopKind::Rest => index < upper,
        };
        (goes_round(lower) && !goes_round(last)).then_some(last)
    }

    /// Computes values in the lanes where `mask` is set by the operations that `body` appends, which are skipped if no
    /// lane is set.
    ///
    /// Other lanes have the values of `otherwise`. `body` returns values of the same number and types, and appends only
    /// operations on vectors.
    ///
    /// # Panics
    ///
    /// Panics if `body` returns another number of values.
    pub fn if_any(
        &mut self,
        mask: Value,
        otherwise: &[Value],
        body: impl FnOnce(&mut Builder) -> Vec<Value>,
    ) -> Vec<Value> {
        let open = self.open_block();
        let computed = body(self);
        self.close_if_any(open, mask, otherwise, &computed)
    }

    /// Opens a block: statements are appended to it until it is closed.
    ///
    /// For callers that cannot pass the body of [`if_any`](Builder::if_any) as a closure.
    pub fn open_block(&mut self) -> OpenBlock {
        OpenBlock {
            outer: std::mem::take(&mut self.current),
            known: self.known_order.len(),
        }
    }

    /// Closes the block as the body of an [`if_any`](Builder::if_any) that returns `computed`.
    ///
    /// # Panics
    ///
    /// Panics if `computed` and `otherwise` have different lengths.
    pub fn close_if_any(
        &mut self,
        open: OpenBlock,
        mask: Value,
        otherwise: &[Value],
        computed: &[Value],
    ) -> Vec<Value> {
        let body = self.close_block(open);
        assert_eq!(computed.len(), otherwise.len(), "a value for each");
        let pairs = otherwise.iter().zip(computed);
        let merged: Vec<Merged> = pairs
            .map(|(&otherwise, &computed)| Merged {
                otherwise,
                computed,
                result: self.new_value(self.function.ty(otherwise)),
            })
            .collect();
        let results = merged.iter().map(|merged| merged.result).collect();
        self.current
            .push(Statement::IfAny(Box::new(IfAny { mask, body, merged })));
        results
    }

    /// Closes the block and returns it; values available inside are not available after it.
    fn close_block(&mut self, open: OpenBlock) -> Block {
        let statements = std::mem::replace(&mut self.current, open.outer);
        for op in self.known_order.drain(open.known..) {
            self.known.remove(&op);
        }
        Block { statements }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Signature;

    /// The text of a function with a loop between constant bounds, whose final index and sum are used after it.
    fn repeated(kind: LoopKind, (lower, upper): (i64, i64), step: i64) -> String {
        let mut signature = Signature::new("f", 8);
        let output = signature.ptr();
        let mut b = signature.body();
        let (bounds, sum) = ((b.index(lower), b.index(upper)), b.f32(0.0));
        let (last, sums) = b.repeat(kind, bounds, step, &[sum], |b, round| {
            let two = b.index(2);
            let place = b.index_op(IndexOp::Mul, round.index, two);
            let x = b.load(Lane::F32, Addr::element(output, place, Lane::F32), None);
            vec![b.binary(BinaryOp::Add, round.carried[0], x)]
        });
        b.store(sums[0], Addr::element(output, last, Lane::F32), None);
        b.finish().to_string()
    }

    #[test]
    fn a_loop_that_goes_round_once_is_its_body() {
        for (kind, bounds, step) in [
            (LoopKind::Rest, (0, 1), 1),
            (LoopKind::Rest, (3, 8), 5),
            (LoopKind::Rest, (3, 4), 5),
            (LoopKind::Whole, (3, 8), 5),
            (LoopKind::Whole, (3, 12), 5),
        ] {
            let text = repeated(kind, bounds, step);
            assert!(!text.contains("step"), "{bounds:?} by {step}: {text}");
            let past_end = bounds.0 + step;
            let (place, last) = (2 * bounds.0, format!("index {past_end}\n"));
            assert!(text.contains(&format!("index {place}\n")), "{text}");
            assert!(text.contains(&last), "{text}");
        }
    }

    #[test]
    fn others_stay() {
        for (kind, bounds, step) in [
            (LoopKind::Rest, (0, 0), 1),
            (LoopKind::Rest, (0, 2), 1),
            (LoopKind::Whole, (3, 7), 5),
            (LoopKind::Whole, (3, 13), 5),
            (LoopKind::Rest, (i64::MAX - 1, i64::MAX), 5),
        ] {
            let text = repeated(kind, bounds, step);
            assert!(text.contains("step"), "{bounds:?} by {step}: {text}");
        }
    }
}
