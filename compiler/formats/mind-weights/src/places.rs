//! Validation of the byte ranges of tensors.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::error::FileError;
use crate::tensor::TensorInfo;

/// Checks that the byte ranges of tensors do not overlap and, if `holes`, that they cover all of the data.
///
/// # Errors
///
/// The first tensor, by offset, that overlaps the one before it, or the first range that is not covered.
pub(crate) fn check_places(
    tensors: &[TensorInfo],
    data: Range<usize>,
    holes: bool,
) -> Result<(), FileError> {
    let mut places = BTreeMap::new();
    for tensor in tensors.iter().filter(|tensor| !tensor.range.is_empty()) {
        let previous = places.insert(tensor.range.start, tensor);
        if let Some(previous) = previous {
            return Err(overlap(previous, tensor));
        }
    }
    let mut end = data.start;
    let mut last: Option<&TensorInfo> = None;
    for tensor in places.into_values() {
        if let Some(last) = last.filter(|_| tensor.range.start < end) {
            return Err(overlap(last, tensor));
        }
        if holes && tensor.range.start > end {
            let (start, end) = (end - data.start, tensor.range.start - data.start);
            return Err(FileError::Hole { start, end });
        }
        end = tensor.range.end;
        last = Some(tensor);
    }
    if holes && end != data.end {
        Err(FileError::Hole {
            start: end - data.start,
            end: data.end - data.start,
        })
    } else {
        Ok(())
    }
}

fn overlap(first: &TensorInfo, second: &TensorInfo) -> FileError {
    FileError::Tensor {
        name: second.name.clone(),
        problem: format!("its bytes overlap those of tensor {:?}", first.name),
    }
}
