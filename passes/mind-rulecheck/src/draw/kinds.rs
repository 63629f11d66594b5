//! Random kinds of leaves: inputs, constants, and ops whose results have known facts.

use mind_core::ops::elementwise::{Abs, Exp, Mul, Relu, Sigmoid};
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, DTypeClass};
use mind_rules::Hint;

use super::Chooser;
use crate::format::{FloatFormat, bits_of, from_bits};
use crate::instance::LeafKind;
use crate::values::{Mode, draw, specials};

impl Chooser<'_, '_> {
    /// Returns the kind of the leaf `value`.
    pub(super) fn kind(&mut self, value: usize, dtype: DType, shape: &[i64]) -> LeafKind {
        let hints: Vec<Hint> = self
            .plan
            .hints
            .iter()
            .copied()
            .filter(|hint| subject(hint) == Some(value))
            .collect();
        if hints.is_empty() {
            return LeafKind::Input;
        }
        let hint = *self.rng.pick(&hints);
        match hint {
            Hint::Splat(_, Some(number)) if self.rng.chance(85) => {
                splat(dtype, shape, bits_of(dtype, number))
            }
            Hint::PowerOfTwo(_) if self.rng.chance(90) => {
                let bits = self.power_of_two(dtype);
                splat(dtype, shape, bits)
            }
            Hint::AllOnes(_) if self.rng.chance(90) => {
                let ones = if dtype == DType::Bool { 1 } else { u64::MAX };
                splat(dtype, shape, ones)
            }
            Hint::Lowest(_) if self.rng.chance(90) => splat(dtype, shape, lowest(dtype)),
            Hint::Highest(_) if self.rng.chance(90) => splat(dtype, shape, highest(dtype)),
            Hint::Positive(_) if self.rng.chance(90) => {
                let numbers = [1.0, 2.0, 3.0, 0.5, 0.1, 7.0];
                // A splat would hide which position each element belongs to.
                if self.rng.chance(50) {
                    let count = shape.iter().product::<i64>();
                    let bits: Vec<u64> = (0..count)
                        .map(|_| bits_of(dtype, *self.rng.pick(&numbers)))
                        .collect();
                    return listed(dtype, shape, bits.into_iter());
                }
                let number = *self.rng.pick(&numbers);
                splat(dtype, shape, bits_of(dtype, number))
            }
            Hint::Identity(_) if self.rng.chance(90) => {
                let columns = shape.last().copied().unwrap_or(1).max(1) as usize;
                let count = shape.iter().product::<i64>() as usize;
                let one = |at: usize| at % columns == at / columns;
                let number = |at| if one(at) { 1.0 } else { 0.0 };
                listed(
                    dtype,
                    shape,
                    (0..count).map(|at| bits_of(dtype, number(at))),
                )
            }
            Hint::Positions(_) if self.rng.chance(90) => {
                let count = shape.iter().product::<i64>();
                let (first, step) = (self.rng.within(0, 1), self.rng.within(1, 2));
                let at = |at: i64| (first + step * at) as u64;
                listed(dtype, shape, (0..count).map(at))
            }
            Hint::Indices(_) if self.rng.chance(90) => {
                let count = shape.iter().product::<i64>();
                let below = self.rng.within(1, 3) as usize;
                let bits: Vec<u64> = (0..count).map(|_| self.rng.below(below) as u64).collect();
                listed(dtype, shape, bits.into_iter())
            }
            // A hint is ignored now and then, because that shows whether the condition is needed.
            Hint::Splat(..)
            | Hint::PowerOfTwo(_)
            | Hint::AllOnes(_)
            | Hint::Lowest(_)
            | Hint::Highest(_)
            | Hint::Positive(_)
            | Hint::Identity(_)
            | Hint::Positions(_)
            | Hint::Indices(_)
            | Hint::Constant(_) => self.any_constant(dtype, shape),
            Hint::Fact(..) if dtype == DType::Bool => LeafKind::Input,
            Hint::Fact(..) => match self.rng.below(10) {
                0 => LeafKind::Input,
                1..5 => self.any_constant(dtype, shape),
                _ => self.proof(dtype),
            },
            Hint::Truth(_) | Hint::Rank(..) | Hint::SameShape(..) => LeafKind::Input,
        }
    }

    /// Returns a random constant, often with different elements, which may be infinite, NaN or extreme.
    fn any_constant(&mut self, dtype: DType, shape: &[i64]) -> LeafKind {
        if self.flat.is_some() || !self.rng.chance(45) {
            return self.any_splat(dtype, shape);
        }
        let modes = [Mode::Special, Mode::Moderate, Mode::Finite];
        let mode = *self.rng.pick(&modes);
        let count = shape.iter().product::<i64>() as usize;
        let buffer = draw(self.rng, dtype, count, mode, None);
        let shape = shape.iter().map(|&extent| extent as usize).collect();
        LeafKind::Constant(Tensor::new(shape, buffer))
    }

    fn any_splat(&mut self, dtype: DType, shape: &[i64]) -> LeafKind {
        let bits = match self.rng.chance(50) {
            true => *self.rng.pick(&specials(dtype)),
            false => {
                let number = self.rng.within(-4, 9) as f64;
                bits_of(dtype, number.max(if dtype.is_float() { -4.0 } else { 0.0 }))
            }
        };
        splat(dtype, shape, bits)
    }

    fn power_of_two(&mut self, dtype: DType) -> u64 {
        let Some(format) = FloatFormat::of(dtype) else {
            return 1 << self.rng.below(8 * dtype.size() - 1);
        };
        let exponent = if self.rng.chance(50) {
            self.rng.within(1, format.top() as i64 - 1)
        } else {
            self.rng.within(-3, 3) + format.bias() as i64
        };
        format.bits(self.rng.chance(30), exponent as u64, 0)
    }

    /// Returns an op whose result has a known fact.
    fn proof(&mut self, dtype: DType) -> LeafKind {
        let ops: &[&'static OpDef] = if dtype.is_float() {
            &[Relu::DEF, Exp::DEF, Sigmoid::DEF, Abs::DEF]
        } else {
            &[Relu::DEF]
        };
        if dtype.is_float() && self.rng.chance(15) {
            LeafKind::Twice(Mul::DEF)
        } else {
            LeafKind::Through(self.rng.pick::<&OpDef>(ops))
        }
    }
}

fn subject(hint: &Hint) -> Option<usize> {
    match *hint {
        Hint::Constant(value)
        | Hint::Splat(value, _)
        | Hint::PowerOfTwo(value)
        | Hint::AllOnes(value)
        | Hint::Lowest(value)
        | Hint::Highest(value)
        | Hint::Positive(value)
        | Hint::Identity(value)
        | Hint::Positions(value)
        | Hint::Indices(value)
        | Hint::Fact(value, _) => Some(value),
        Hint::Truth(_) | Hint::Rank(..) | Hint::SameShape(..) => None,
    }
}

/// Returns the bits of -inf, the smallest integer or false.
fn lowest(dtype: DType) -> u64 {
    match dtype.class() {
        DTypeClass::Float => bits_of(dtype, f64::NEG_INFINITY),
        DTypeClass::Signed => 1 << (8 * dtype.size() - 1),
        DTypeClass::Unsigned | DTypeClass::Bool => 0,
    }
}

/// Returns the bits of +inf, the largest integer or true.
fn highest(dtype: DType) -> u64 {
    match dtype.class() {
        DTypeClass::Float => bits_of(dtype, f64::INFINITY),
        DTypeClass::Signed => (1 << (8 * dtype.size() - 1)) - 1,
        DTypeClass::Unsigned => u64::MAX,
        DTypeClass::Bool => 1,
    }
}

/// Returns a constant with these elements.
fn listed(dtype: DType, shape: &[i64], bits: impl Iterator<Item = u64>) -> LeafKind {
    let bits: Vec<u64> = bits.collect();
    let shape = shape.iter().map(|&extent| extent as usize).collect();
    LeafKind::Constant(Tensor::new(shape, from_bits(dtype, &bits)))
}

/// Returns a constant whose elements are all the same.
fn splat(dtype: DType, shape: &[i64], bits: u64) -> LeafKind {
    let count = shape.iter().product::<i64>() as usize;
    let shape = shape.iter().map(|&extent| extent as usize).collect();
    LeafKind::Constant(Tensor::new(shape, from_bits(dtype, &vec![bits; count])))
}
