//! Making a model of its weights, with a sign of how far that is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mind_driver::host::{Host, Progress};
use mind_irv2::Config;
use mind_model::{
    MappedWeights, Model, ModelError, Products, Runner, Stored, WeightError, Weights,
};
use mind_weights::WeightType;

/// Weights that count how often some of them were packed.
struct Counted<'a> {
    weights: MappedWeights<'a>,
    packed: Arc<AtomicU64>,
}

impl Weights for Counted<'_> {
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
        self.packed.fetch_add(1, Ordering::Relaxed);
        self.weights.release();
    }
}

/// The model of `weights`; a terminal shows how many of them are packed.
pub(super) fn model<'a>(
    config: Config,
    weights: MappedWeights<'a>,
    (runner, products): (Runner, Products),
    host: &mut dyn Host,
) -> Result<Arc<Model<'a>>, ModelError> {
    let packed = Arc::new(AtomicU64::new(0));
    let progress = Progress {
        done: packed.clone(),
        all: Model::packed_parts(&config),
    };
    let is_shown = host.style().redraws;
    let work = is_shown.then(|| host.working_through("packing weights", progress));
    let weights = Box::new(Counted { weights, packed });
    let model = Model::with_products(config, weights, runner, products);
    drop(work);
    model.map(Arc::new)
}
