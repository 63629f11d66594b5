//! Memory of weights, workspaces and constants.

use std::ptr::NonNull;

use super::error::RunError;
use mind_vir::guarded::{Edge, Guarded};

/// Alignment of blocks in bytes: a cache line, and the widest vector.
pub(super) const ALIGN: usize = 64;

/// A zeroed block of memory, aligned to 64 bytes. Less than 64 bytes after its end there is an inaccessible guard page.
#[derive(Debug)]
pub(super) struct Block {
    /// `None` if the block is empty.
    memory: Option<Guarded>,
}

impl Block {
    /// Allocates a block of `bytes` zeros.
    ///
    /// # Errors
    ///
    /// The allocation failed.
    pub(super) fn new(bytes: usize) -> Result<Block, RunError> {
        if bytes == 0 {
            return Ok(Block { memory: None });
        }
        match Guarded::zeroed(bytes, ALIGN, Edge::End) {
            Ok(memory) => Ok(Block {
                memory: Some(memory),
            }),
            Err(_) => Err(RunError::OutOfMemory { bytes }),
        }
    }

    /// Allocates a copy of `contents`.
    ///
    /// # Errors
    ///
    /// The allocation failed.
    pub(super) fn of(contents: &[u8]) -> Result<Block, RunError> {
        let mut block = Block::new(contents.len())?;
        block.bytes_mut().copy_from_slice(contents);
        Ok(block)
    }

    /// Returns the bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.memory {
            Some(memory) => memory.bytes(),
            None => &[],
        }
    }

    /// Returns the mutable bytes.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.memory {
            Some(memory) => memory.bytes_mut(),
            None => &mut [],
        }
    }

    /// Returns the start address.
    pub(super) fn start(&self) -> *mut u8 {
        match &self.memory {
            Some(memory) => memory.start(),
            None => NonNull::<Aligned>::dangling().cast().as_ptr(),
        }
    }
}

impl PartialEq for Block {
    /// Returns whether both blocks have the same bytes. Nothing may write to them concurrently.
    fn eq(&self, other: &Block) -> bool {
        self.bytes() == other.bytes()
    }
}

/// A type with the alignment of blocks, for dangling pointers.
#[repr(align(64))]
struct Aligned;
