//! Reference-counted bytes of large literals.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use rustc_hash::FxHashMap;

use crate::attr::Literal;
use crate::tensor::{Buffer, SHARED_FROM};
use crate::types::DType;

/// The owners of the bytes of a graph's large literals, by the address of the first byte.
///
/// As with the [arena](crate::arena::Arena), the returned slices have the lifetime `'static` and are valid as long as
/// this is, so every public accessor of the graph must shorten the lifetime to that of the graph's borrow. An owner is
/// dropped before the graph only if it is replaced by one of the same memory.
#[derive(Clone, Default)]
pub(super) struct SharedBytes {
    owners: FxHashMap<usize, Bytes>,
    aligned: Arc<Mutex<Aligned>>,
}

/// Aligned copies of literals that are not aligned for their dtype, for example in a file.
#[derive(Default)]
struct Aligned {
    /// The copy of the bytes at an address, by address, length and dtype. The original is held too, because its address
    /// must not be reused while it is a key.
    copies: FxHashMap<(usize, usize, DType), (Bytes, Buffer)>,
    bytes: usize,
}

/// The maximum size of all copies, in bytes.
const ALIGNED: usize = 64 << 20;

impl SharedBytes {
    /// Whether there are enough bytes for sharing to pay.
    pub(super) fn admits(bytes: &[u8]) -> bool {
        bytes.len() >= SHARED_FROM
    }

    /// Returns the owner of this memory, if it is owned here.
    pub(super) fn owned(&self, bytes: &[u8]) -> Option<Bytes> {
        let own = self.owners.get(&bytes.as_ptr().addr())?;
        (own.len() >= bytes.len()).then(|| own.slice(..bytes.len()))
    }

    /// Keeps `bytes` alive as long as the graph.
    pub(super) fn hold(&mut self, bytes: Bytes) -> &'static [u8] {
        let slice: *const [u8] = &*bytes;
        let at = slice.addr();
        if self
            .owners
            .get(&at)
            .is_none_or(|own| own.len() < bytes.len())
        {
            self.owners.insert(at, bytes);
        }
        // SAFETY: `Bytes` neither moves nor changes its memory, and an owner of this memory is held until the graph is
        // dropped. The type's documentation states who shortens the lifetime.
        unsafe { &*slice }
    }

    /// Returns the elements of a literal. If there are many, they are not copied, or are copied once for all callers.
    pub(super) fn elements(&self, literal: &Literal<'_>) -> Buffer {
        let (dtype, bytes) = (literal.dtype, literal.bytes);
        let Some(own) = self.owned(bytes) else {
            return Buffer::from_bytes(dtype, bytes);
        };
        if let Some(there) = Buffer::in_bytes(dtype, own.clone()) {
            return there;
        }
        let mut aligned = self.aligned.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (bytes.as_ptr().addr(), bytes.len(), dtype);
        if let Some((_, copy)) = aligned.copies.get(&key) {
            return copy.clone();
        }
        let copy = Buffer::from_bytes(dtype, bytes);
        if aligned.bytes + bytes.len() <= ALIGNED {
            aligned.bytes += bytes.len();
            aligned.copies.insert(key, (own, copy.clone()));
        }
        copy
    }

    /// Returns the bytes of a literal, copied unless they are owned here.
    pub(super) fn stored(&mut self, bytes: &[u8]) -> &'static [u8] {
        let own = self.owned(bytes);
        self.hold(own.unwrap_or_else(|| Bytes::copy_from_slice(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_those_of_the_bytes_or_of_one_copy() {
        let elements: Vec<f32> = (0..1000).map(|at| at as f32).collect();
        let whole = Buffer::F32(elements.into());
        // An offset of one byte makes the elements unaligned, as in a file.
        let bytes = [&[0][..], whole.as_bytes()].concat();
        let bytes = Bytes::from_owner(bytes);
        let mut shared = SharedBytes::default();
        for is_copied in [true, false] {
            let own = if is_copied {
                bytes.slice(1..)
            } else {
                whole.shared_bytes()
            };
            let literal = Literal {
                dtype: DType::F32,
                count: Some(1000),
                bytes: shared.hold(own.clone()),
            };
            let [first, second] = [(); 2].map(|()| shared.elements(&literal));
            assert!(first.same_bits(&whole));
            let starts = [&first, &second].map(|elements| elements.as_bytes().as_ptr());
            assert_eq!(starts[0], starts[1]);
            assert_eq!(starts[0] != own.as_ptr(), is_copied);
            // A copy of the graph shares them, too.
            let again = shared.clone().elements(&literal);
            assert_eq!(again.as_bytes().as_ptr(), starts[0]);
        }
    }
}
