//! Canonical NaNs in results.
//!
//! The NaN that an operation computes depends on the instruction set, so the sign and the payload of a NaN are not part
//! of a result. Arrays that a run returns have one canonical NaN per dtype, so that checksums of equal results are
//! equal.

use mind::DType;

/// Replaces each NaN by the positive quiet one without a payload.
pub(crate) fn unify(dtype: DType, bytes: &mut [u8]) {
    match dtype {
        DType::F16 => unify_words::<u16>(bytes, 0x7c00, 0x7e00),
        DType::BF16 => unify_words::<u16>(bytes, 0x7f80, 0x7fc0),
        DType::F32 => unify_words::<u32>(bytes, 0x7f80_0000, 0x7fc0_0000),
        DType::F64 => unify_words::<u64>(bytes, 0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000),
        DType::I8
        | DType::I16
        | DType::I32
        | DType::I64
        | DType::U8
        | DType::U16
        | DType::U32
        | DType::U64
        | DType::Bool => {}
    }
}

/// Compares elements as integers: without its sign, a NaN is larger than infinity.
fn unify_words<W>(bytes: &mut [u8], infinity: W, nan: W)
where
    W: bytemuck::Pod + Ord + std::ops::Shl<u32, Output = W>,
{
    /// The number of elements that are checked before any is written, because most arrays have no NaN.
    const PIECE: usize = 1024;
    let is_nan = |word: W| (word << 1) > (infinity << 1);
    let words: &mut [W] = bytemuck::cast_slice_mut(bytes);
    for piece in words.chunks_mut(PIECE) {
        // Without early exit, so that the loop is vectorised.
        if piece.iter().fold(false, |any, &word| any | is_nan(word)) {
            for word in piece.iter_mut().filter(|word| is_nan(**word)) {
                *word = nan;
            }
        }
    }
}
