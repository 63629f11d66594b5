//! Weight file, version 2: large constants, one after another.
//!
//! All numbers are little endian. A header of 64 bytes (count, version) is followed by the constants. Each constant
//! starts at a multiple of 64 with 64 bytes of metadata (sentinel, data type, size in bytes, offset of the data,
//! padding bits), followed by its data. The offset of a constant is that of its metadata.

use mind_mil::Element;
use thiserror::Error;

/// Size of the header and of each constant's metadata, and the alignment of both.
pub const ALIGNMENT: usize = 64;
const SENTINEL: u32 = 0xdead_beef;
const VERSION: u32 = 2;

/// Builder of a weight file.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
    count: u32,
}

impl Writer {
    /// Returns a file without constants.
    pub fn new() -> Writer {
        Writer {
            bytes: vec![0; ALIGNMENT],
            count: 0,
        }
    }

    /// Returns whether the file has no constants.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Appends a constant of `bits` bits, given in `data` in little-endian order, and returns its offset. Returns
    /// `None` if weight files do not have the element type.
    pub fn push(&mut self, element: Element, data: &[u8], bits: u64) -> Option<u64> {
        let code = element.blob()?;
        let start = self.bytes.len().next_multiple_of(ALIGNMENT);
        self.bytes.resize(start, 0);
        self.bytes.extend(SENTINEL.to_le_bytes());
        self.bytes.extend(code.to_le_bytes());
        self.bytes.extend((data.len() as u64).to_le_bytes());
        self.bytes
            .extend(((start + ALIGNMENT) as u64).to_le_bytes());
        self.bytes
            .extend((8 * data.len() as u64 - bits).to_le_bytes());
        self.bytes.resize(start + ALIGNMENT, 0);
        self.bytes.extend_from_slice(data);
        self.count += 1;
        Some(start as u64)
    }

    /// Returns the bytes of the file, with its header completed.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes[..4].copy_from_slice(&self.count.to_le_bytes());
        self.bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
        self.bytes
    }
}

/// Why a constant cannot be read from a weight file.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BlobError {
    /// The file has no header of version 2.
    #[error("the file is not a weight file of version 2")]
    Header,
    /// The offset is 0 or not a multiple of 64.
    #[error("offset {0} is not a positive multiple of 64")]
    Offset(u64),
    /// The bytes at the offset are not metadata.
    #[error("no constant begins at offset {0}")]
    Sentinel(u64),
    /// The constant has another data type.
    #[error("it holds data type {found}, not {expected}")]
    Element {
        /// The data type code in the file.
        found: u32,
        /// The expected element type.
        expected: &'static str,
    },
    /// The constant has another size in bytes.
    #[error("it holds {found} bytes, not {expected}")]
    Size {
        /// The size in the file.
        found: u64,
        /// The size of the expected type.
        expected: u64,
    },
    /// The data extend past the end of the file.
    #[error("its data reach past the end of the file")]
    End,
}

/// Returns the data of the constant at `offset`, which has `bytes` bytes of `element`.
///
/// # Errors
///
/// See [`BlobError`].
pub fn read(file: &[u8], offset: u64, element: Element, bytes: u64) -> Result<&[u8], BlobError> {
    let word = |at: usize| {
        let bytes = file.get(at..)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*bytes))
    };
    let long = |at: usize| {
        let bytes = file.get(at..)?.first_chunk::<8>()?;
        Some(u64::from_le_bytes(*bytes))
    };
    if file.len() < ALIGNMENT || word(4) != Some(VERSION) {
        return Err(BlobError::Header);
    }
    let at = usize::try_from(offset)
        .ok()
        .filter(|at| *at > 0 && at % ALIGNMENT == 0);
    let at = at.ok_or(BlobError::Offset(offset))?;
    let metadata = file.get(at..).filter(|rest| rest.len() >= ALIGNMENT);
    if metadata.is_none() || word(at) != Some(SENTINEL) {
        return Err(BlobError::Sentinel(offset));
    }
    let (Some(code), Some(size), Some(data)) = (word(at + 4), long(at + 8), long(at + 16)) else {
        return Err(BlobError::Sentinel(offset));
    };
    if element.blob() != Some(code) {
        return Err(BlobError::Element {
            found: code,
            expected: element.name(),
        });
    }
    if size != bytes {
        return Err(BlobError::Size {
            found: size,
            expected: bytes,
        });
    }
    let start = usize::try_from(data).map_err(|_| BlobError::End)?;
    let end = start.checked_add(usize::try_from(size).map_err(|_| BlobError::End)?);
    end.and_then(|end| file.get(start..end))
        .ok_or(BlobError::End)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_lie_where_the_published_file_has_them() {
        let mut writer = Writer::new();
        assert_eq!(writer.push(Element::Fp16, &[0; 6], 48), Some(64));
        assert_eq!(writer.push(Element::Uint8, &[1; 5], 40), Some(192));
        assert_eq!(writer.push(Element::Fp32, &[2; 80], 640), Some(320));
        let file = writer.finish();
        assert_eq!(file.len(), 464);
        assert_eq!(file[..8], [3, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(read(&file, 192, Element::Uint8, 5), Ok(&[1u8; 5][..]));
    }

    #[test]
    fn broken_places_are_refused() {
        let mut writer = Writer::new();
        writer.push(Element::Fp16, &[0; 6], 48);
        let file = writer.finish();
        assert_eq!(read(&[], 64, Element::Fp16, 6), Err(BlobError::Header));
        assert_eq!(read(&file, 0, Element::Fp16, 6), Err(BlobError::Offset(0)));
        assert_eq!(
            read(&file, 65, Element::Fp16, 6),
            Err(BlobError::Offset(65))
        );
        assert_eq!(
            read(&file, 128, Element::Fp16, 6),
            Err(BlobError::Sentinel(128))
        );
        let size = BlobError::Size {
            found: 6,
            expected: 8,
        };
        assert_eq!(read(&file, 64, Element::Fp16, 8), Err(size));
        let element = BlobError::Element {
            found: 1,
            expected: "fp32",
        };
        assert_eq!(read(&file, 64, Element::Fp32, 6), Err(element));
        assert_eq!(
            read(&file[..130], 64, Element::Fp16, 6),
            Err(BlobError::End)
        );
    }
}
