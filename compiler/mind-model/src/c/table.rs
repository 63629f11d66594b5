//! Where the weights of a model stand in its files.

use std::collections::BTreeMap;

use mind_irv2::Config;
use mind_irv2::checkpoint::Checkpoint;
use mind_weights::{Permutation, WeightType};

/// A weight in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stored {
    /// Which file, from 0.
    pub file: usize,
    /// Bytes in front of it.
    pub offset: u64,
    /// Elements.
    pub count: u64,
    /// How its numbers are stored.
    pub weight_type: WeightType,
    /// Elements of a row.
    pub row: usize,
    /// The order of the rows in the file.
    pub permutation: Permutation,
}

impl Stored {
    /// Blocks that it consists of: elements, where it has no blocks.
    pub(super) fn blocks(&self) -> u64 {
        self.count / self.weight_type.block_elements() as u64
    }
}

/// Why a weight cannot be read by C.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TableError {
    /// It is in none of the files.
    #[error("weight `{name}` is in none of the files")]
    Outside {
        /// The weight.
        name: String,
    },
    /// It is quantised, and no right side of a product.
    #[error("weight `{name}` is stored as {found}; C reads vectors as f32, f16 and bf16")]
    Format {
        /// The weight.
        name: String,
        /// Its format.
        found: WeightType,
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
    /// # Errors
    ///
    /// One that lies elsewhere.
    pub fn new(
        config: &Config,
        checkpoint: &Checkpoint<'_>,
        files: &[&[u8]],
    ) -> Result<Tensors, TableError> {
        let mut stored = BTreeMap::new();
        let layers = (0..config.num_layers).map(Some).chain([None]);
        for layer in layers {
            let buffers = config.family.buffers().iter();
            for name in buffers.flat_map(|own| own.parts()) {
                let Some(view) = checkpoint.tensor(name, layer) else {
                    continue;
                };
                let mut starts = files.iter().map(|file| file.as_ptr_range());
                let file = starts.position(|file| file.contains(&view.bytes.as_ptr()));
                let Some(file) = file else {
                    let name = name.clone();
                    return Err(TableError::Outside { name });
                };
                let start = view.bytes.as_ptr() as usize;
                let own = Stored {
                    file,
                    offset: (start - files[file].as_ptr() as usize) as u64,
                    count: view.elements() as u64,
                    weight_type: view.dtype,
                    row: view.row_elements(),
                    permutation: view.permutation,
                };
                stored.insert((name.as_str(), layer), own);
            }
        }
        if config.tie_word_embeddings
            && let Some(&table) = stored.get(&("token_emb", None))
        {
            stored.insert(("lm_head_weight", None), table);
        }
        let files = files.len();
        Ok(Tensors { stored, files })
    }

    /// How many files there are.
    pub(super) fn files(&self) -> usize {
        self.files
    }

    /// How a weight of a layer is stored; as `f32` where there is none.
    pub(super) fn stored_as(&self, name: &str, layer: Option<usize>) -> WeightType {
        let found = self.find(name, layer);
        found.map_or(WeightType::F32, |stored| stored.weight_type)
    }

    /// What all weights of a layer are stored as, in the order of their names.
    pub(super) fn types(&self, layer: usize) -> Vec<(&'static str, WeightType)> {
        let own = self.stored.iter();
        let own = own.filter(|((_, of), _)| *of == Some(layer));
        own.map(|(&(name, _), stored)| (name, stored.weight_type))
            .collect()
    }

    /// A weight.
    ///
    /// # Errors
    ///
    /// There is none.
    pub(super) fn find(&self, name: &str, layer: Option<usize>) -> Result<Stored, TableError> {
        let mut all = self.stored.iter();
        let found = all.find(|((own, of), _)| *own == name && *of == layer);
        let found = found.map(|(_, &stored)| stored);
        found.ok_or_else(|| TableError::Missing(name.to_owned()))
    }
}
