//! A single array of an archive.

use std::io::Read;

use mind_ir::tensor::{Buffer, Element, Tensor, advance};
use mind_ir::types::{DType, MAX_RANK};
use mind_ir::with_buffer;

use super::error::NpyError;
use super::header::Header;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Limit on the length of a header in bytes; NumPy trusts at most 10,000.
const HEADER_LIMIT: usize = 1 << 16;

/// The header of the array that `source` holds, which is read no further.
pub(super) fn header(source: &mut impl Read) -> Result<Header, NpyError> {
    let header = Header::parse(&read_header(source)?)?;
    match header.shape.len() <= MAX_RANK {
        true => Ok(header),
        false => Err(NpyError::Rank(header.shape.len())),
    }
}

/// Reads the array in `source`, if its elements take at most `limit` bytes.
pub(super) fn read(source: &mut impl Read, limit: u64) -> Result<Tensor, NpyError> {
    let Header {
        dtype,
        big_endian,
        fortran_order,
        shape,
    } = header(source)?;
    let expected = match byte_count(dtype, &shape) {
        Some(expected) if expected <= limit => expected,
        _ => {
            return Err(NpyError::TooLarge {
                shape,
                dtype,
                left: limit,
            });
        }
    };
    let mut bytes = Vec::new();
    source.take(expected + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != expected {
        return Err(NpyError::Size {
            shape,
            dtype,
            expected,
            found: bytes.len() as u64,
        });
    }
    to_native(&mut bytes, dtype, big_endian);
    let buffer = Buffer::from_bytes(dtype, &bytes);
    let buffer = if fortran_order {
        with_buffer!(&buffer, |elements| row_major(elements, &shape))
    } else {
        buffer
    };
    Ok(Tensor::new(shape, buffer))
}

/// Reads the text of the header.
fn read_header(source: &mut impl Read) -> Result<String, NpyError> {
    let mut start = [0; 8];
    read_exact(source, &mut start)?;
    let Some(version) = start.strip_prefix(MAGIC) else {
        return Err(NpyError::Magic);
    };
    let length = match version {
        [1, 0] => {
            let mut length = [0; 2];
            read_exact(source, &mut length)?;
            usize::from(u16::from_le_bytes(length))
        }
        [2 | 3, 0] => {
            let mut length = [0; 4];
            read_exact(source, &mut length)?;
            usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX)
        }
        version => return Err(NpyError::Version(version[0], version[1])),
    };
    if length > HEADER_LIMIT {
        return Err(NpyError::Header(format!("{length} bytes are too many")));
    }
    let mut text = vec![0; length];
    read_exact(source, &mut text)?;
    String::from_utf8(text).map_err(|_| NpyError::Header("not UTF-8".to_owned()))
}

fn read_exact(source: &mut impl Read, bytes: &mut [u8]) -> Result<(), NpyError> {
    source
        .read_exact(bytes)
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => NpyError::Truncated,
            _ => NpyError::Read(error),
        })
}

fn byte_count(dtype: DType, shape: &[usize]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    let count = shape
        .iter()
        .try_fold(1usize, |count, &extent| count.checked_mul(extent))?;
    (count as u64).checked_mul(dtype.size() as u64)
}

/// Converts the elements between big- or little-endian and native byte order.
fn to_native(bytes: &mut [u8], dtype: DType, big_endian: bool) {
    if big_endian != cfg!(target_endian = "big") && dtype.size() > 1 {
        bytes
            .chunks_exact_mut(dtype.size())
            .for_each(<[u8]>::reverse);
    }
}

/// Converts column-major elements to row-major order.
fn row_major<T: Element>(elements: &[T], shape: &[usize]) -> Buffer {
    let mut strides = vec![1; shape.len()];
    for axis in 1..shape.len() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    let (mut ordered, mut index) = (Vec::with_capacity(elements.len()), vec![0; shape.len()]);
    while ordered.len() < elements.len() {
        let at: usize = index
            .iter()
            .zip(&strides)
            .map(|(at, stride)| at * stride)
            .sum();
        ordered.push(elements[at]);
        advance(&mut index, shape);
    }
    T::wrap(ordered)
}

/// Serializes an array, row-major and little-endian, with elements at a multiple of 64 bytes.
pub(super) fn write(array: &Tensor) -> Vec<u8> {
    let text = Header::text(array.dtype(), array.shape());
    let prefix = MAGIC.len() + 4;
    let length = (prefix + text.len() + 1).next_multiple_of(64) - prefix;
    let mut bytes = Vec::with_capacity(prefix + length + array.count() * array.dtype().size());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[1, 0]);
    bytes.extend_from_slice(&(length as u16).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes.resize(prefix + length - 1, b' ');
    bytes.push(b'\n');
    let mut elements = array.buffer().to_bytes();
    to_native(&mut elements, array.dtype(), false);
    bytes.append(&mut elements);
    bytes
}
