//! Tensors of a weight file: header entries and views of their bytes.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::decode::decode_blocks;
use crate::error::DecodeError;
use crate::weight_type::WeightType;

/// The number format of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoredType {
    /// A format that can be decoded.
    Known(WeightType),
    /// Any other format, by its name in the file.
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

/// The validated header entry of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorInfo {
    /// The name in the file.
    pub name: String,
    /// The number format.
    pub stored: StoredType,
    /// Extents, outermost first. Their product fits in a `usize`.
    pub shape: Vec<usize>,
    /// Its bytes in the file or shard. For a known format their number fits the shape.
    pub range: Range<usize>,
    /// The index of the shard.
    pub(crate) part: usize,
}

impl TensorInfo {
    /// Returns the tensor with another index of its shard.
    pub(crate) fn of_part(self, part: usize) -> TensorInfo {
        TensorInfo { part, ..self }
    }
}

/// The order of the elements of a matrix or vector in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permutation {
    /// The order of the model.
    None,
    /// The rows are in groups, between which the file has rows of other tensors.
    Grouped {
        /// The rows per group; at least 1.
        rows: usize,
        /// The distance in rows between the starts of adjacent groups.
        stride: usize,
    },
    /// The matrix is transposed in the file.
    Transposed {
        /// The distance in elements between the starts of adjacent rows of the file.
        stride: usize,
    },
    /// In the first `rotary_dims` rows of each head, row `i` of the lower half and row `i` of the upper half are
    /// adjacent, which is the order for rotary embeddings that rotate adjacent elements. The other rows of a head are
    /// in the order of the model.
    Interleaved {
        /// The rows per head.
        head_dim: usize,
        /// The number of permuted rows per head, which is even and at most `head_dim`.
        rotary_dims: usize,
    },
}

impl Permutation {
    /// Returns the position in the file of row `row` of the model. It does not apply to transposed matrices, whose rows
    /// are columns in the file.
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

/// A view of the bytes of a tensor, or of some of its rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorView<'a> {
    /// The number format.
    pub dtype: WeightType,
    /// Extents, outermost first.
    pub shape: Vec<usize>,
    /// The bytes, row by row. Their number fits the type and the shape, except that grouped rows and transposed
    /// matrices include the bytes in between, up to the last element.
    pub bytes: &'a [u8],
    /// The order of the elements in `bytes`. The rows of a vector are its elements.
    pub permutation: Permutation,
}

impl<'a> TensorView<'a> {
    /// Returns the number of elements.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns the number of elements of a row, which is the innermost extent.
    ///
    /// The rows of a permuted vector have one element.
    pub fn row_elements(&self) -> usize {
        match (self.shape.as_slice(), self.permutation) {
            ([_], Permutation::Interleaved { .. } | Permutation::Grouped { .. }) | ([], _) => 1,
            ([.., last], _) => *last,
        }
    }

    /// Returns the bytes of row `row` of the model; `None` if it does not exist or the matrix is transposed.
    pub fn row(&self, row: usize) -> Option<&'a [u8]> {
        if matches!(self.permutation, Permutation::Transposed { .. }) {
            return None;
        }
        let bytes = self.dtype.row_bytes(self.row_elements())?;
        let start = self.permutation.file_row(row).checked_mul(bytes)?;
        self.bytes.get(start..start.checked_add(bytes)?)
    }

    /// Returns a view of a range of rows; `None` if they do not exist, the rank is above 2, or the rows are permuted.
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

    /// Returns matrix `index` of a stack of matrices; `None` if it does not exist.
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

    /// Returns a view of `count` rows in groups of `rows` rows whose starts are `stride` rows apart, beginning at row
    /// `first`; `None` if they do not exist, or the rows are permuted.
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

    /// Returns a view of `count` columns, beginning at column `first`, as the rows of a matrix; `None` if they do not
    /// exist, the rows are permuted, or the numbers are block-quantised, because blocks run along rows.
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

    /// Returns the bytes in the order of the model, copied only if they are permuted; `None` if there are too few.
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

    /// Decodes the numbers to `f32`, in the order of the model.
    ///
    /// # Errors
    ///
    /// If `out` does not have the size of the tensor, or the number of bytes does not fit the type and the shape.
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
