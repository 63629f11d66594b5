//! Decoding of weights to `f32`, with the formulas in docs/formats/weights.md.

mod levels;
mod plain;
mod quants;
mod super_blocks;
mod ternary;

use crate::error::DecodeError;
use crate::weight_type::WeightType;

/// Decodes whole blocks.
///
/// # Errors
///
/// If the size of `bytes` does not fit `out.len()` elements.
pub fn decode_blocks(
    weight_type: WeightType,
    bytes: &[u8],
    out: &mut [f32],
) -> Result<(), DecodeError> {
    let expected = weight_type.row_bytes(out.len());
    if expected != Some(bytes.len()) {
        return Err(DecodeError::Bytes {
            weight_type,
            found: bytes.len(),
            expected: expected.unwrap_or(out.len()),
        });
    }
    match weight_type {
        WeightType::F32 => each(bytes, out, plain::f32),
        WeightType::F16 => each(bytes, out, plain::f16),
        WeightType::Bf16 => each(bytes, out, plain::bf16),
        WeightType::Q4_0 => each(bytes, out, quants::q4_0),
        WeightType::Q4_1 => each(bytes, out, quants::q4_1),
        WeightType::Q5_0 => each(bytes, out, quants::q5_0),
        WeightType::Q5_1 => each(bytes, out, quants::q5_1),
        WeightType::Q8_0 => each(bytes, out, quants::q8_0),
        WeightType::Q2K => each(bytes, out, super_blocks::q2_k),
        WeightType::Q3K => each(bytes, out, super_blocks::q3_k),
        WeightType::Q4K => each(bytes, out, super_blocks::q4_k),
        WeightType::Q5K => each(bytes, out, super_blocks::q5_k),
        WeightType::Q6K => each(bytes, out, super_blocks::q6_k),
        WeightType::Iq4Nl => each(bytes, out, levels::iq4_nl),
        WeightType::Mxfp4 => each(bytes, out, levels::mxfp4),
        WeightType::Tq1_0 => each(bytes, out, ternary::tq1_0),
        WeightType::Tq2_0 => each(bytes, out, ternary::tq2_0),
    }
    Ok(())
}

/// Decodes blocks of `B` bytes to `N` numbers each.
fn each<const B: usize, const N: usize>(
    bytes: &[u8],
    out: &mut [f32],
    block: impl Fn(&[u8; B], &mut [f32; N]),
) {
    let (blocks, _) = bytes.as_chunks::<B>();
    let (numbers, _) = out.as_chunks_mut::<N>();
    for (bytes, numbers) in blocks.iter().zip(numbers) {
        block(bytes, numbers);
    }
}

/// Returns the half-precision number at byte `at` of a block.
fn half_at(block: &[u8], at: usize) -> f32 {
    half::f16::from_le_bytes([block[at], block[at + 1]]).to_f32()
}

#[cfg(test)]
mod tests;
