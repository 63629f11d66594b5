//! The header of a GGUF file.
//!
//! It consists of the magic, the version, the counts of tensors and keys, the keys with typed values, and for each
//! tensor its extents, innermost first, its type and its offset. The data starts at the next multiple of the alignment.
//! All numbers are little-endian.

use crate::error::FileError;
use crate::metadata::MetaValue;
use crate::places::check_places;
use crate::tensor::{StoredType, TensorInfo};
use crate::weight_type::WeightType;

/// The first bytes of a file.
pub(crate) const MAGIC: &[u8] = b"GGUF";
/// The maximum rank of a tensor.
const MAX_RANK: u32 = 4;
/// The maximum length in bytes of the name of a key or tensor.
const MAX_NAME: u64 = 65_535;
/// The maximum length in bytes of a string value.
const MAX_TEXT: u64 = 1 << 20;
/// The maximum nesting depth of arrays.
const MAX_DEPTH: usize = 4;
const DEFAULT_ALIGNMENT: u64 = 32;
const MAX_ALIGNMENT: u64 = 1 << 20;

type Header = (Vec<TensorInfo>, Vec<(String, MetaValue)>);

/// Parses and validates the header of `file`.
///
/// # Errors
///
/// If the header is invalid; see [`FileError`].
pub(crate) fn header(file: &[u8]) -> Result<Header, FileError> {
    let mut reader = Reader {
        file,
        at: MAGIC.len(),
    };
    let version = reader.u32("the version")?;
    if !(2..=3).contains(&version) {
        return Err(FileError::Header {
            what: "the version".to_owned(),
            found: match version.swap_bytes() {
                2 | 3 => "big endian".to_owned(),
                _ => version.to_string(),
            },
            expected: "2 or 3, little endian",
        });
    }
    let tensor_count = reader.u64("the number of tensors")?;
    let key_count = reader.u64("the number of keys")?;
    let mut metadata = Vec::new();
    for _ in 0..key_count {
        let key = reader.name("a key")?;
        let code = reader.u32("the type of a key")?;
        let value = reader.value(code, 0)?;
        metadata.push((key, value));
    }
    let mut described = Vec::new();
    for _ in 0..tensor_count {
        described.push(reader.tensor()?);
    }
    let start = match tensor_count {
        0 => file.len(),
        _ => data_start(reader.at, &metadata)?,
    };
    let tensors = described
        .into_iter()
        .map(|tensor| tensor.placed(start, file.len()))
        .collect::<Result<Vec<_>, _>>()?;
    check_places(&tensors, start..file.len(), false)?;
    Ok((tensors, metadata))
}

/// Returns the offset of the data after a header of `end` bytes.
fn data_start(end: usize, metadata: &[(String, MetaValue)]) -> Result<usize, FileError> {
    let key = "general.alignment";
    let found = metadata.iter().find(|(own, _)| own == key);
    let alignment = found.map_or(Some(DEFAULT_ALIGNMENT), |(_, value)| value.natural());
    let fine = |alignment: &u64| alignment.is_power_of_two() && *alignment <= MAX_ALIGNMENT;
    let alignment = alignment.filter(fine).ok_or_else(|| FileError::Header {
        what: key.to_owned(),
        found: found.map_or(String::new(), |(_, value)| format!("{value:?}")),
        expected: "a power of two up to 1048576",
    })?;
    Ok(end.next_multiple_of(alignment as usize))
}

/// The GGUF types that cannot be decoded, by number, with the names that GGUF tools print.
const FOREIGN_TYPES: [(u32, &str); 17] = [
    (9, "Q8_1"),
    (15, "Q8_K"),
    (16, "IQ2_XXS"),
    (17, "IQ2_XS"),
    (18, "IQ3_XXS"),
    (19, "IQ1_S"),
    (21, "IQ3_S"),
    (22, "IQ2_S"),
    (23, "IQ4_XS"),
    (24, "I8"),
    (25, "I16"),
    (26, "I32"),
    (27, "I64"),
    (28, "F64"),
    (29, "IQ1_M"),
    (40, "NVFP4"),
    (41, "Q1_0"),
];

/// Returns the name of a type that cannot be decoded, or its number if GGUF does not define it.
fn foreign_type(code: u32) -> String {
    let known = FOREIGN_TYPES.iter().find(|(own, _)| *own == code);
    known.map_or_else(|| format!("type {code}"), |(_, name)| (*name).to_owned())
}

/// The entry of a tensor in the header.
struct Described {
    name: String,
    shape: Vec<usize>,
    code: u32,
    offset: u64,
}

impl Described {
    /// Returns the tensor, with its byte range in a file of `length` bytes whose data starts at `start`.
    fn placed(self, start: usize, length: usize) -> Result<TensorInfo, FileError> {
        let Described {
            name,
            shape,
            code,
            offset,
        } = self;
        let wrong = |problem: &str| FileError::Tensor {
            name: name.clone(),
            problem: problem.to_owned(),
        };
        let elements = shape
            .iter()
            .try_fold(1usize, |product, &extent| product.checked_mul(extent));
        let elements = elements.ok_or_else(|| wrong("its extents overflow"))?;
        let stored = match WeightType::of_gguf(code) {
            Some(known) => StoredType::Known(known),
            None => StoredType::Other(foreign_type(code)),
        };
        let bytes = match stored {
            StoredType::Known(known) => {
                let row = shape.last().copied().unwrap_or(1);
                known.row_bytes(row).ok_or_else(|| {
                    wrong(&format!(
                        "rows of {row} elements are not whole blocks of {known}"
                    ))
                })?;
                known
                    .row_bytes(elements)
                    .ok_or_else(|| wrong("its extents overflow"))?
            }
            StoredType::Other(_) => 0,
        };
        let begin = usize::try_from(offset)
            .ok()
            .and_then(|offset| start.checked_add(offset));
        let range = begin.and_then(|begin| Some(begin..begin.checked_add(bytes)?));
        let range = range.filter(|range| range.end <= length).ok_or_else(|| {
            wrong(&format!(
                "{bytes} bytes at offset {offset} end past the file"
            ))
        })?;
        Ok(TensorInfo {
            name,
            stored,
            shape,
            range,
            part: 0,
        })
    }
}

/// Returns the number with the shortest decimal that rounds to `real`, for example 1e-6 for the `f32` nearest to it.
fn shortest(real: f32) -> f64 {
    // The text of a float can always be parsed.
    real.to_string().parse().unwrap_or(f64::from(real))
}

struct Reader<'a> {
    file: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: u64, what: &'static str) -> Result<&'a [u8], FileError> {
        let rest = &self.file[self.at..];
        let taken = usize::try_from(count)
            .ok()
            .and_then(|count| rest.get(..count));
        let at = self.file.len();
        let taken = taken.ok_or(FileError::Truncated { what, at })?;
        self.at += taken.len();
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], FileError> {
        let taken = self.take(N as u64, what)?;
        let at = self.file.len();
        taken
            .first_chunk()
            .copied()
            .ok_or(FileError::Truncated { what, at })
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, FileError> {
        self.array(what).map(u32::from_le_bytes)
    }

    fn u64(&mut self, what: &'static str) -> Result<u64, FileError> {
        self.array(what).map(u64::from_le_bytes)
    }

    fn text(&mut self, limit: u64, what: &'static str) -> Result<String, FileError> {
        let length = self.u64(what)?;
        if length > limit {
            return Err(FileError::Header {
                what: format!("the length of {what}"),
                found: length.to_string(),
                expected: "at most 65535 for a name, 1048576 for a text",
            });
        }
        let bytes = self.take(length, what)?;
        // Vocabularies have strings that are not valid UTF-8, because tokens may end within a character.
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    fn name(&mut self, what: &'static str) -> Result<String, FileError> {
        self.text(MAX_NAME, what)
    }

    fn value(&mut self, code: u32, depth: usize) -> Result<MetaValue, FileError> {
        let what = "the value of a key";
        Ok(match code {
            0 => MetaValue::Unsigned(u64::from(self.array::<1>(what)?[0])),
            1 => MetaValue::Signed(i64::from(i8::from_le_bytes(self.array(what)?))),
            2 => MetaValue::Unsigned(u64::from(u16::from_le_bytes(self.array(what)?))),
            3 => MetaValue::Signed(i64::from(i16::from_le_bytes(self.array(what)?))),
            4 => MetaValue::Unsigned(u64::from(u32::from_le_bytes(self.array(what)?))),
            5 => MetaValue::Signed(i64::from(i32::from_le_bytes(self.array(what)?))),
            6 => MetaValue::Real(shortest(f32::from_le_bytes(self.array(what)?))),
            7 => match self.array::<1>(what)?[0] {
                truth @ 0..=1 => MetaValue::Bool(truth == 1),
                found => {
                    return Err(FileError::Header {
                        what: "a boolean".to_owned(),
                        found: found.to_string(),
                        expected: "0 or 1",
                    });
                }
            },
            8 => MetaValue::Text(self.text(MAX_TEXT, what)?),
            9 => self.skip_array(depth)?,
            10 => MetaValue::Unsigned(u64::from_le_bytes(self.array(what)?)),
            11 => MetaValue::Signed(i64::from_le_bytes(self.array(what)?)),
            12 => MetaValue::Real(f64::from_le_bytes(self.array(what)?)),
            found => {
                return Err(FileError::Header {
                    what: "the type of a value".to_owned(),
                    found: found.to_string(),
                    expected: "0 to 12",
                });
            }
        })
    }

    fn skip_array(&mut self, depth: usize) -> Result<MetaValue, FileError> {
        let what = "an array";
        let code = self.u32(what)?;
        let count = self.u64(what)?;
        if depth >= MAX_DEPTH {
            return Err(FileError::Header {
                what: "an array".to_owned(),
                found: "nested".to_owned(),
                expected: "at most 4 deep",
            });
        }
        let width = match code {
            0 | 1 | 7 => Some(1),
            2 | 3 => Some(2),
            4..=6 => Some(4),
            10..=12 => Some(8),
            _ => None,
        };
        match (width, code) {
            (Some(width), _) => {
                self.take(count.saturating_mul(width), what)?;
            }
            (None, 8) => {
                for _ in 0..count {
                    let length = self.u64(what)?;
                    self.take(length, what)?;
                }
            }
            (None, _) => {
                for _ in 0..count {
                    self.value(code, depth + 1)?;
                }
            }
        }
        Ok(MetaValue::Array { count })
    }

    fn tensor(&mut self) -> Result<Described, FileError> {
        let name = self.name("the name of a tensor")?;
        let rank = self.u32("the rank of a tensor")?;
        if rank > MAX_RANK {
            return Err(FileError::Tensor {
                name,
                problem: format!("its rank is {rank}, expected at most {MAX_RANK}"),
            });
        }
        let mut shape = Vec::new();
        for _ in 0..rank {
            let extent = self.u64("the extents of a tensor")?;
            let extent = usize::try_from(extent).map_err(|_| FileError::Tensor {
                name: name.clone(),
                problem: format!("extent {extent} is too large"),
            })?;
            shape.push(extent);
        }
        shape.reverse();
        Ok(Described {
            name,
            shape,
            code: self.u32("the type of a tensor")?,
            offset: self.u64("the offset of a tensor")?,
        })
    }
}
