//! Fingerprints of tensors.

use mind_ir::tensor::Tensor;
use mind_ir::with_buffer;

use crate::raw::Raw;

/// The offset basis of 64-bit FNV-1a.
pub(crate) const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// Returns the 64-bit FNV-1a hash of the elements' little-endian bytes in row-major order.
///
/// Tensors with the same bits have the same fingerprint on every platform; all NaNs are equal. The shape is not hashed.
/// Source: draft-eastlake-fnv.
pub fn fingerprint(tensor: &Tensor) -> u64 {
    fn of<T: Raw>(elements: &[T]) -> u64 {
        elements.iter().fold(FNV_BASIS, |hash, &element| {
            let raw = if element.is_nan() {
                u64::MAX
            } else {
                element.raw()
            };
            fnv1a(hash, &raw.to_le_bytes()[..T::DTYPE.size()])
        })
    }
    with_buffer!(tensor.buffer(), |elements| of(elements))
}

/// Continues the hash `hash` with `bytes`.
pub(crate) fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_the_published_vectors() {
        assert_eq!(fnv1a(FNV_BASIS, b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(FNV_BASIS, b"foobar"), 0x8594_4171_f739_67e8);
        let bytes = Tensor::of(vec![6], b"foobar".to_vec());
        assert_eq!(fingerprint(&bytes), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn nans_agree_and_zeros_differ() {
        let of = |value: f32| fingerprint(&Tensor::scalar(value));
        assert_eq!(of(f32::NAN), of(f32::from_bits(0xff80_0001)));
        assert_ne!(of(0.0), of(-0.0));
    }
}
