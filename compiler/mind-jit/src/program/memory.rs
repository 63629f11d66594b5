//! Memory for weights, workspaces and constants.

use std::ptr::NonNull;

use super::error::RunError;
use mind_vir::guarded::{Edge, Guarded};

/// Alignment of every block, in bytes: a cache line, and the widest vector.
pub(super) const ALIGN: usize = 64;

/// A block of zeroed memory that begins at a multiple of 64 bytes and ends, to less than as many, at a page that
/// nobody may touch.
#[derive(Debug)]
pub(super) struct Block {
    /// None of nothing.
    memory: Option<Guarded>,
}

impl Block {
    /// A block of `bytes` bytes.
    ///
    /// # Errors
    ///
    /// The system gives no memory.
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

    /// A block that holds `contents`.
    ///
    /// # Errors
    ///
    /// The system gives no memory.
    pub(super) fn of(contents: &[u8]) -> Result<Block, RunError> {
        let mut block = Block::new(contents.len())?;
        block.bytes_mut().copy_from_slice(contents);
        Ok(block)
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.memory {
            Some(memory) => memory.bytes(),
            None => &[],
        }
    }

    /// Its bytes, to be written.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.memory {
            Some(memory) => memory.bytes_mut(),
            None => &mut [],
        }
    }

    /// Where it begins.
    pub(super) fn start(&self) -> *mut u8 {
        match &self.memory {
            Some(memory) => memory.start(),
            None => NonNull::<Aligned>::dangling().cast().as_ptr(),
        }
    }
}

impl PartialEq for Block {
    /// Whether both hold the same bytes, which nobody may be writing.
    fn eq(&self, other: &Block) -> bool {
        self.bytes() == other.bytes()
    }
}

/// Something aligned as blocks are.
#[repr(align(64))]
struct Aligned;
