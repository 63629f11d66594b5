//! Where the weights of a model stand in its files.

use std::collections::BTreeMap;

use mind_ir::types::DType;
use mind_irv2::Config;
use mind_irv2::checkpoint::Checkpoint;
use mind_irv2::graph::parts::names;
use mind_weights::{Permutation, WeightType};

use crate::checkpoint::ROLES;

/// A weight in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stored {
    /// Which file, from 0.
    pub file: usize,
    /// Bytes in front of it.
    pub offset: u64,
    /// Elements.
    pub count: u64,
    /// `f32`, `f16` or `bf16`.
    pub dtype: DType,
}

/// Why a weight cannot be read by C.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TableError {
    /// It is stored in a format that the file does not decode.
    #[error(
        "weight `{name}` is stored as {found}; C reads f32, f16 and bf16 in the order of safetensors"
    )]
    Format {
        /// The weight.
        name: String,
        /// Its format.
        found: WeightType,
    },
    /// Layers store it differently.
    #[error(
        "weight `{name}` is {first} in layer 0 and {found} in layer {layer}; C reads one dtype for all layers"
    )]
    Mixed {
        /// The weight.
        name: String,
        /// The dtype in the first layer.
        first: DType,
        /// That of another.
        found: DType,
        /// Which one.
        layer: usize,
    },
    /// There is none.
    #[error("weight `{0}` is missing")]
    Missing(String),
}

/// The weights of a model by name and layer.
#[derive(Clone, Debug)]
pub struct Tensors {
    stored: BTreeMap<(&'static str, Option<usize>), Stored>,
    files: usize,
}

impl Tensors {
    /// The weights of a checkpoint whose tensors lie in `files`.
    ///
    /// Errors: one that is quantised or permuted, layers that store it differently.
    pub fn new(
        config: &Config,
        checkpoint: &Checkpoint<'_>,
        files: &[&[u8]],
    ) -> Result<Tensors, TableError> {
        let mut stored = BTreeMap::new();
        let layers = (0..config.num_layers).map(Some).chain([None]);
        for layer in layers {
            for &(name, role) in ROLES {
                let Some(view) = checkpoint.tensor(role, layer) else {
                    continue;
                };
                let dtype = match view.dtype {
                    WeightType::F32 => Some(DType::F32),
                    WeightType::F16 => Some(DType::F16),
                    WeightType::Bf16 => Some(DType::BF16),
                    _ => None,
                };
                let start = view.bytes.as_ptr() as usize;
                let file = files
                    .iter()
                    .position(|file| file.as_ptr_range().contains(&view.bytes.as_ptr()));
                let plain = dtype.filter(|_| view.permutation == Permutation::None);
                let (Some(dtype), Some(file)) = (plain, file) else {
                    let (name, found) = (name.to_owned(), view.dtype);
                    return Err(TableError::Format { name, found });
                };
                let offset = (start - files[file].as_ptr() as usize) as u64;
                let count = view.elements() as u64;
                let own = Stored {
                    file,
                    offset,
                    count,
                    dtype,
                };
                stored.insert((name, layer), own);
                let first = layer.and_then(|_| stored.get(&(name, Some(0))));
                if let (Some(first), Some(layer)) = (first, layer)
                    && first.dtype != dtype
                {
                    return Err(TableError::Mixed {
                        name: name.to_owned(),
                        first: first.dtype,
                        found: dtype,
                        layer,
                    });
                }
            }
        }
        if config.tie_word_embeddings
            && let Some(&table) = stored.get(&("token_emb", None))
        {
            stored.insert((names::LM_HEAD, None), table);
        }
        let files = files.len();
        Ok(Tensors { stored, files })
    }

    /// How many files there are.
    pub(super) fn files(&self) -> usize {
        self.files
    }

    /// How a weight is stored, in every layer.
    pub(super) fn dtype(&self, name: &str) -> DType {
        let found = [None, Some(0)].map(|layer| self.find(name, layer).ok());
        found
            .into_iter()
            .flatten()
            .next()
            .map_or(DType::F32, |stored| stored.dtype)
    }

    /// A weight.
    ///
    /// Errors: there is none.
    pub(super) fn find(&self, name: &str, layer: Option<usize>) -> Result<Stored, TableError> {
        let mut all = self.stored.iter();
        let found = all.find(|((own, of), _)| *own == name && *of == layer);
        let found = found.map(|(_, &stored)| stored);
        found.ok_or_else(|| TableError::Missing(name.to_owned()))
    }
}
