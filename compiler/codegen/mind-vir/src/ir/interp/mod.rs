//! The interpreter of vector IR, which defines the semantics of every function.
//!
//! It checks the preconditions of compiled code: every access is in bounds, and counts are in `0..=lanes`.

mod lanes;
mod memory;

use super::byte_product::ByteProduct;
use super::function::{Block, Function, IfAny, Loop, LoopKind, Statement};
use super::op::{Addr, MaskOp, Op, Value};
use super::status::Status;
use super::types::Lane;

pub use memory::{Arg, Fault, Memory, Pointer};

/// Runs `function` with one argument for each parameter and returns its status.
///
/// # Errors
///
/// Errors if an access is out of bounds, or a count is outside of `0..=lanes`.
///
/// # Panics
///
/// Panics if `args` do not fit the parameters, or if the function is invalid.
pub fn run(function: &Function, args: &[Arg], memory: &mut Memory<'_>) -> Result<Status, Fault> {
    assert_eq!(
        args.len(),
        function.params().len(),
        "one for each parameter"
    );
    let mut frame = Frame {
        function,
        memory,
        values: vec![Datum::Unset; function.value_count()],
        status: Status::OK,
    };
    for (&param, &arg) in function.params().iter().zip(args) {
        frame.values[param.index()] = match arg {
            Arg::Ptr(pointer) => Datum::Ptr(pointer),
            Arg::Index(index) => Datum::Index(index),
        };
    }
    for constant in function.constants() {
        let bits = vec![constant.bits; function.lanes() as usize];
        frame.values[constant.value.index()] = Datum::Lanes(bits);
    }
    frame.block(function.body())?;
    Ok(frame.status)
}

/// The value of an SSA value while a function runs.
#[derive(Clone, Debug)]
enum Datum {
    Unset,
    /// The bits of each lane; 0 or 1 for a mask.
    Lanes(Vec<u64>),
    Index(i64),
    Ptr(Pointer),
}

struct Frame<'a, 'm> {
    function: &'a Function,
    memory: &'a mut Memory<'m>,
    values: Vec<Datum>,
    status: Status,
}

impl Frame<'_, '_> {
    fn lanes(&self, value: Value) -> &[u64] {
        match &self.values[value.index()] {
            Datum::Lanes(lanes) => lanes,
            other => panic!("{value} is lanes in a valid function, found {other:?}"),
        }
    }

    fn index(&self, value: Value) -> i64 {
        match self.values[value.index()] {
            Datum::Index(index) => index,
            ref other => panic!("{value} is an index in a valid function, found {other:?}"),
        }
    }

    fn addr(&self, addr: &Addr) -> Pointer {
        let Datum::Ptr(base) = self.values[addr.base.index()] else {
            panic!("{} is a pointer in a valid function", addr.base);
        };
        let index = addr.index.map_or(0, |index| self.index(index));
        base.plus(index.wrapping_mul(addr.scale.into()))
            .plus(addr.offset.into())
    }

    /// Returns the number of active lanes.
    fn count(&self, count: Option<Value>) -> Result<usize, Fault> {
        let lanes = self.function.lanes();
        let Some(value) = count else {
            return Ok(lanes as usize);
        };
        let count = self.index(value);
        match usize::try_from(count) {
            Ok(count) if count <= lanes as usize => Ok(count),
            _ => Err(Fault::Count { count, lanes }),
        }
    }

    fn block(&mut self, block: &Block) -> Result<(), Fault> {
        for statement in &block.statements {
            match statement {
                Statement::Let(value, op) => self.values[value.index()] = self.operation(op)?,
                Statement::Store { value, addr, count } => {
                    let (count, pointer) = (self.count(*count)?, self.addr(addr));
                    self.store(*value, pointer, count)?;
                }
                Statement::StoreFirst { value, addr } => {
                    let pointer = self.addr(addr);
                    self.store(*value, pointer, 1)?;
                }
                Statement::Prefetch(_) => {}
                Statement::ByteProduct(product) => self.byte_product(product)?,
                Statement::Loop(node) => self.repeat(node)?,
                Statement::IfAny(node) => self.if_any(node)?,
            }
        }
        Ok(())
    }

    fn store(&mut self, value: Value, pointer: Pointer, count: usize) -> Result<(), Fault> {
        let lane = self.function.lane(value);
        let lanes = self.lanes(value)[..count].to_vec();
        for (bits, at) in lanes.into_iter().zip(0..) {
            let place = pointer.plus(at * i64::from(lane.bytes()));
            self.memory.store(lane, place, bits)?;
        }
        Ok(())
    }

    fn byte_product(&mut self, product: &ByteProduct) -> Result<(), Fault> {
        let [to, lhs, rhs] = product.matrices();
        let [to_start, left, right] = [to, lhs, rhs].map(|rows| self.addr(&rows.start));
        for row in 0..product.rows {
            let (from, result) = (left.plus(lhs.offset(row)), to_start.plus(to.offset(row)));
            for column in 0..product.columns {
                let column = i64::from(column * ByteProduct::WORD);
                let mut sum = 0;
                for word in 0..product.words {
                    let ahead = i64::from(word) * i64::from(ByteProduct::WORD);
                    let x = self.memory.load(Lane::I32, from.plus(ahead))?;
                    let y = right.plus(rhs.offset(word)).plus(column);
                    let y = self.memory.load(Lane::I32, y)?;
                    sum = product.add(x as u32, y as u32, sum);
                }
                self.memory
                    .store(Lane::I32, result.plus(column), sum.into())?;
            }
        }
        Ok(())
    }

    fn repeat(&mut self, node: &Loop) -> Result<(), Fault> {
        let (mut index, upper) = (self.index(node.lower), self.index(node.upper));
        let mut carried: Vec<Datum> = (node.carried.iter())
            .map(|carried| self.values[carried.init.index()].clone())
            .collect();
        while match node.kind {
            LoopKind::Whole => index.saturating_add(node.step) <= upper,
            LoopKind::Rest => index < upper,
        } {
            self.values[node.index.index()] = Datum::Index(index);
            for (carried, datum) in node.carried.iter().zip(carried) {
                self.values[carried.param.index()] = datum;
            }
            self.block(&node.body)?;
            carried = (node.carried.iter())
                .map(|carried| self.values[carried.next.index()].clone())
                .collect();
            index += node.step;
        }
        self.values[node.last.index()] = Datum::Index(index);
        for (slot, datum) in node.carried.iter().zip(carried) {
            self.values[slot.result.index()] = datum;
        }
        Ok(())
    }

    fn if_any(&mut self, node: &IfAny) -> Result<(), Fault> {
        let is_needed = self.lanes(node.mask).contains(&1);
        if is_needed {
            self.block(&node.body)?;
        }
        for merged in &node.merged {
            self.values[merged.result.index()] = if is_needed {
                self.select(node.mask, merged.computed, merged.otherwise)
            } else {
                self.values[merged.otherwise.index()].clone()
            };
        }
        Ok(())
    }

    /// Returns lanes of the first vector where `mask` is set, else of the second.
    fn select(&self, mask: Value, a: Value, b: Value) -> Datum {
        let choices = self.lanes(a).iter().zip(self.lanes(b));
        let choices = self.lanes(mask).iter().zip(choices);
        let chosen = choices.map(|(&mask, (&a, &b))| if mask == 1 { a } else { b });
        Datum::Lanes(chosen.collect())
    }

    /// Returns the element of type `lane` at each of `places` in an active lane.
    fn elements(
        &self,
        lane: Lane,
        places: impl Iterator<Item = Pointer>,
        count: usize,
    ) -> Result<Datum, Fault> {
        let loaded: Result<Vec<u64>, Fault> = (places.take(count))
            .map(|place| self.memory.load(lane, place))
            .collect();
        let mut lanes = loaded?;
        lanes.resize(self.function.lanes() as usize, 0);
        Ok(Datum::Lanes(lanes))
    }

    fn zip(&self, a: Value, b: Value, f: impl Fn(u64, u64) -> u64) -> Datum {
        let pairs = self.lanes(a).iter().zip(self.lanes(b));
        Datum::Lanes(pairs.map(|(&a, &b)| f(a, b)).collect())
    }

    fn zip_three(&self, [a, b, c]: [Value; 3], f: impl Fn(u64, u64, u64) -> u64) -> Datum {
        let pairs = self.lanes(a).iter().zip(self.lanes(b));
        let triples = pairs.zip(self.lanes(c));
        Datum::Lanes(triples.map(|((&a, &b), &c)| f(a, b, c)).collect())
    }

    fn map(&self, a: Value, f: impl Fn(u64) -> u64) -> Datum {
        Datum::Lanes(self.lanes(a).iter().map(|&a| f(a)).collect())
    }

    fn operation(&mut self, op: &Op) -> Result<Datum, Fault> {
        let lane_of = |value: Value| self.function.lane(value);
        Ok(match *op {
            Op::Index(n) => Datum::Index(n),
            Op::IndexOp(op, a, b) => {
                let (a, b) = (self.index(a), self.index(b));
                Datum::Index(op.apply(a, b))
            }
            Op::Address(addr) => Datum::Ptr(self.addr(&addr)),
            Op::Load { lane, addr, count } => {
                let (start, size) = (self.addr(&addr), i64::from(lane.bytes()));
                let places = (0..).map(|at| start.plus(at * size));
                self.elements(lane, places, self.count(count)?)?
            }
            Op::LoadSplat { lane, addr } => {
                let bits = self.memory.load(lane, self.addr(&addr))?;
                Datum::Lanes(vec![bits; self.function.lanes() as usize])
            }
            Op::LoadStrided {
                lane,
                addr,
                stride,
                count,
            } => {
                let (start, stride) = (self.addr(&addr), self.index(stride));
                let step = stride.wrapping_mul(lane.bytes().into());
                let places = (0..).map(|at: i64| start.plus(at.wrapping_mul(step)));
                self.elements(lane, places, self.count(count)?)?
            }
            Op::Gather {
                lane,
                base,
                places,
                count,
            } => {
                let base = self.addr(&Addr::at(base));
                let size = i64::from(lane.bytes());
                let places = self.lanes(places).iter();
                let places = places.map(|&place| base.plus(i64::from(place as i32) * size));
                self.elements(lane, places, self.count(count)?)?
            }
            Op::Unary(op, a) => self.map(a, |x| lanes::unary(op, lane_of(a), x)),
            Op::Binary(op, a, b) => self.zip(a, b, |x, y| lanes::binary(op, lane_of(a), x, y)),
            Op::Fma(a, b, c) => {
                self.zip_three([a, b, c], |x, y, z| lanes::fma(lane_of(a), x, y, z))
            }
            Op::DotBytes(a, b, c) => self.zip_three([a, b, c], lanes::dot_bytes),
            Op::IntDiv {
                signed,
                lhs,
                rhs,
                count,
            } => {
                let (count, lane) = (self.count(count)?, lane_of(lhs));
                let mut quotients = vec![0; self.function.lanes() as usize];
                let mut status = self.status;
                let pairs = self.lanes(lhs).iter().zip(self.lanes(rhs)).take(count);
                for (quotient, (&a, &b)) in quotients.iter_mut().zip(pairs) {
                    let (bits, bad) = lanes::divide(signed, lane, a, b);
                    *quotient = bits;
                    status = status.with(bad);
                }
                self.status = status;
                Datum::Lanes(quotients)
            }
            Op::Below(_, count) => {
                let count = self.count(Some(count))?;
                let lanes = 0..self.function.lanes() as usize;
                Datum::Lanes(lanes.map(|lane| u64::from(lane < count)).collect())
            }
            Op::Compare(predicate, a, b) => self.zip(a, b, |x, y| {
                lanes::compare(predicate, lane_of(a), x, y).into()
            }),
            Op::MaskOp(op, a, b) => self.zip(a, b, |x, y| match op {
                MaskOp::And => x & y,
                MaskOp::Or => x | y,
                MaskOp::AndNot => x & !y,
            }),
            Op::Select(mask, a, b) => self.select(mask, a, b),
            Op::Shift(op, a, n) => self.map(a, |x| lanes::shift(op, lane_of(a), x, n)),
            Op::Convert(op, to, a) => self.map(a, |x| lanes::convert(op, lane_of(a), to, x)),
            Op::Transpose {
                odd,
                block,
                first,
                second,
            } => {
                let (first, second) = (self.lanes(first), self.lanes(second));
                let block = block as usize;
                let lanes = (0..first.len()).map(|lane| {
                    let pair = lane / (2 * block) * (2 * block);
                    let from = pair + lane % block + if odd { block } else { 0 };
                    let of_first = lane - pair < block;
                    if of_first { first[from] } else { second[from] }
                });
                Datum::Lanes(lanes.collect())
            }
            Op::LanesDown(a, n) => {
                let mut lanes = self.lanes(a)[n as usize..].to_vec();
                lanes.resize(self.function.lanes() as usize, 0);
                Datum::Lanes(lanes)
            }
            Op::Splat(a) => Datum::Lanes(vec![self.lanes(a)[0]; self.function.lanes() as usize]),
        })
    }
}
