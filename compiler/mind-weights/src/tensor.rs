//! Tensors of a weight file: what the header says, and views of their bytes.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::decode::decode_blocks;
use crate::error::DecodeError;
use crate::weight_type::WeightType;

/// The number format that a header names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoredType {
    /// One that can be decoded.
    Known(WeightType),
    /// Another, as the file calls it.
    Other(String),
}

impl fmt::Display for StoredType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoredType::Known(known) => f.write_str(known.name()),
            StoredType::Other(word) => f.write_str(word),
        }
    }
}

/// What a header says of a tensor, checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorInfo {
    /// The name in the file.
    pub name: String,
    /// How its numbers are stored.
    pub stored: StoredType,
    /// Extents, outermost first; the product fits in a `usize`.
    pub shape: Vec<usize>,
    /// Its bytes in the file, or in a part of it; for a known type as many as type and shape ask for.
    pub range: Range<usize>,
    /// The part that they are in.
    pub(crate) part: usize,
}

impl TensorInfo {
    /// The same tensor in another part.
    pub(crate) fn of_part(self, part: usize) -> TensorInfo {
        TensorInfo { part, ..self }
    }
}

/// How the elements of a matrix or vector are ordered in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permutation {
    /// As the model has them.
    None,
    /// Rows stand in groups, with rows of other tensors in between.
    Grouped {
        /// Rows of a group; at least 1.
        rows: usize,
        /// Rows from the start of a group to that of the next.
        stride: usize,
    },
    /// The rows of the file are the columns of the matrix.
    Transposed {
        /// Elements from the start of a column to that of the next.
        stride: usize,
    },
    /// In the first `rotary_dims` rows of each head, row `i` of the lower half and row `i` of the upper half stand side
    /// by side: the order for rotations of neighbours. The other rows of a head, which no rotation turns, are as the
    /// model has them.
    Interleaved {
        /// Rows a head.
        head_dim: usize,
        /// Rows of a head that are permuted; even, at most `head_dim`.
        rotary_dims: usize,
    },
}

impl Permutation {
    /// Where the file has row `row` of the model; a transposed matrix has no rows in the file.
    pub fn file_row(self, row: usize) -> usize {
        match self {
            Permutation::None | Permutation::Transposed { .. } => row,
            Permutation::Grouped { rows, stride } => row / rows * stride + row % rows,
            Permutation::Interleaved {
                head_dim,
                rotary_dims,
            } => {
                let (within, half) = (row % head_dim, rotary_dims / 2);
                if within >= 2 * half {
                    return row;
                }
                row - within + 2 * (within % half) + within / half
            }
        }
    }
}

/// The bytes of a tensor, or of some of its rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorView<'a> {
    /// How its numbers are stored.
    pub dtype: WeightType,
    /// Extents, outermost first.
    pub shape: Vec<usize>,
    /// Its bytes, row after row, as many as dtype and shape ask for; up to the last one where rows are grouped or
    /// the matrix is transposed.
    pub bytes: &'a [u8],
    /// How elements are ordered in `bytes`. The rows of a vector are its elements.
    pub permutation: Permutation,
}

impl<'a> TensorView<'a> {
    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// The elements of a row: those of the innermost axis.
    ///
    /// A permuted vector has rows of one element.
    pub fn row_elements(&self) -> usize {
        match (self.shape.as_slice(), self.permutation) {
            ([_], Permutation::Interleaved { .. } | Permutation::Grouped { .. }) | ([], _) => 1,
            ([.., last], _) => *last,
        }
    }

    /// The bytes of the model's row `row`, whatever its place in the file; `None` if there is no such row, and in a
    /// transposed matrix.
    pub fn row(&self, row: usize) -> Option<&'a [u8]> {
        if matches!(self.permutation, Permutation::Transposed { .. }) {
            return None;
        }
        let bytes = self.dtype.row_bytes(self.row_elements())?;
        let start = self.permutation.file_row(row).checked_mul(bytes)?;
        self.bytes.get(start..start.checked_add(bytes)?)
    }

    /// The rows `rows` alone, of a matrix or vector whose rows are not permuted; `None` if there are no such.
    pub fn rows(&self, rows: Range<usize>) -> Option<TensorView<'a>> {
        let (count, inner) = match self.shape.as_slice() {
            [count] => (*count, 1),
            [count, inner] => (*count, *inner),
            _ => return None,
        };
        let bytes = self.dtype.row_bytes(inner)?;
        if rows.start > rows.end || rows.end > count || self.permutation != Permutation::None {
            return None;
        }
        let mut shape = self.shape.clone();
        shape[0] = rows.len();
        Some(TensorView {
            dtype: self.dtype,
            shape,
            bytes: self
                .bytes
                .get(rows.start.checked_mul(bytes)?..rows.end.checked_mul(bytes)?)?,
            permutation: Permutation::None,
        })
    }

    /// The matrix `index` of a stack of them; `None` if there is no such.
    pub fn matrix(&self, index: usize) -> Option<TensorView<'a>> {
        let &[count, rows, inner] = self.shape.as_slice() else {
            return None;
        };
        let bytes = self.dtype.row_bytes(inner)?.checked_mul(rows)?;
        let start = index.checked_mul(bytes)?;
        let is_one = index < count && self.permutation == Permutation::None;
        let own = self.bytes.get(start..start.checked_add(bytes)?);
        Some(TensorView {
            dtype: self.dtype,
            shape: vec![rows, inner],
            bytes: own.filter(|_| is_one)?,
            permutation: Permutation::None,
        })
    }

    /// `count` rows that stand in groups of `rows` rows, `stride` rows from one to the next, the first one at row
    /// `first`; `None` if there are no such, or rows are permuted.
    pub fn grouped(
        &self,
        first: usize,
        count: usize,
        (rows, stride): (usize, usize),
    ) -> Option<TensorView<'a>> {
        let inner = match self.shape.as_slice() {
            [_] => 1,
            [_, inner] => *inner,
            _ => return None,
        };
        if self.permutation != Permutation::None || rows == 0 || count == 0 {
            return None;
        }
        let permutation = Permutation::Grouped { rows, stride };
        let bytes = self.dtype.row_bytes(inner)?;
        let end = first.checked_add(permutation.file_row(count - 1))?;
        let end = end.checked_add(1)?.checked_mul(bytes)?;
        let mut shape = self.shape.clone();
        shape[0] = count;
        Some(TensorView {
            dtype: self.dtype,
            shape,
            bytes: self.bytes.get(first.checked_mul(bytes)?..end)?,
            permutation,
        })
    }

    /// The columns from `first` on as the `count` rows of a matrix; `None` if there are no such columns, rows are
    /// permuted, or blocks of numbers run along them.
    pub fn transposed(&self, first: usize, count: usize) -> Option<TensorView<'a>> {
        let &[inputs, stride] = self.shape.as_slice() else {
            return None;
        };
        let end = first.checked_add(count)?;
        let is_plain = self.permutation == Permutation::None && self.dtype.block_elements() == 1;
        if !is_plain || inputs == 0 || end > stride {
            return None;
        }
        let size = self.dtype.block_bytes();
        let end = (inputs - 1).checked_mul(stride)?.checked_add(end)?;
        Some(TensorView {
            dtype: self.dtype,
            shape: vec![count, inputs],
            bytes: self.bytes.get(first * size..end.checked_mul(size)?)?,
            permutation: Permutation::Transposed { stride },
        })
    }

    /// The bytes in the model's order; `None` if there are fewer than dtype and shape ask for.
    pub fn in_order(&self) -> Option<Cow<'a, [u8]>> {
        match self.permutation {
            Permutation::None => Some(Cow::Borrowed(self.bytes)),
            Permutation::Transposed { stride } => {
                let &[outputs, inputs] = self.shape.as_slice() else {
                    return None;
                };
                let size = self.dtype.block_bytes();
                let mut bytes = Vec::with_capacity(outputs * inputs * size);
                for output in 0..outputs {
                    for input in 0..inputs {
                        let at = (input * stride + output) * size;
                        bytes.extend_from_slice(self.bytes.get(at..at + size)?);
                    }
                }
                Some(Cow::Owned(bytes))
            }
            Permutation::Grouped { .. } | Permutation::Interleaved { .. } => {
                let rows = self.elements() / self.row_elements().max(1);
                let rows: Option<Vec<&[u8]>> = (0..rows).map(|row| self.row(row)).collect();
                Some(Cow::Owned(rows?.concat()))
            }
        }
    }

    /// Writes the numbers as `f32`, in the model's order.
    ///
    /// # Errors
    ///
    /// `out` has room for another number of elements; bytes that are not those of dtype and shape.
    pub fn decode_f32(&self, out: &mut [f32]) -> Result<(), DecodeError> {
        let (found, room) = (self.elements(), out.len());
        if found != room {
            return Err(DecodeError::Length { found, room });
        }
        let bytes = self.in_order().ok_or(DecodeError::Bytes {
            weight_type: self.dtype,
            found: self.bytes.len(),
            expected: found,
        })?;
        decode_blocks(self.dtype, &bytes, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_no_rotation_turns_stay() {
        let order = Permutation::Interleaved {
            head_dim: 6,
            rotary_dims: 4,
        };
        let rows: Vec<usize> = (0..12).map(|row| order.file_row(row)).collect();
        assert_eq!(rows, [0, 2, 1, 3, 4, 5, 6, 8, 7, 9, 10, 11]);
    }

    #[test]
    fn interleaved_rows_go_back_to_halves() {
        let file: Vec<u8> = [0f32, 3., 1., 4., 2., 5., 10., 13., 11., 14., 12., 15.]
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let mut view = TensorView {
            dtype: WeightType::F32,
            shape: vec![12, 1],
            bytes: &file,
            permutation: Permutation::Interleaved {
                head_dim: 6,
                rotary_dims: 6,
            },
        };
        let expected = [0., 1., 2., 3., 4., 5., 10., 11., 12., 13., 14., 15.];
        let mut out = [0.0; 12];
        view.decode_f32(&mut out).unwrap();
        assert_eq!(out, expected);
        view.shape = vec![12];
        out = [0.0; 12];
        view.decode_f32(&mut out).unwrap();
        assert_eq!(out, expected);
    }

    #[test]
    fn rows_can_be_taken_apart() {
        let bytes: Vec<u8> = (0..12).collect();
        let view = TensorView {
            dtype: WeightType::Bf16,
            shape: vec![3, 2],
            bytes: &bytes,
            permutation: Permutation::None,
        };
        let part = view.rows(1..3).unwrap();
        assert_eq!(
            (part.shape.as_slice(), part.bytes),
            (&[2, 2][..], &bytes[4..])
        );
        assert!(view.rows(2..4).is_none());
        assert_eq!(view.row(2), Some(&bytes[8..]));
        assert_eq!(view.row(3), None);
    }

    #[test]
    fn rows_between_others_are_gathered() {
        let file: Vec<u8> = (0..24u8).flat_map(|x| f32::from(x).to_le_bytes()).collect();
        let view = TensorView {
            dtype: WeightType::F32,
            shape: vec![12, 2],
            bytes: &file,
            permutation: Permutation::None,
        };
        let mut out = [0.0; 8];
        let own = view.grouped(2, 4, (2, 6)).unwrap();
        own.decode_f32(&mut out).unwrap();
        assert_eq!(out, [4., 5., 6., 7., 16., 17., 18., 19.]);
        let vector = TensorView {
            shape: vec![24],
            ..view.clone()
        };
        let own = vector.grouped(1, 6, (1, 4)).unwrap();
        let mut out = [0.0; 6];
        own.decode_f32(&mut out).unwrap();
        assert_eq!(out, [1., 5., 9., 13., 17., 21.]);
        assert!(view.grouped(5, 4, (2, 6)).is_none());
    }

    #[test]
    fn columns_become_rows() {
        let file: Vec<u8> = (0..12u8).flat_map(|x| f32::from(x).to_le_bytes()).collect();
        let view = TensorView {
            dtype: WeightType::F32,
            shape: vec![3, 4],
            bytes: &file,
            permutation: Permutation::None,
        };
        let own = view.transposed(1, 2).unwrap();
        let mut out = [0.0; 6];
        own.decode_f32(&mut out).unwrap();
        assert_eq!(
            (own.shape.as_slice(), out),
            (&[2, 3][..], [1., 5., 9., 2., 6., 10.])
        );
        assert!(own.row(0).is_none() && view.transposed(3, 2).is_none());
    }

    #[test]
    fn room_is_checked() {
        let view = TensorView {
            dtype: WeightType::F32,
            shape: vec![2],
            bytes: &[0; 8],
            permutation: Permutation::None,
        };
        let error = view.decode_f32(&mut [0.0; 3]).unwrap_err();
        assert_eq!(error, DecodeError::Length { found: 2, room: 3 });
    }
}
