//! A weight file in memory, independent of its container format.

use crate::error::FileError;
use crate::metadata::MetaValue;
use crate::tensor::{Permutation, StoredType, TensorInfo, TensorView};
use crate::{gguf, safetensors};

/// The container format of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Container {
    /// safetensors.
    Safetensors,
    /// GGUF, version 2 or 3.
    Gguf,
}

/// A weight file with a validated header.
#[derive(Clone, Debug)]
pub struct WeightFile<'a> {
    container: Container,
    /// The bytes of the file, or of each shard of a split model.
    pub(crate) parts: Vec<&'a [u8]>,
    pub(crate) tensors: Vec<TensorInfo>,
    pub(crate) metadata: Vec<(String, MetaValue)>,
}

impl<'a> WeightFile<'a> {
    /// Parses the header of a GGUF or safetensors file and validates it against the size of the file.
    ///
    /// The file size bounds all allocations, because counts and sizes in the header are not trusted.
    ///
    /// # Errors
    ///
    /// If the header is invalid; see [`FileError`].
    pub fn parse(bytes: &'a [u8]) -> Result<WeightFile<'a>, FileError> {
        let is_gguf = bytes.starts_with(gguf::MAGIC);
        let (container, (mut tensors, mut metadata)) = if is_gguf {
            (Container::Gguf, gguf::header(bytes)?)
        } else {
            (Container::Safetensors, safetensors::header(bytes)?)
        };
        tensors.sort_by(|a, b| a.name.cmp(&b.name));
        metadata.sort_by(|a, b| a.0.cmp(&b.0));
        distinct("tensor", tensors.iter().map(|tensor| tensor.name.as_str()))?;
        distinct("key", metadata.iter().map(|(key, _)| key.as_str()))?;
        Ok(WeightFile {
            container,
            parts: vec![bytes],
            tensors,
            metadata,
        })
    }

    /// Returns the container format.
    pub fn container(&self) -> Container {
        self.container
    }

    /// Returns the tensors, sorted by name.
    pub fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    /// Returns the header entry of the tensor `name`.
    pub fn info(&self, name: &str) -> Option<&TensorInfo> {
        let at = self
            .tensors
            .binary_search_by(|tensor| tensor.name.as_str().cmp(name));
        Some(&self.tensors[at.ok()?])
    }

    /// Returns the value of a metadata key, for example `general.architecture`. In safetensors all values are strings.
    pub fn meta(&self, key: &str) -> Option<&MetaValue> {
        let at = self
            .metadata
            .binary_search_by(|(own, _)| own.as_str().cmp(key));
        Some(&self.metadata[at.ok()?].1)
    }

    /// Returns the metadata keys and values, sorted by key.
    pub fn metadata(&self) -> &[(String, MetaValue)] {
        &self.metadata
    }

    /// Returns a view of a tensor of this file; `None` if its number format cannot be decoded.
    pub fn view(&self, info: &TensorInfo) -> Option<TensorView<'a>> {
        let StoredType::Known(dtype) = info.stored else {
            return None;
        };
        Some(TensorView {
            dtype,
            shape: info.shape.clone(),
            bytes: self.parts.get(info.part)?.get(info.range.clone())?,
            permutation: Permutation::None,
        })
    }
}

/// Checks that sorted `names` are distinct.
///
/// # Errors
///
/// The first repeated name.
fn distinct<'n>(
    what: &'static str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Result<(), FileError> {
    let pair = names.clone().zip(names.skip(1)).find(|(a, b)| a == b);
    match pair {
        Some((name, _)) => Err(FileError::Twice {
            what,
            name: name.to_owned(),
        }),
        None => Ok(()),
    }
}
