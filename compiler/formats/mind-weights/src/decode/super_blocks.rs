//! Formats with super-blocks of 256 numbers, whose sub-blocks have scales.

use super::half_at;

/// Returns the scale and minimum of sub-block `j`, of six bits each, which are packed into 12 bytes.
fn scale_and_minimum(s: &[u8], j: usize) -> (f32, f32) {
    let (scale, minimum) = if j < 4 {
        (s[j] & 63, s[j + 4] & 63)
    } else {
        (
            (s[j + 4] & 15) | (s[j - 4] >> 6) << 4,
            (s[j + 4] >> 4) | (s[j] >> 6) << 4,
        )
    };
    (f32::from(scale), f32::from(minimum))
}

/// Returns the nibble of element `i` of sub-block `j`. Two sub-blocks share 32 bytes; the first has the low nibbles.
fn nibble(quants: &[u8], j: usize, i: usize) -> u8 {
    let byte = quants[32 * (j / 2) + i];
    if j.is_multiple_of(2) {
        byte & 15
    } else {
        byte >> 4
    }
}

/// Returns the two bits of an element. In each half of 128 elements, they are bits 0-1, 2-3, 4-5 and 6-7 of 32 bytes.
fn two_bits(quants: &[u8], at: usize) -> u8 {
    let (half, quarter, l) = (at / 128, at % 128 / 32, at % 32);
    quants[32 * half + l] >> (2 * quarter) & 3
}

/// `(d * sc) * q - (dmin * mn)`, where each operation rounds. A byte has the scale and minimum of 16 elements, of four
/// bits each.
pub(super) fn q2_k(block: &[u8; 84], out: &mut [f32; 256]) {
    let (d, dmin) = (half_at(block, 80), half_at(block, 82));
    let (scales, quants) = (&block[..16], &block[16..80]);
    for (j, out) in out.chunks_exact_mut(16).enumerate() {
        let step = d * f32::from(scales[j] & 15);
        let offset = dmin * f32::from(scales[j] >> 4);
        for (i, out) in out.iter_mut().enumerate() {
            *out = step * f32::from(two_bits(quants, 16 * j + i)) - offset;
        }
    }
}

/// `(d * (sc - 32)) * (q - 4)`, with a scale of six bits for 16 elements. The third bits of elements are in 32 bytes.
pub(super) fn q3_k(block: &[u8; 110], out: &mut [f32; 256]) {
    let d = half_at(block, 108);
    let (high, quants, s) = (&block[..32], &block[32..96], &block[96..108]);
    for (j, out) in out.chunks_exact_mut(16).enumerate() {
        let low = s[j % 8] >> (4 * (j / 8)) & 15;
        let scale = low | (s[8 + j % 4] >> (2 * (j / 4)) & 3) << 4;
        let step = d * (f32::from(scale) - 32.0);
        for (i, out) in out.iter_mut().enumerate() {
            let at = 16 * j + i;
            let q = two_bits(quants, at) | (high[at % 32] >> (at / 32) & 1) << 2;
            *out = step * (f32::from(q) - 4.0);
        }
    }
}

/// `(d * sc) * q - (dmin * mn)`, where each operation rounds.
pub(super) fn q4_k(block: &[u8; 144], out: &mut [f32; 256]) {
    let (d, dmin) = (half_at(block, 0), half_at(block, 2));
    let (scales, quants) = (&block[4..16], &block[16..]);
    for (j, out) in out.chunks_exact_mut(32).enumerate() {
        let (scale, minimum) = scale_and_minimum(scales, j);
        let (step, offset) = (d * scale, dmin * minimum);
        for (i, out) in out.iter_mut().enumerate() {
            *out = step * f32::from(nibble(quants, j, i)) - offset;
        }
    }
}

/// The formula of [`q4_k`]. Bit `j` of byte `i` is the fifth bit of element `i` of sub-block `j`.
pub(super) fn q5_k(block: &[u8; 176], out: &mut [f32; 256]) {
    let (d, dmin) = (half_at(block, 0), half_at(block, 2));
    let (scales, high, quants) = (&block[4..16], &block[16..48], &block[48..]);
    for (j, out) in out.chunks_exact_mut(32).enumerate() {
        let (scale, minimum) = scale_and_minimum(scales, j);
        let (step, offset) = (d * scale, dmin * minimum);
        for (i, out) in out.iter_mut().enumerate() {
            let q = nibble(quants, j, i) | (high[i] >> j & 1) << 4;
            *out = step * f32::from(q) - offset;
        }
    }
}

/// `(d * sc) * (q - 32)` with signed scales, one per 16 elements.
pub(super) fn q6_k(block: &[u8; 210], out: &mut [f32; 256]) {
    let d = half_at(block, 208);
    for (part, out) in out.chunks_exact_mut(128).enumerate() {
        let low = &block[64 * part..64 * part + 64];
        let high = &block[128 + 32 * part..128 + 32 * part + 32];
        let scales = &block[192 + 8 * part..192 + 8 * part + 8];
        for (at, out) in out.iter_mut().enumerate() {
            let (quarter, l) = (at / 32, at % 32);
            let byte = low[l + 32 * (quarter % 2)];
            let nibble = if quarter < 2 { byte & 15 } else { byte >> 4 };
            let q = nibble | (high[l] >> (2 * quarter) & 3) << 4;
            let scale = f32::from(scales[at / 16] as i8);
            *out = d * scale * (f32::from(q) - 32.0);
        }
    }
}
