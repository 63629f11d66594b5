//! Formats with blocks of 32 indices into a table of levels. The nibbles are ordered as in [`super::quants`].

use super::half_at;
use super::quants::nibble;

/// The levels of `iq4_nl`.
const UNEVEN: [i8; 16] = [
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
];

/// The numbers of a 4-bit float, times two. Negative zero is 0.
const TINY_FLOATS: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// `level * d`.
pub(super) fn iq4_nl(block: &[u8; 18], out: &mut [f32; 32]) {
    let d = half_at(block, 0);
    for (j, out) in out.iter_mut().enumerate() {
        *out = f32::from(UNEVEN[usize::from(nibble(&block[2..], j))]) * d;
    }
}

/// `level * d`, where `d` is half the power of two whose exponent is the first byte.
pub(super) fn mxfp4(block: &[u8; 17], out: &mut [f32; 32]) {
    let d = half_of_power(block[0]);
    for (j, out) in out.iter_mut().enumerate() {
        *out = f32::from(TINY_FLOATS[usize::from(nibble(&block[1..], j))]) * d;
    }
}

/// `2^(exponent - 128)`.
fn half_of_power(exponent: u8) -> f32 {
    f32::from_bits(match exponent {
        // Subnormal results.
        0..2 => 0x0020_0000 << exponent,
        _ => u32::from(exponent - 1) << 23,
    })
}
