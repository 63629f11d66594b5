//! Memory accesses of a call of a function.
//!
//! Loops and addresses depend only on the parameters, never on elements. Therefore indices, pointers and loops are
//! interpreted and vectors are skipped, and the result is exact for every call with the same indices.

use super::byte_product::ByteProduct;
use super::function::{Block, Function, Loop, LoopKind, Statement};
use super::op::{Addr, Op, Value};
use super::print::statement_text;
use super::types::{Lane, Type};

/// Consecutive bytes that a statement reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The position of the parameter that the address is derived from.
    pub param: usize,
    /// The first byte, relative to the parameter.
    pub start: i64,
    /// The number of bytes.
    pub bytes: usize,
    /// Whether this is a write.
    pub writes: bool,
}

/// An invalid call.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{problem}\nat {statement}")]
pub struct Misuse {
    /// The violated rule.
    pub problem: String,
    /// The statement.
    pub statement: String,
}

/// Calls `check` on every access of a call of a valid function, in order; `indices` are the arguments of its index
/// parameters.
///
/// # Errors
///
/// Errors at the first access that `check` rejects, at a count out of range, and at a gather, because its indices are
/// data.
pub fn accesses(
    function: &Function,
    indices: &[i64],
    check: &mut dyn FnMut(Access) -> Result<(), String>,
) -> Result<(), Misuse> {
    let mut frame = Frame {
        function,
        values: vec![Datum::Vector; function.value_count()],
        check,
    };
    let mut indices = indices.iter();
    for (position, &param) in function.params().iter().enumerate() {
        frame.values[param.index()] = match function.ty(param) {
            Type::Ptr => Datum::Ptr(Pointer {
                param: position,
                start: 0,
                part: None,
            }),
            Type::Index | Type::Vector(_) | Type::Mask(_) => {
                Datum::Index(indices.next().copied().unwrap_or(0))
            }
        };
    }
    frame.block(function.body())
}

/// A value while a call runs.
#[derive(Clone, Copy)]
enum Datum {
    /// A vector or mask, which is skipped.
    Vector,
    Index(i64),
    Ptr(Pointer),
}

/// The target of a pointer.
#[derive(Clone, Copy)]
struct Pointer {
    /// The position of a parameter.
    param: usize,
    /// Offset in bytes from the parameter.
    start: i64,
    /// The part of the scratch memory that it belongs to: its start and its size in bytes.
    part: Option<(i64, usize)>,
}

struct Frame<'a> {
    function: &'a Function,
    values: Vec<Datum>,
    check: &'a mut dyn FnMut(Access) -> Result<(), String>,
}

impl Frame<'_> {
    fn index(&self, value: Value) -> i64 {
        match self.values[value.index()] {
            Datum::Index(index) => index,
            Datum::Vector | Datum::Ptr(_) => panic!("{value} is an index in a valid function"),
        }
    }

    fn addr(&self, addr: &Addr) -> Pointer {
        let Datum::Ptr(base) = self.values[addr.base.index()] else {
            panic!("{} is a pointer in a valid function", addr.base);
        };
        let index = addr.index.map_or(0, |index| self.index(index));
        let moved = base
            .start
            .wrapping_add(index.wrapping_mul(addr.scale.into()));
        Pointer {
            start: moved.wrapping_add(addr.offset.into()),
            ..base
        }
    }

    /// Returns the number of active lanes.
    fn count(&self, count: Option<Value>) -> Result<usize, String> {
        let lanes = self.function.lanes();
        let Some(value) = count else {
            return Ok(lanes as usize);
        };
        let count = self.index(value);
        match usize::try_from(count) {
            Ok(count) if count <= lanes as usize => Ok(count),
            _ => Err(format!("a count of {count}; expected 0 to {lanes}")),
        }
    }

    fn block(&mut self, block: &Block) -> Result<(), Misuse> {
        for statement in &block.statements {
            let done = match statement {
                Statement::Let(value, op) => self.operation(*value, op),
                Statement::Store { value, addr, count } => {
                    let lane = self.function.lane(*value);
                    let count = self.count(*count);
                    count.and_then(|count| self.touched(addr, count, lane, true))
                }
                Statement::StoreFirst { value, addr } => {
                    let lane = self.function.lane(*value);
                    self.touched(addr, 1, lane, true)
                }
                Statement::Prefetch(_) => Ok(()),
                Statement::ByteProduct(product) => self.byte_product(product),
                Statement::Loop(node) => {
                    self.repeat(node)?;
                    continue;
                }
                Statement::IfAny(node) => {
                    self.block(&node.body)?;
                    continue;
                }
            };
            done.map_err(|problem| Misuse {
                problem,
                statement: statement_text(self.function, statement),
            })?;
        }
        Ok(())
    }

    fn repeat(&mut self, node: &Loop) -> Result<(), Misuse> {
        let (mut index, upper) = (self.index(node.lower), self.index(node.upper));
        let of = |values: &[Datum], value: Value| values[value.index()];
        let mut carried: Vec<Datum> = (node.carried.iter())
            .map(|carried| of(&self.values, carried.init))
            .collect();
        while match node.kind {
            LoopKind::Whole => index.saturating_add(node.step) <= upper,
            LoopKind::Rest => index < upper,
        } {
            self.values[node.index.index()] = Datum::Index(index);
            for (slot, &datum) in node.carried.iter().zip(&carried) {
                self.values[slot.param.index()] = datum;
            }
            self.block(&node.body)?;
            for (slot, datum) in node.carried.iter().zip(&mut carried) {
                *datum = of(&self.values, slot.next);
            }
            index += node.step;
        }
        self.values[node.last.index()] = Datum::Index(index);
        for (slot, datum) in node.carried.iter().zip(carried) {
            self.values[slot.result.index()] = datum;
        }
        Ok(())
    }

    /// Consecutive elements.
    fn touched(
        &mut self,
        addr: &Addr,
        count: usize,
        lane: Lane,
        writes: bool,
    ) -> Result<(), String> {
        let bytes = count * lane.bytes() as usize;
        if bytes == 0 {
            return Ok(());
        }
        self.access(self.addr(addr), bytes, writes)
    }

    /// The accesses of a byte product, reads first.
    fn byte_product(&mut self, product: &ByteProduct) -> Result<(), String> {
        let matrices = product.matrices().into_iter().zip(product.extents());
        for (rows, (count, bytes)) in matrices.skip(1).chain([(product.to, product.extents()[0])]) {
            let first = self.addr(&rows.start);
            for row in 0..count {
                let start = first.start.wrapping_add(rows.offset(row));
                let at = Pointer { start, ..first };
                self.access(at, bytes, rows == product.to)?;
            }
        }
        Ok(())
    }

    fn access(&mut self, at: Pointer, bytes: usize, writes: bool) -> Result<(), String> {
        if let Some((start, size)) = at.part {
            let offset = at.start.wrapping_sub(start);
            let end = offset.checked_add(bytes as i64);
            if offset < 0 || end.is_none_or(|end| end > size as i64) {
                return Err(format!(
                    "{bytes} bytes at {offset} of a part of the scratch memory, which has {size}"
                ));
            }
        }
        (self.check)(Access {
            param: at.param,
            start: at.start,
            bytes,
            writes,
        })
    }

    fn operation(&mut self, value: Value, op: &Op) -> Result<(), String> {
        let datum = match *op {
            Op::Index(n) => Datum::Index(n),
            Op::IndexOp(op, a, b) => Datum::Index(op.apply(self.index(a), self.index(b))),
            Op::Address(addr) => {
                let mut at = self.addr(&addr);
                let mut parts = self.function.scratch_parts.iter();
                if let Some(&(_, bytes)) = parts.find(|(pointer, _)| *pointer == value) {
                    at.part = Some((at.start, bytes));
                }
                Datum::Ptr(at)
            }
            Op::Load { lane, addr, count } => {
                let count = self.count(count)?;
                self.touched(&addr, count, lane, false)?;
                Datum::Vector
            }
            Op::LoadSplat { lane, addr } => {
                self.touched(&addr, 1, lane, false)?;
                Datum::Vector
            }
            Op::LoadStrided {
                lane,
                addr,
                stride,
                count,
            } => {
                let first = self.addr(&addr);
                let bytes = lane.bytes() as usize;
                let step = self.index(stride).wrapping_mul(bytes as i64);
                for at in 0..self.count(count)? as i64 {
                    let start = first.start.wrapping_add(at.wrapping_mul(step));
                    self.access(Pointer { start, ..first }, bytes, false)?;
                }
                Datum::Vector
            }
            Op::Gather { .. } => {
                return Err("a gather reads where elements of a vector say".to_owned());
            }
            Op::IntDiv { count, .. } => {
                self.count(count)?;
                Datum::Vector
            }
            Op::Below(_, count) => {
                self.count(Some(count))?;
                Datum::Vector
            }
            Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::DotBytes(..)
            | Op::Compare(..)
            | Op::MaskOp(..)
            | Op::Select(..)
            | Op::Shift(..)
            | Op::Convert(..)
            | Op::LanesDown(..)
            | Op::Splat(_)
            | Op::Transpose { .. } => Datum::Vector,
        };
        self.values[value.index()] = datum;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Builder, IndexOp, Signature};
    use super::*;

    #[test]
    fn every_access_is_found_with_its_extent() {
        let mut signature = Signature::new("copy", 4);
        let (from, to) = (signature.buffer(40), signature.buffer(40));
        let extent = signature.index();
        let mut b = signature.body();
        let copy = |b: &mut Builder, index: Value, count: Option<Value>| {
            let x = b.load(Lane::F32, Addr::element(from, index, Lane::F32), count);
            b.store(x, Addr::element(to, index, Lane::F32), count);
            Vec::new()
        };
        let start = b.index(0);
        let (rest, _) = b.repeat(LoopKind::Whole, (start, extent), 4, &[], |b, round| {
            copy(b, round.index, None)
        });
        b.repeat(LoopKind::Rest, (rest, extent), 4, &[], |b, round| {
            let count = b.index_op(IndexOp::Sub, extent, round.index);
            copy(b, round.index, Some(count))
        });
        let function = b.finish();
        let mut found = Vec::new();
        let done = accesses(&function, &[10], &mut |access| {
            found.push((access.param, access.start, access.bytes));
            Ok(())
        });
        assert_eq!(done, Ok(()));
        let expected = [
            (0, 0, 16),
            (1, 0, 16),
            (0, 16, 16),
            (1, 16, 16),
            (0, 32, 8),
            (1, 32, 8),
        ];
        assert_eq!(found, expected);
        let refused = accesses(&function, &[10], &mut |access| match access.start {
            32 => Err("too far".to_owned()),
            _ => Ok(()),
        });
        let why = refused.expect_err("an access at 32").to_string();
        assert!(why.starts_with("too far\nat v"), "{why}");
        assert!(why.contains("load [v0 + "), "{why}");
    }

    #[test]
    fn scratch_memory_is_declared_by_its_use_and_parts_do_not_overlap() {
        let mut b = Signature::new("parts", 4).body();
        let zero = b.f32(0.0);
        b.scratch(20, |b, outer| {
            for bytes in [16, 32] {
                b.scratch(bytes, |b, inner| b.store(zero, Addr::at(inner), None));
            }
            b.store(zero, Addr::at(outer), None);
        });
        let function = b.finish();
        assert_eq!(super::super::verify(&function), Ok(()));
        let mut starts = Vec::new();
        let done = accesses(&function, &[], &mut |access| {
            starts.push(access.start);
            Ok(())
        });
        assert_eq!((done, starts), (Ok(()), vec![64, 64, 0]));
        assert_eq!(function.scratch().map(|scratch| scratch.bytes), Some(96));

        let mut b = Signature::new("nothing", 4).body();
        let zero = b.f32(0.0);
        b.scratch(0, |b, nothing| b.store(zero, Addr::at(nothing), None));
        let function = b.finish();
        assert_eq!(function.scratch(), None);
        assert!(
            super::super::verify(&function).is_err(),
            "memory of no size is used"
        );
    }
    #[test]
    fn a_part_of_the_scratch_memory_ends_where_it_was_declared_to() {
        let stored_at = |offset: i32| {
            let mut b = Signature::new("parts", 4).body();
            let zero = b.f32(0.0);
            b.scratch(20, |b, outer| {
                // The bytes between the end of the outer part and the inner one are padding.
                b.scratch(16, |b, _| b.store(zero, Addr::at(outer).plus(offset), None));
            });
            let done = accesses(&b.finish(), &[], &mut |_| Ok(()));
            done.err().map(|misuse| misuse.problem)
        };
        assert_eq!(stored_at(4), None);
        let beyond = |at: i32| {
            let part = "of a part of the scratch memory, which has 20";
            Some(format!("16 bytes at {at} {part}"))
        };
        assert_eq!(stored_at(8), beyond(8));
        assert_eq!(stored_at(-4), beyond(-4));
    }
}
