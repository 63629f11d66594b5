//! Formats without blocks.

/// A single-precision number.
pub(super) fn f32(bytes: &[u8; 4], out: &mut [f32; 1]) {
    *out = [f32::from_le_bytes(*bytes)];
}

/// A half-precision number, including subnormal numbers, infinities and NaN.
pub(super) fn f16(bytes: &[u8; 2], out: &mut [f32; 1]) {
    *out = [half::f16::from_le_bytes(*bytes).to_f32()];
}

/// bfloat16, the upper half of a single-precision number.
pub(super) fn bf16(bytes: &[u8; 2], out: &mut [f32; 1]) {
    *out = [f32::from_bits(u32::from(u16::from_le_bytes(*bytes)) << 16)];
}
