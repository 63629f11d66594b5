//! Constants that follow the instructions of a function.

use rustc_hash::FxHashMap;

/// Vectors of constants, each as wide as a register.
#[derive(Debug)]
pub(super) struct Pool {
    width: usize,
    bytes: Vec<u8>,
    /// Vectors that repeat an 8-byte pattern.
    repeated: FxHashMap<[u8; 8], u32>,
}

impl Pool {
    /// Returns an empty pool of vectors of `width` bytes.
    pub fn new(width: usize) -> Pool {
        Pool {
            width,
            bytes: Vec::new(),
            repeated: FxHashMap::default(),
        }
    }

    /// Returns the offset of the vector that repeats `pattern`, which has 1, 2, 4 or 8 bytes.
    pub fn repeated(&mut self, pattern: &[u8]) -> u32 {
        let word = std::array::from_fn(|place| pattern[place % pattern.len()]);
        let next = self.bytes.len() as u32;
        *self.repeated.entry(word).or_insert_with(|| {
            let words = (0..self.width).map(|place| word[place % 8]);
            self.bytes.extend(words);
            next
        })
    }

    /// Returns the offset of a vector, padded with zeros.
    pub fn vector(&mut self, mut bytes: Vec<u8>) -> u32 {
        bytes.resize(self.width, 0);
        let mut known = self.bytes.chunks_exact(self.width);
        if let Some(place) = known.position(|vector| vector == bytes) {
            return (place * self.width) as u32;
        }
        self.bytes.extend_from_slice(&bytes);
        (self.bytes.len() - self.width) as u32
    }

    /// Returns whether the vector at `offset` is all zeros.
    pub fn is_zero(&self, offset: u32) -> bool {
        let start = offset as usize;
        self.bytes[start..start + self.width]
            .iter()
            .all(|&byte| byte == 0)
    }

    /// Returns the bytes of all vectors.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
