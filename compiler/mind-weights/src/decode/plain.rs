//! Numbers without blocks.

/// A number of single precision.
pub(super) fn f32(bytes: &[u8; 4], out: &mut [f32; 1]) {
    *out = [f32::from_le_bytes(*bytes)];
}

/// A number of half precision; subnormal numbers, infinities and NaN included.
pub(super) fn f16(bytes: &[u8; 2], out: &mut [f32; 1]) {
    *out = [half::f16::from_le_bytes(*bytes).to_f32()];
}

/// The upper half of a number of single precision.
pub(super) fn bf16(bytes: &[u8; 2], out: &mut [f32; 1]) {
    *out = [f32::from_bits(u32::from(u16::from_le_bytes(*bytes)) << 16)];
}
