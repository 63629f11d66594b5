//! Memory for weights, workspaces and constants.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use super::error::RunError;

/// Alignment of every block, in bytes: a cache line, and the widest vector.
const ALIGN: usize = 64;

/// A block of zeroed memory that begins at a multiple of 64 bytes.
#[derive(Debug)]
pub(super) struct Block {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the block owns its memory as a `Box<[u8]>` would.
unsafe impl Send for Block {}
// SAFETY: a shared block gives out a pointer alone; who writes through it answers for that.
unsafe impl Sync for Block {}

impl Block {
    /// A block of `bytes` bytes.
    ///
    /// Errors: the system gives no memory.
    pub(super) fn new(bytes: usize) -> Result<Block, RunError> {
        let refused = RunError::OutOfMemory { bytes };
        if bytes == 0 {
            let start = NonNull::<Aligned>::dangling().cast();
            return Ok(Block { start, bytes });
        }
        let Ok(layout) = Layout::from_size_align(bytes, ALIGN) else {
            return Err(refused);
        };
        // SAFETY: the layout has a size above 0.
        let start = unsafe { alloc_zeroed(layout) };
        match NonNull::new(start) {
            Some(start) => Ok(Block { start, bytes }),
            None => Err(refused),
        }
    }

    /// A block that holds `contents`.
    ///
    /// Errors: the system gives no memory.
    pub(super) fn of(contents: &[u8]) -> Result<Block, RunError> {
        let block = Block::new(contents.len())?;
        // SAFETY: the block was just made with as many bytes, and overlaps nothing.
        unsafe {
            std::ptr::copy_nonoverlapping(contents.as_ptr(), block.start.as_ptr(), contents.len());
        }
        Ok(block)
    }

    /// Where it begins.
    pub(super) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

/// Something aligned as blocks are.
#[repr(align(64))]
struct Aligned;

impl Drop for Block {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let layout = Layout::from_size_align(self.bytes, ALIGN).expect("as when allocated");
        // SAFETY: the memory was allocated with this layout and is given back once.
        unsafe { dealloc(self.start.as_ptr(), layout) }
    }
}
