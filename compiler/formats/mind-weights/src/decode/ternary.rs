//! Formats with blocks of 256 numbers that are -1, 0 or 1 times a scale.

use super::half_at;

/// Groups of bytes with five or four ternary digits: the offset of the group, its size, and the digits per byte.
const DIGITS: [(usize, usize, usize); 3] = [(0, 32, 5), (32, 16, 5), (48, 4, 4)];

/// `(q - 1) * d`. A byte is a fraction of 256 in base 3; multiplying it by 3 yields the next digit. The first digits of
/// all bytes of a group are adjacent elements, followed by the second digits, and so on.
pub(super) fn tq1_0(block: &[u8; 54], out: &mut [f32; 256]) {
    let d = half_at(block, 52);
    let mut numbers = out.iter_mut();
    for (start, count, digits) in DIGITS {
        let mut rest: Vec<u8> = block[start..start + count].to_vec();
        for _ in 0..digits {
            for (byte, out) in rest.iter_mut().zip(numbers.by_ref()) {
                let digit = u16::from(*byte) * 3;
                *out = (f32::from((digit >> 8) as u8) - 1.0) * d;
                *byte = digit as u8;
            }
        }
    }
}

/// `(q - 1) * d`. In each half of 128 elements, they are bits 0-1, 2-3, 4-5 and 6-7 of 32 bytes.
pub(super) fn tq2_0(block: &[u8; 66], out: &mut [f32; 256]) {
    let d = half_at(block, 64);
    for (at, out) in out.iter_mut().enumerate() {
        let (half, quarter, l) = (at / 128, at % 128 / 32, at % 32);
        let q = block[32 * half + l] >> (2 * quarter) & 3;
        *out = (f32::from(q) - 1.0) * d;
    }
}
