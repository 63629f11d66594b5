//! Constants that lie behind the instructions of a function.

use std::collections::HashMap;

/// Vectors of constants, each as wide as a register.
#[derive(Debug)]
pub(super) struct Pool {
    width: usize,
    bytes: Vec<u8>,
    offsets: HashMap<Vec<u8>, u32>,
}

impl Pool {
    /// A pool of vectors of `width` bytes.
    pub fn new(width: usize) -> Pool {
        Pool {
            width,
            bytes: Vec::new(),
            offsets: HashMap::new(),
        }
    }

    /// The offset of the vector that repeats `pattern`, whose length divides the width.
    pub fn repeated(&mut self, pattern: &[u8]) -> u32 {
        self.vector(pattern.repeat(self.width / pattern.len()))
    }

    /// The offset of a vector, cut or filled with zeros to the width.
    pub fn vector(&mut self, mut bytes: Vec<u8>) -> u32 {
        bytes.resize(self.width, 0);
        let next = self.bytes.len() as u32;
        *self.offsets.entry(bytes).or_insert_with_key(|bytes| {
            self.bytes.extend_from_slice(bytes);
            next
        })
    }

    /// All vectors, one after the other.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
