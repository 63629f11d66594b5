//! Constants that follow the instructions of a function.

use rustc_hash::FxHashMap;

/// Vectors of constants, each as wide as a register.
#[derive(Debug)]
pub(super) struct Pool {
    width: usize,
    bytes: Vec<u8>,
    /// Vectors that repeat 8 bytes.
    repeated: FxHashMap<[u8; 8], u32>,
}

impl Pool {
    /// A pool of vectors of `width` bytes.
    pub fn new(width: usize) -> Pool {
        Pool {
            width,
            bytes: Vec::new(),
            repeated: FxHashMap::default(),
        }
    }

    /// The offset of the vector that repeats `pattern`, which has 1, 2, 4 or 8 bytes.
    pub fn repeated(&mut self, pattern: &[u8]) -> u32 {
        let word = std::array::from_fn(|place| pattern[place % pattern.len()]);
        let next = self.bytes.len() as u32;
        *self.repeated.entry(word).or_insert_with(|| {
            let words = (0..self.width).map(|place| word[place % 8]);
            self.bytes.extend(words);
            next
        })
    }

    /// The offset of a vector, filled with zeros to the width.
    pub fn vector(&mut self, mut bytes: Vec<u8>) -> u32 {
        bytes.resize(self.width, 0);
        let mut known = self.bytes.chunks_exact(self.width);
        if let Some(place) = known.position(|vector| vector == bytes) {
            return (place * self.width) as u32;
        }
        self.bytes.extend_from_slice(&bytes);
        (self.bytes.len() - self.width) as u32
    }

    /// Whether the vector at `offset` is all zeros.
    pub fn is_zero(&self, offset: u32) -> bool {
        let start = offset as usize;
        self.bytes[start..start + self.width]
            .iter()
            .all(|&byte| byte == 0)
    }

    /// All vectors, one after the other.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
