//! File positions of the weights of a model.

use std::collections::BTreeMap;

use mind_irv2::Config;
use mind_irv2::checkpoint::Checkpoint;
use mind_weights::{Permutation, TensorView, WeightType};

/// A weight in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stored {
    /// The index of the file.
    pub file: usize,
    /// The byte offset in the file.
    pub offset: u64,
    /// Number of elements.
    pub count: u64,
    /// Storage type.
    pub weight_type: WeightType,
    /// Elements per row.
    pub row: usize,
    /// The order of the elements in the file.
    pub permutation: Permutation,
}

impl Stored {
    /// Returns the number of blocks; for types without blocks, the number of elements.
    pub(super) fn blocks(&self) -> u64 {
        self.count / self.weight_type.block_elements() as u64
    }
}

/// Why the C program cannot read a weight.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TableError {
    /// Its bytes are in none of the files.
    #[error("weight `{name}` is not in any of the files")]
    Outside {
        /// The weight.
        name: String,
    },
    /// It is quantised but not the right-hand side of a product.
    #[error("weight `{name}` is stored as {found}; C reads vectors as f32, f16 and bf16")]
    Format {
        /// The weight.
        name: String,
        /// Its storage type.
        found: WeightType,
    },
    /// The checkpoint does not have it.
    #[error("weight `{0}` is missing")]
    Missing(String),
}

/// The weights of a model by name and layer.
#[derive(Clone, Debug)]
pub struct Tensors {
    stored: BTreeMap<(&'static str, Option<usize>), Stored>,
    /// Weights of experts, by name, layer and expert.
    of_experts: BTreeMap<(&'static str, usize, usize), Stored>,
    files: usize,
}

/// Returns the file and offset of a tensor whose bytes are part of one of `files`.
fn place(name: &str, view: &TensorView<'_>, files: &[&[u8]]) -> Result<Stored, TableError> {
    let mut starts = files.iter().map(|file| file.as_ptr_range());
    let file = starts.position(|file| file.contains(&view.bytes.as_ptr()));
    let file = file.ok_or_else(|| TableError::Outside {
        name: name.to_owned(),
    })?;
    let start = view.bytes.as_ptr() as usize;
    Ok(Stored {
        file,
        offset: (start - files[file].as_ptr() as usize) as u64,
        count: view.elements() as u64,
        weight_type: view.dtype,
        row: view.row_elements(),
        permutation: view.permutation,
    })
}

impl Tensors {
    /// Locates the weights of a checkpoint whose tensors are views of `files`.
    ///
    /// # Errors
    ///
    /// A tensor is not a view of these files.
    pub fn new(
        config: &Config,
        checkpoint: &Checkpoint<'_>,
        files: &[&[u8]],
    ) -> Result<Tensors, TableError> {
        let (mut stored, mut of_experts) = (BTreeMap::new(), BTreeMap::new());
        let experts = config.experts.map_or(0, |own| own.count);
        let layers = (0..config.most_layers()).map(Some).chain([None]);
        for layer in layers {
            let buffers = config.family.buffers().iter();
            for name in buffers.flat_map(|own| own.parts()) {
                if let Some(view) = checkpoint.tensor(name, layer) {
                    stored.insert((name.as_str(), layer), place(name, view, files)?);
                }
                let Some(layer) = layer else { continue };
                for expert in 0..experts {
                    if let Some(view) = checkpoint.expert(name, layer, expert) {
                        let own = place(name, view, files)?;
                        of_experts.insert((name.as_str(), layer, expert), own);
                    }
                }
            }
        }
        if config.tie_word_embeddings
            && let Some(&table) = stored.get(&("token_emb", None))
        {
            stored.insert(("lm_head_weight", None), table);
        }
        let files = files.len();
        Ok(Tensors {
            stored,
            of_experts,
            files,
        })
    }

    /// Returns the number of files.
    pub(super) fn files(&self) -> usize {
        self.files
    }

    /// Returns the storage type of a weight of a layer; `f32` if the model does not have the weight.
    pub(super) fn stored_as(&self, name: &str, layer: Option<usize>) -> WeightType {
        let expert = layer.and_then(|layer| self.find_of_expert(name, layer, 0).ok());
        let found = expert.or_else(|| self.find(name, layer).ok());
        found.map_or(WeightType::F32, |stored| stored.weight_type)
    }

    /// Returns a weight of an expert.
    ///
    /// # Errors
    ///
    /// The weight is missing.
    pub(super) fn find_of_expert(
        &self,
        name: &str,
        layer: usize,
        expert: usize,
    ) -> Result<Stored, TableError> {
        let mut all = self.of_experts.iter();
        let found = all.find(|((own, of, at), _)| *own == name && (*of, *at) == (layer, expert));
        let found = found.map(|(_, &stored)| stored);
        found.ok_or_else(|| TableError::Missing(name.to_owned()))
    }

    /// Returns a weight of a layer, or of the model if `layer` is `None`.
    ///
    /// # Errors
    ///
    /// The weight is missing.
    pub(super) fn find(&self, name: &str, layer: Option<usize>) -> Result<Stored, TableError> {
        let mut all = self.stored.iter();
        let found = all.find(|((own, of), _)| *own == name && *of == layer);
        let found = found.map(|(_, &stored)| stored);
        found.ok_or_else(|| TableError::Missing(name.to_owned()))
    }
}
