//! The bump arena that owns a graph's slices.

use std::alloc::Layout;

use bumpalo::Bump;

/// Owns the slices of one graph.
///
/// The returned slices have the lifetime `'static`, because tables hold them next to the arena that owns them. They are
/// valid only as long as the arena is, so every public accessor of the graph must shorten the lifetime to that of the
/// graph's borrow.
#[derive(Default)]
pub(crate) struct Arena {
    bump: Bump,
}

// SAFETY: no method takes a shared `Arena`; allocation takes `&mut self`.
unsafe impl Sync for Arena {}

impl Arena {
    /// Copies `items` into the arena.
    pub(crate) fn slice<T: Copy>(&mut self, items: &[T]) -> &'static mut [T] {
        if items.is_empty() {
            return &mut [];
        }
        let slice: *mut [T] = self.bump.alloc_slice_copy(items);
        // SAFETY: bumpalo neither moves nor frees an allocation before the arena is dropped, and returns each one only
        // once. The type's documentation states who shortens the lifetime.
        unsafe { &mut *slice }
    }

    /// Copies `bytes` into the arena, aligned to 16 bytes, which suits every element type.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &'static [u8] {
        let layout = Layout::from_size_align(bytes.len(), 16).expect("the size of a slice");
        let at = self.bump.alloc_layout(layout).as_ptr();
        // SAFETY: `at` is a fresh allocation of `bytes.len()` bytes; the rest as in `slice`.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len());
            std::slice::from_raw_parts(at, bytes.len())
        }
    }

    /// Copies one `item` into the arena.
    pub(crate) fn item<T: Copy>(&mut self, item: T) -> &'static T {
        &self.slice(std::slice::from_ref(&item))[0]
    }
}
