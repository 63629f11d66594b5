//! Buffers that an interpreted function reads and writes.

use super::super::types::Lane;

/// The buffers of an interpreted call.
#[derive(Debug, Default)]
pub struct Memory<'m> {
    buffers: Vec<&'m mut [u8]>,
}

impl<'m> Memory<'m> {
    /// Adds a buffer and returns a pointer to its first byte.
    pub fn add(&mut self, bytes: &'m mut [u8]) -> Pointer {
        self.buffers.push(bytes);
        Pointer {
            buffer: self.buffers.len() - 1,
            offset: 0,
        }
    }

    pub(super) fn load(&self, lane: Lane, at: Pointer) -> Result<u64, Fault> {
        let range = self.range(lane, at)?;
        let mut bits = [0; 8];
        bits[..lane.bytes() as usize].copy_from_slice(&self.buffers[at.buffer][range]);
        Ok(u64::from_le_bytes(bits))
    }

    pub(super) fn store(&mut self, lane: Lane, at: Pointer, bits: u64) -> Result<(), Fault> {
        let range = self.range(lane, at)?;
        let bytes = &bits.to_le_bytes()[..lane.bytes() as usize];
        self.buffers[at.buffer][range].copy_from_slice(bytes);
        Ok(())
    }

    fn range(&self, lane: Lane, at: Pointer) -> Result<std::ops::Range<usize>, Fault> {
        let (size, length) = (lane.bytes() as usize, self.buffers[at.buffer].len());
        match usize::try_from(at.offset) {
            Ok(start) if start <= length && size <= length - start => Ok(start..start + size),
            _ => Err(Fault::Outside {
                buffer: at.buffer,
                offset: at.offset,
                size,
                length,
            }),
        }
    }
}

/// A pointer into a buffer, which may be out of bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer {
    buffer: usize,
    offset: i64,
}

impl Pointer {
    /// Returns the pointer plus `bytes`.
    #[must_use]
    pub fn plus(self, bytes: i64) -> Pointer {
        Pointer {
            offset: self.offset.wrapping_add(bytes),
            ..self
        }
    }
}

/// An argument of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    /// For a pointer.
    Ptr(Pointer),
    /// For an index.
    Index(i64),
}

/// A precondition that the caller of a function violated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// An access is out of bounds.
    #[error("{size} bytes at {offset} of buffer {buffer}, which has {length}")]
    Outside {
        /// The buffer, by order of addition.
        buffer: usize,
        /// The first byte of the access.
        offset: i64,
        /// Its size in bytes.
        size: usize,
        /// Bytes in the buffer.
        length: usize,
    },
    /// A count is not in `0..=lanes`.
    #[error("a count of {count}; expected 0 to {lanes}")]
    Count {
        /// The count.
        count: i64,
        /// Lanes of a vector.
        lanes: u32,
    },
}
