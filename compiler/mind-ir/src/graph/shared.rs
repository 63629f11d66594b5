//! The bytes of large literals, which graphs share.

use bytes::Bytes;
use rustc_hash::FxHashMap;

use crate::tensor::SHARED_FROM;

/// The owners of the bytes of a graph's large literals, by the address of the first byte.
///
/// As with the [arena](crate::arena::Arena), the slices that it returns claim `'static` and are valid as long as it is:
/// every public accessor of the graph must shorten the lifetime to that of the graph's borrow. No owner is dropped before
/// the graph is, unless another one takes its place that owns the same memory.
#[derive(Clone, Default)]
pub(super) struct SharedBytes {
    owners: FxHashMap<usize, Bytes>,
}

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

    /// The bytes of a literal, copied unless they are owned here.
    pub(super) fn stored(&mut self, bytes: &[u8]) -> &'static [u8] {
        let own = self.owned(bytes);
        self.hold(own.unwrap_or_else(|| Bytes::copy_from_slice(bytes)))
    }
}
