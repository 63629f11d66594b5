//! Sources of weights.

use std::borrow::Cow;

use mind_irv2::graph::quant_format;
use mind_weights::{DecodeError, WeightType, decode_blocks};

/// The weights of a model, by their names in the plan of its family and their layer, which is `None` for weights that
/// the model has once. For example, `token_emb` is the token embedding table and `pos_emb` the position table.
pub trait Weights: Send + Sync {
    /// Returns the storage type that [`weight`](Weights::weight) provides.
    ///
    /// # Errors
    ///
    /// The weight is missing.
    fn stored_as(&self, name: &str, layer: Option<usize>) -> Result<WeightType, WeightError>;

    /// Returns a weight of this shape, row-major.
    ///
    /// # Errors
    ///
    /// The weight is missing, has another shape, or cannot be read.
    fn weight(
        &self,
        name: &str,
        layer: Option<usize>,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError>;

    /// Returns a matrix of an expert of `layer`, of this shape, row-major. All experts have the same storage type, that
    /// of [`stored_as`](Weights::stored_as).
    ///
    /// # Errors
    ///
    /// Those of [`weight`](Weights::weight).
    fn expert(
        &self,
        name: &str,
        layer: usize,
        expert: usize,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError>;

    /// Decodes a row of a table, `[rows, row.len()]`, to `row`.
    ///
    /// # Errors
    ///
    /// Those of [`weight`](Weights::weight).
    fn row(&self, name: &str, index: usize, row: &mut [f32]) -> Result<(), WeightError>;

    /// Called once the weights provided so far have been packed; their memory may be released.
    fn release(&self) {}
}

/// The elements of a weight.
#[derive(Clone, Debug)]
pub struct Stored<'w> {
    /// The storage type.
    pub weight_type: WeightType,
    /// Row-major, little-endian; blocks of quantised types run along rows.
    pub bytes: Cow<'w, [u8]>,
}

impl<'w> Stored<'w> {
    /// Returns the elements in the dtype that modules declare: quantised ones are dequantised to `f32`.
    ///
    /// # Errors
    ///
    /// The bytes are not a whole number of blocks.
    pub(crate) fn plain(self) -> Result<Cow<'w, [u8]>, DecodeError> {
        if quant_format(self.weight_type).is_none() {
            return Ok(self.bytes);
        }
        let blocks = self.bytes.len() / self.weight_type.block_bytes();
        let mut numbers = vec![0f32; blocks * self.weight_type.block_elements()];
        decode_blocks(self.weight_type, &self.bytes, &mut numbers)?;
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes());
        Ok(Cow::Owned(bytes.collect()))
    }
}

/// Why a weight cannot be provided.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{name}: {reason}", name = called(.name, *.layer))]
pub struct WeightError {
    /// The name of the weight.
    pub name: String,
    /// The layer, if the weight belongs to one.
    pub layer: Option<usize>,
    /// The reason.
    pub reason: String,
}

fn called(name: &str, layer: Option<usize>) -> String {
    match layer {
        Some(layer) => format!("weight `{name}` of layer {layer}"),
        None => format!("weight `{name}`"),
    }
}
