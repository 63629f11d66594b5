//! Single made-up elements.

use mind_ir::random::{mix, scale};
use mind_ir::tensor::rust_types;

use crate::range::Range;
use crate::raw::Raw;

/// What made-up arrays hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Values {
    /// Floats of magnitude below 2 with full fractions, integers from -8 or 0 to 7, either truth
    /// value.
    Ordinary,
    /// The same, with a quarter of the elements replaced: by ±0, the subnormals and normals at the
    /// edges, ±1, ±inf and NaN, or by 0, 1 and the extremes of an integer type.
    Special,
}

/// What the elements of one input are drawn from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Domain {
    /// Ordinary values only, or special ones among them.
    pub(crate) values: Values,
    /// Which integers are valid.
    pub(crate) range: Range,
    /// Floats are made smaller by this power of two.
    pub(crate) scale: u32,
}

/// An element type that can be made up from 64 random bits.
pub(crate) trait Sample: Raw {
    /// The element that `bits` stand for.
    fn sample(bits: u64, domain: &Domain) -> Self;
}

/// Whether this element is to be a special value, and which of `count`: a quarter are.
fn special(bits: u64, domain: &Domain, count: usize) -> Option<usize> {
    let bits = mix(bits);
    let chosen = domain.values == Values::Special && bits >> 62 == 0;
    chosen.then(|| scale(bits << 2, count as u64) as usize)
}

/// The float of a format that `bits` stand for: uniform over (-2, 2), but with every bit of the
/// fraction random however small it is; then smaller by `2^scale`, yet never subnormal.
fn float(bits: u64, exponent_bits: u32, fraction_bits: u32, scale: u32) -> u64 {
    const EXPONENTS: u64 = 1 << 10;
    let fraction = (bits & ((1 << 52) - 1)) >> (52 - fraction_bits);
    let halvings = (bits >> 53 & (EXPONENTS - 1) | EXPONENTS).trailing_zeros();
    let bias = (1u32 << (exponent_bits - 1)) - 1;
    let exponent = bias.saturating_sub(halvings + scale).max(1);
    bits >> 63 << (exponent_bits + fraction_bits) | u64::from(exponent) << fraction_bits | fraction
}

/// The values at the edges of a float format, of either sign.
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
                        // All bits set is -1 of the signed types.
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
