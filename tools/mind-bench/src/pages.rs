//! Page-aligned memory, as the executor has it.

/// Page-aligned bytes.
pub struct Pages {
    words: Vec<u64>,
    start: usize,
    length: usize,
}

impl Pages {
    /// Allocates `length` zeros.
    pub fn new(length: usize) -> Pages {
        const PAGE: usize = 4096;
        let words = vec![0u64; (length + PAGE).div_ceil(8)];
        let start = words.as_ptr().align_offset(PAGE);
        Pages {
            words,
            start,
            length,
        }
    }

    /// Returns the start address.
    pub fn address(&self) -> u64 {
        self.words[self.start..].as_ptr() as u64
    }

    /// Returns the mutable bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::must_cast_slice_mut(&mut self.words[self.start..])[..self.length]
    }

    /// Returns the bytes as numbers.
    pub fn f32(&self) -> &[f32] {
        &bytemuck::must_cast_slice(&self.words[self.start..])[..self.length / 4]
    }

    /// Returns the bytes as mutable numbers.
    pub fn f32_mut(&mut self) -> &mut [f32] {
        &mut bytemuck::must_cast_slice_mut(&mut self.words[self.start..])[..self.length / 4]
    }
}
