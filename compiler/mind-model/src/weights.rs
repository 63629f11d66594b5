//! Where weights come from.

use std::borrow::Cow;

use mind_irv2::graph::quant_format;
use mind_weights::{DecodeError, WeightType, decode_blocks};

/// The weights of a model, by their names in the plan of its family and the layer they belong to; none for what the
/// whole model has once. `token_emb` is the table of embeddings, `pos_emb` that of positions.
pub trait Weights: Send + Sync {
    /// How [`weight`](Weights::weight) gives its numbers.
    ///
    /// # Errors
    ///
    /// There is no such weight.
    fn stored_as(&self, name: &str, layer: Option<usize>) -> Result<WeightType, WeightError>;

    /// A weight of this shape, row-major.
    ///
    /// # Errors
    ///
    /// There is none, it has another shape, it cannot be read.
    fn weight(
        &self,
        name: &str,
        layer: Option<usize>,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError>;

    /// A matrix of an expert of `layer`, of this shape, row-major. Those of all experts are stored as
    /// [`stored_as`](Weights::stored_as) says.
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

    /// Writes a row of a table, `[rows, row.len()]`, as `f32`.
    ///
    /// # Errors
    ///
    /// Those of [`weight`](Weights::weight).
    fn row(&self, name: &str, index: usize, row: &mut [f32]) -> Result<(), WeightError>;

    /// Hears that weights given before have been packed: memory behind them may be given back.
    fn release(&self) {}
}

/// The elements of a weight.
#[derive(Clone, Debug)]
pub struct Stored<'w> {
    /// How numbers are stored.
    pub weight_type: WeightType,
    /// Row-major, little-endian; blocks of quantised types run along rows.
    pub bytes: Cow<'w, [u8]>,
}

impl<'w> Stored<'w> {
    /// The elements as those of the dtype that modules declare: quantised ones as `f32`.
    ///
    /// # Errors
    ///
    /// Bytes that are no whole number of blocks.
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

/// Why there is no such weight.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{name}: {reason}", name = called(.name, *.layer))]
pub struct WeightError {
    /// What it is called.
    pub name: String,
    /// The layer it belongs to, if to one.
    pub layer: Option<usize>,
    /// What is wrong with it.
    pub reason: String,
}

fn called(name: &str, layer: Option<usize>) -> String {
    match layer {
        Some(layer) => format!("weight `{name}` of layer {layer}"),
        None => format!("weight `{name}`"),
    }
}
