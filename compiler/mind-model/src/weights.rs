//! Where weights come from.

use std::borrow::Cow;

use mind_ir::types::DType;

/// The weights of a model, by the names of [`mind_irv2::graph::parts::names`] and the layer they belong to; none
/// for what the whole model has once. `token_emb` is the table of embeddings, `pos_emb` that of positions.
pub trait Weights: Send + Sync {
    /// What [`weight`](Weights::weight) gives its elements as: `f32`, `f16` or `bf16`.
    ///
    /// Errors: there is no such weight.
    fn dtype(&self, name: &str, layer: Option<usize>) -> Result<DType, WeightError>;

    /// A weight of this shape, row-major.
    ///
    /// Errors: there is none, it has another shape, it cannot be read.
    fn weight(
        &self,
        name: &str,
        layer: Option<usize>,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError>;

    /// Writes a row of a table, `[rows, row.len()]`, as `f32`.
    ///
    /// Errors: those of [`weight`](Weights::weight).
    fn row(&self, name: &str, index: usize, row: &mut [f32]) -> Result<(), WeightError>;
}

/// The elements of a weight.
#[derive(Clone, Debug)]
pub struct Stored<'w> {
    /// `f32`, `f16` or `bf16`.
    pub dtype: DType,
    /// Row-major, little-endian.
    pub bytes: Cow<'w, [u8]>,
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
