//! The header of a safetensors file.
//!
//! The file consists of the length of the header in 8 bytes, the header, which is a JSON object that maps names to
//! `{dtype, shape, data_offsets}`, and the data.

use std::ops::Range;

use mind_json::{Limits, Member, Value};

use crate::error::FileError;
use crate::metadata::MetaValue;
use crate::places::check_places;
use crate::tensor::{StoredType, TensorInfo};
use crate::weight_type::WeightType;

/// The maximum length of the header in bytes.
const MAX_HEADER: u64 = 100_000_000;
/// The maximum rank of a tensor.
const MAX_RANK: usize = 16;
/// The key of the metadata in the header.
const METADATA: &str = "__metadata__";

/// Number formats of safetensors that cannot be decoded, and their bytes per element.
const OTHERS: [(&str, usize); 12] = [
    ("BOOL", 1),
    ("U8", 1),
    ("I8", 1),
    ("F8_E5M2", 1),
    ("F8_E4M3", 1),
    ("I16", 2),
    ("U16", 2),
    ("I32", 4),
    ("U32", 4),
    ("F64", 8),
    ("I64", 8),
    ("U64", 8),
];

type Header = (Vec<TensorInfo>, Vec<(String, MetaValue)>);

/// Parses and validates the header of `file`.
///
/// # Errors
///
/// If the header is invalid; see [`FileError`].
pub(crate) fn header(file: &[u8]) -> Result<Header, FileError> {
    let length = file.first_chunk::<8>().ok_or(FileError::Unknown)?;
    let found = u64::from_le_bytes(*length);
    if file.get(8) != Some(&b'{') {
        return Err(FileError::Unknown);
    }
    if found > MAX_HEADER {
        let limit = MAX_HEADER;
        return Err(FileError::HeaderLength { found, limit });
    }
    let start = 8 + found as usize;
    let text = file.get(8..start).ok_or(FileError::Truncated {
        what: "the header",
        at: file.len(),
    })?;
    let text = std::str::from_utf8(text).map_err(|error| FileError::Json {
        at: error.valid_up_to(),
        problem: "the bytes are not UTF-8".to_owned(),
    })?;
    let root = mind_json::parse(text, &Limits::default()).map_err(|found| FileError::Json {
        at: found.span.start as usize,
        problem: found.message,
    })?;
    let members = root.members().unwrap_or_default();
    let named = members.iter().filter(|member| member.key != METADATA);
    let tensors = named
        .map(|member| tensor(member, start..file.len()))
        .collect::<Result<Vec<_>, _>>()?;
    check_places(&tensors, start..file.len(), true)?;
    Ok((tensors, metadata(&root)?))
}

fn metadata(root: &Value) -> Result<Vec<(String, MetaValue)>, FileError> {
    let Some(value) = root.get(METADATA) else {
        return Ok(Vec::new());
    };
    let wrong = |value: &Value| FileError::Header {
        what: METADATA.to_owned(),
        found: value.describe(),
        expected: "an object with string values",
    };
    let members = value.members().ok_or_else(|| wrong(value))?;
    let text = |member: &Member| {
        let text = member.value.text().ok_or_else(|| wrong(&member.value))?;
        Ok((member.key.clone(), MetaValue::Text(text.to_owned())))
    };
    members.iter().map(text).collect()
}

/// Returns the tensor of a header entry. `data` is the byte range after the header.
fn tensor(member: &Member, data: Range<usize>) -> Result<TensorInfo, FileError> {
    let name = &member.key;
    let wrong = |problem: String| FileError::Tensor {
        name: name.clone(),
        problem,
    };
    let field = |key: &str| {
        let value = member.value.get(key);
        value.ok_or_else(|| wrong(format!("`{key}` is missing")))
    };
    let word = field("dtype")?;
    let word = word
        .text()
        .ok_or_else(|| wrong(format!("`dtype` is {}", word.describe())))?;
    let stored = match WeightType::of_safetensors(word) {
        Some(known) => StoredType::Known(known),
        None => StoredType::Other(word.to_owned()),
    };
    let size = match &stored {
        StoredType::Known(known) => known.block_bytes(),
        StoredType::Other(_) => {
            let row = OTHERS.iter().find(|(own, _)| *own == word);
            row.ok_or_else(|| wrong(format!("dtype {word:?} is not known")))?
                .1
        }
    };
    let shape = naturals(field("shape")?);
    let shape = shape.filter(|shape| shape.len() <= MAX_RANK);
    let shape = shape.ok_or_else(|| wrong("`shape` is not a list of extents".to_owned()))?;
    let bytes = shape
        .iter()
        .try_fold(size, |bytes, &extent| bytes.checked_mul(extent));
    let bytes = bytes.ok_or_else(|| wrong("its extents overflow".to_owned()))?;
    let offsets = naturals(field("data_offsets")?);
    let Some([begin, end]) = offsets.as_deref() else {
        return Err(wrong("`data_offsets` are not two numbers".to_owned()));
    };
    if *begin > *end || end - begin != bytes {
        let problem = format!("bytes {begin} to {end}, but {stored} of its shape takes {bytes}");
        return Err(wrong(problem));
    }
    if *end > data.len() {
        let problem = format!("its bytes end at {end}, the data at {}", data.len());
        return Err(wrong(problem));
    }
    Ok(TensorInfo {
        name: name.clone(),
        stored,
        shape,
        range: data.start + begin..data.start + end,
        part: 0,
    })
}

/// Returns a list of unsigned integers.
fn naturals(value: &Value) -> Option<Vec<usize>> {
    let natural = |value: &Value| usize::try_from(value.integer()?).ok();
    value.elements()?.iter().map(natural).collect()
}
