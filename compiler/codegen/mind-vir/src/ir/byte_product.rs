//! Products of matrices of bytes, with operands and result in memory.

use super::op::Addr;

/// The product of two matrices of bytes, as a matrix of `I32` in memory.
///
/// The first matrix has a row of `words` 4-byte words for each row of the result, in the order of the contracted index.
/// The second one has `words` rows with one word per column of the result, which holds four terms of that column. Sums
/// wrap. The result does not overlap the operands.
///
/// Only targets that have AMX run it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ByteProduct {
    /// The result.
    pub to: WordRows,
    /// The first matrix.
    pub lhs: WordRows,
    /// The second matrix.
    pub rhs: WordRows,
    /// Rows of the result, 1 to [`MOST`](ByteProduct::MOST).
    pub rows: u32,
    /// Columns of the result, 1 to [`MOST`](ByteProduct::MOST).
    pub columns: u32,
    /// Words along the contracted dimension, at least 1.
    pub words: u32,
    /// Whether the bytes of the first and of the second matrix are signed.
    pub signs: [bool; 2],
}

/// Rows of 4-byte words in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WordRows {
    /// The address of the first row.
    pub start: Addr,
    /// Bytes between adjacent rows, up to [`MOST_STRIDE`](WordRows::MOST_STRIDE).
    pub stride: u32,
}

impl WordRows {
    /// The maximum of `stride`.
    pub const MOST_STRIDE: u32 = 1 << 24;

    /// Returns the offset of row `at` in bytes.
    pub const fn offset(&self, at: u32) -> i64 {
        self.stride as i64 * at as i64
    }
}

impl ByteProduct {
    /// The maximum number of rows, and of columns, of a result.
    pub const MOST: u32 = 32;

    /// Bytes of a word.
    pub const WORD: u32 = 4;

    /// Returns the matrices, the result first.
    pub const fn matrices(&self) -> [WordRows; 3] {
        [self.to, self.lhs, self.rhs]
    }

    /// Returns the number of rows of each of the [`matrices`](ByteProduct::matrices) and the bytes of a row.
    pub const fn extents(&self) -> [(u32, usize); 3] {
        const WORD: usize = ByteProduct::WORD as usize;
        let (width, length) = (self.columns as usize * WORD, self.words as usize * WORD);
        [(self.rows, width), (self.rows, length), (self.words, width)]
    }

    /// Returns `sum` plus the dot product of the bytes of two words.
    pub fn add(&self, x: u32, y: u32, sum: u32) -> u32 {
        let number = |byte: u8, is_signed: bool| {
            if is_signed {
                i32::from(byte as i8)
            } else {
                i32::from(byte)
            }
        };
        let [left, right] = self.signs;
        let pairs = x.to_le_bytes().into_iter().zip(y.to_le_bytes());
        let products = pairs.map(|(x, y)| number(x, left) * number(y, right));
        products.fold(sum, |sum, product| sum.wrapping_add(product as u32))
    }
}
