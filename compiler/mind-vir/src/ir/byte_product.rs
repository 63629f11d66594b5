//! Products of matrices of bytes, from memory to memory.

use super::op::Addr;

/// Sums of products of bytes, a matrix of `I32` in memory: the product of two others.
///
/// The first matrix has a row of `words` words of four bytes for each row of the result, the terms one after the other. The
/// second one has `words` rows of a word for each column of the result, whose bytes belong to four terms of that column. Sums
/// wrap. Nothing that is read overlaps what is written.
///
/// Only targets that have AMX run it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ByteProduct {
    /// The result.
    pub to: Rows,
    /// The first matrix.
    pub lhs: Rows,
    /// The second matrix.
    pub rhs: Rows,
    /// Rows of the result, 1 to [`MOST`](ByteProduct::MOST).
    pub rows: u32,
    /// Columns of the result, 1 to [`MOST`](ByteProduct::MOST).
    pub columns: u32,
    /// Words that make up a sum, at least 1.
    pub words: u32,
    /// Whether the bytes of the first and of the second matrix have a sign.
    pub signs: [bool; 2],
}

/// Rows of words of 4 bytes in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rows {
    /// Where the first row is.
    pub start: Addr,
    /// Bytes from one row to the next, up to [`MOST_STRIDE`](Rows::MOST_STRIDE).
    pub stride: u32,
}

impl Rows {
    /// The most bytes from one row to the next.
    pub const MOST_STRIDE: u32 = 1 << 24;

    /// Where row `at` starts, in bytes from the first one.
    pub const fn offset(&self, at: u32) -> i64 {
        self.stride as i64 * at as i64
    }
}

impl ByteProduct {
    /// The most rows, and the most columns, of a result.
    pub const MOST: u32 = 32;

    /// Bytes of a word.
    pub const WORD: u32 = 4;

    /// The matrices, what is written first.
    pub const fn matrices(&self) -> [Rows; 3] {
        [self.to, self.lhs, self.rhs]
    }

    /// How many rows each of the [`matrices`](ByteProduct::matrices) has, and the bytes of one.
    pub const fn extents(&self) -> [(u32, usize); 3] {
        const WORD: usize = ByteProduct::WORD as usize;
        let (width, length) = (self.columns as usize * WORD, self.words as usize * WORD);
        [(self.rows, width), (self.rows, length), (self.words, width)]
    }

    /// `sum` and the products of the bytes of two words.
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
