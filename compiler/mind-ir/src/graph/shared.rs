//! The bytes of large literals, which graphs share.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use rustc_hash::FxHashMap;

use crate::attr::Literal;
use crate::tensor::{Buffer, SHARED_FROM};
use crate::types::DType;

/// The owners of the bytes of a graph's large literals, by the address of the first byte.
///
/// As with the [arena](crate::arena::Arena), the slices that it returns claim `'static` and are valid as long as it is:
/// every public accessor of the graph must shorten the lifetime to that of the graph's borrow. No owner is dropped before
/// the graph is, unless another one takes its place that owns the same memory.
#[derive(Clone, Default)]
pub(super) struct SharedBytes {
    owners: FxHashMap<usize, Bytes>,
    aligned: Arc<Mutex<Aligned>>,
}

/// Copies of elements that stand where elements of their dtype cannot, as a file may have them.
#[derive(Default)]
struct Aligned {
    /// By address, length and dtype, with the bytes that were copied: while these are held, nothing else is at their address.
    copies: FxHashMap<(usize, usize, DType), (Bytes, Buffer)>,
    bytes: usize,
}

/// The most bytes of such copies that are kept.
const ALIGNED: usize = 64 << 20;

impl SharedBytes {
    /// Whether the bytes are many enough to be shared.
    pub(super) fn admits(bytes: &[u8]) -> bool {
        bytes.len() >= SHARED_FROM
    }

    /// These very bytes, in the same memory, if they are owned here.
    pub(super) fn owned(&self, bytes: &[u8]) -> Option<Bytes> {
        let own = self.owners.get(&bytes.as_ptr().addr())?;
        (own.len() >= bytes.len()).then(|| own.slice(..bytes.len()))
    }

    /// Owns `bytes` from now on.
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
        // SAFETY: `Bytes` neither moves nor changes what it owns, and one that owns this memory is held until the graph
        // is dropped. See the type's documentation for who shortens the lifetime.
        unsafe { &*slice }
    }

    /// The elements that a literal lists, without a copy of many, or with one for all who ask.
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

    /// The bytes of a literal, copied unless they are owned here.
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
        // The first byte belongs to no element, as in a file.
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
