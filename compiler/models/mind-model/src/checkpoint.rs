//! Weights of a checkpoint.

use mind_driver::host::Contents;
use mind_irv2::checkpoint::Checkpoint;
use mind_weights::{TensorView, WeightType, decode_blocks};

use crate::weights::{Stored, WeightError, Weights};

/// Weights that are read directly from a checkpoint.
#[derive(Clone, Debug)]
pub struct CheckpointWeights<'a>(pub Checkpoint<'a>);

impl<'a> CheckpointWeights<'a> {
    fn of_expert(
        &self,
        name: &str,
        layer: usize,
        expert: usize,
    ) -> Result<&TensorView<'a>, WeightError> {
        let view = self.0.expert(name, layer, expert);
        view.ok_or_else(|| {
            let reason = format!("it is missing for expert {expert}");
            error(name, Some(layer), reason)
        })
    }

    fn find(&self, name: &str, layer: Option<usize>) -> Result<&TensorView<'a>, WeightError> {
        let view = self.0.tensor(name, layer);
        view.ok_or_else(|| error(name, layer, "it is missing from the checkpoint".to_owned()))
    }
}

fn error(name: &str, layer: Option<usize>, reason: String) -> WeightError {
    WeightError {
        name: name.to_owned(),
        layer,
        reason,
    }
}

/// Returns the elements of a tensor, whose shape must be `shape`.
fn stored<'a>(
    view: &TensorView<'a>,
    (name, layer): (&str, Option<usize>),
    shape: &[usize],
) -> Result<Stored<'a>, WeightError> {
    if view.shape != shape {
        let found = &view.shape;
        let reason = format!("the checkpoint has shape {found:?}, the model needs {shape:?}");
        return Err(error(name, layer, reason));
    }
    let bytes = view
        .in_order()
        .ok_or_else(|| error(name, layer, "it has fewer bytes than its shape".to_owned()))?;
    Ok(Stored {
        weight_type: view.dtype,
        bytes,
    })
}

impl Weights for CheckpointWeights<'_> {
    fn stored_as(&self, name: &str, layer: Option<usize>) -> Result<WeightType, WeightError> {
        match layer.and_then(|layer| self.0.expert(name, layer, 0)) {
            Some(first) => Ok(first.dtype),
            None => Ok(self.find(name, layer)?.dtype),
        }
    }

    fn weight(
        &self,
        name: &str,
        layer: Option<usize>,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError> {
        stored(self.find(name, layer)?, (name, layer), shape)
    }

    fn expert(
        &self,
        name: &str,
        layer: usize,
        expert: usize,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError> {
        let view = self.of_expert(name, layer, expert)?;
        stored(view, (name, Some(layer)), shape)
    }

    fn row(&self, name: &str, index: usize, row: &mut [f32]) -> Result<(), WeightError> {
        let view = self.find(name, None)?;
        let bytes = view.row(index).filter(|_| view.row_elements() == row.len());
        let bytes = bytes.ok_or_else(|| error(name, None, format!("it has no row {index}")))?;
        decode_blocks(view.dtype, bytes, row).map_err(|why| error(name, None, why.to_string()))
    }
}

/// Weights of memory-mapped files, whose pages are released once the weights are packed.
pub struct MappedWeights<'a> {
    /// The weights.
    pub weights: CheckpointWeights<'a>,
    /// The contents of the files.
    pub files: Vec<&'a Contents>,
}

impl Weights for MappedWeights<'_> {
    fn stored_as(&self, name: &str, layer: Option<usize>) -> Result<WeightType, WeightError> {
        self.weights.stored_as(name, layer)
    }

    fn weight(
        &self,
        name: &str,
        layer: Option<usize>,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError> {
        self.weights.weight(name, layer, shape)
    }

    fn expert(
        &self,
        name: &str,
        layer: usize,
        expert: usize,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError> {
        self.weights.expert(name, layer, expert, shape)
    }

    fn row(&self, name: &str, index: usize, row: &mut [f32]) -> Result<(), WeightError> {
        self.weights.row(name, index, row)
    }

    fn release(&self) {
        for file in &self.files {
            file.release();
        }
    }
}
