//! Generation of single elements.

use mind_ir::random::{mix, scale};
use mind_ir::tensor::rust_types;

use crate::range::Range;
use crate::raw::Raw;

/// The kind of values in generated arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Values {
    /// Floats with a magnitude below 2 and all fraction bits random, integers from -8, or 0 if unsigned, to 7, and
    /// booleans.
    Ordinary,
    /// Ordinary values of which a quarter is replaced: floats by ±0, the smallest and largest subnormal and normal
    /// numbers, ±1, ±inf and NaN, integers by 0, 1 and the extremes of the type.
    Special,
}

/// The distribution of the elements of one input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Domain {
    /// Whether there are special values.
    pub(crate) values: Values,
    /// The valid integers.
    pub(crate) range: Range,
    /// The exponent of the power of two by which floats are divided.
    pub(crate) scale: u32,
}

/// An element type that can be generated from 64 random bits.
pub(crate) trait Sample: Raw {
    /// Returns the element for the random bits `bits`.
    fn sample(bits: u64, domain: &Domain) -> Self;
}

/// Returns the index of a special value, below `count`, for a quarter of the elements if special values are requested;
/// `None` for the others.
fn special(bits: u64, domain: &Domain, count: usize) -> Option<usize> {
    let bits = mix(bits);
    let chosen = domain.values == Values::Special && bits >> 62 == 0;
    chosen.then(|| scale(bits << 2, count as u64) as usize)
}

/// Returns the bits of a float in a format. It is uniformly distributed over (-2, 2), except that all bits of the
/// fraction are random even if it is small, and then divided by `2^scale`. It is never subnormal.
fn float(bits: u64, exponent_bits: u32, fraction_bits: u32, scale: u32) -> u64 {
    const EXPONENTS: u64 = 1 << 10;
    let fraction = (bits & ((1 << 52) - 1)) >> (52 - fraction_bits);
    let halvings = (bits >> 53 & (EXPONENTS - 1) | EXPONENTS).trailing_zeros();
    let bias = (1u32 << (exponent_bits - 1)) - 1;
    let exponent = bias.saturating_sub(halvings + scale).max(1);
    bits >> 63 << (exponent_bits + fraction_bits) | u64::from(exponent) << fraction_bits | fraction
}

/// Returns the bits of a special value of a float format, of either sign.
fn float_edge(index: usize, exponent_bits: u32, fraction_bits: u32) -> u64 {
    let infinity = ((1u64 << exponent_bits) - 1) << fraction_bits;
    let min_normal = 1u64 << fraction_bits;
    let one = infinity >> 1 & infinity;
    let magnitudes = [
        0,
        1,
        min_normal - 1,
        min_normal,
        one,
        infinity - 1,
        infinity,
        infinity | 1 << (fraction_bits - 1),
    ];
    let sign = (index % 2) as u64;
    sign << (exponent_bits + fraction_bits) | magnitudes[index / 2]
}

const FLOAT_EDGES: usize = 16;

macro_rules! sample_floats {
    ($($element:ty: $exponent:literal, $fraction:literal;)*) => {$(
        impl Sample for $element {
            fn sample(bits: u64, domain: &Domain) -> Self {
                Self::from_raw(match special(bits, domain, FLOAT_EDGES) {
                    Some(index) => float_edge(index, $exponent, $fraction),
                    None => float(bits, $exponent, $fraction, domain.scale),
                })
            }
        }
    )*};
}

sample_floats! {
    rust_types::F16: 5, 10;
    rust_types::BF16: 8, 7;
    f32: 8, 23;
    f64: 11, 52;
}

macro_rules! sample_integers {
    ($($element:ty: $lowest:literal;)*) => {$(
        impl Sample for $element {
            fn sample(bits: u64, domain: &Domain) -> Self {
                let small = || $lowest + scale(bits, (8 - ($lowest as i64)) as u64) as $element;
                match domain.range {
                    Range::Index(bound) => scale(bits, bound.min(<$element>::MAX as u64)) as $element,
                    Range::Divisor => match small() {
                        // All bits set is -1 in the signed types.
                        value if value == 0 || value == !0 => 1,
                        value => value,
                    },
                    Range::Any => {
                        let edges = [0, 1, <$element>::MIN, <$element>::MAX];
                        special(bits, domain, edges.len()).map_or_else(small, |index| edges[index])
                    }
                }
            }
        }
    )*};
}

sample_integers! {
    i8: -8; i16: -8; i32: -8; i64: -8;
    u8: 0; u16: 0; u32: 0; u64: 0;
}

impl Sample for bool {
    fn sample(bits: u64, _: &Domain) -> bool {
        bits >> 63 == 1
    }
}
