//! Formats with blocks of 32 numbers and one scale.
//!
//! Element `j < 16` is the low nibble of byte `j`, and element `j >= 16` the high nibble of byte `j - 16`. In formats
//! with 5 bits, the fifth bit of element `j` is bit `j` of a 32-bit word.

use super::half_at;

/// Returns the low four bits of element `j`.
pub(super) fn nibble(quants: &[u8], j: usize) -> u8 {
    if j < 16 {
        quants[j] & 15
    } else {
        quants[j - 16] >> 4
    }
}

/// Returns the fifth bit of element `j`, as bit 4.
fn fifth(block: &[u8], at: usize, j: usize) -> u8 {
    (block[at + j / 8] >> (j % 8) & 1) << 4
}

/// `(q - 8) * d`.
pub(super) fn q4_0(block: &[u8; 18], out: &mut [f32; 32]) {
    let d = half_at(block, 0);
    for (j, out) in out.iter_mut().enumerate() {
        *out = (f32::from(nibble(&block[2..], j)) - 8.0) * d;
    }
}

/// `q * d + m`, rounded twice.
pub(super) fn q4_1(block: &[u8; 20], out: &mut [f32; 32]) {
    let (d, m) = (half_at(block, 0), half_at(block, 2));
    for (j, out) in out.iter_mut().enumerate() {
        *out = f32::from(nibble(&block[4..], j)) * d + m;
    }
}

/// `(q - 16) * d`.
pub(super) fn q5_0(block: &[u8; 22], out: &mut [f32; 32]) {
    let d = half_at(block, 0);
    for (j, out) in out.iter_mut().enumerate() {
        let q = nibble(&block[6..], j) | fifth(block, 2, j);
        *out = (f32::from(q) - 16.0) * d;
    }
}

/// `q * d + m`, rounded twice.
pub(super) fn q5_1(block: &[u8; 24], out: &mut [f32; 32]) {
    let (d, m) = (half_at(block, 0), half_at(block, 2));
    for (j, out) in out.iter_mut().enumerate() {
        let q = nibble(&block[8..], j) | fifth(block, 4, j);
        *out = f32::from(q) * d + m;
    }
}

/// `q * d` with a signed `q`.
pub(super) fn q8_0(block: &[u8; 34], out: &mut [f32; 32]) {
    let d = half_at(block, 0);
    for (out, q) in out.iter_mut().zip(&block[2..]) {
        *out = f32::from(*q as i8) * d;
    }
}
