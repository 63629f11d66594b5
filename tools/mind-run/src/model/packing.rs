//! Packs the weights of a model and shows the progress.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mind_driver::cache::Packing;
use mind_driver::host::{Host, Progress};
use mind_irv2::Config;
use mind_model::{
    MappedWeights, Model, ModelError, ModelOptions, Products, Runner, Stored, WeightError, Weights,
};
use mind_weights::WeightType;

/// Weights that count the parts packed so far.
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

/// Builds the model of `weights` and shows the progress of packing on a terminal. The packed weights of the files
/// `kept` are cached on disk.
pub(super) fn model<'a>(
    config: Config,
    weights: MappedWeights<'a>,
    runner: Runner,
    (products, kept): (Products, Option<&[PathBuf]>),
    host: &mut dyn Host,
) -> Result<Arc<Model<'a>>, ModelError> {
    let packing = kept.and_then(|files| packing((&config, products), files, &runner, host));
    let kept = packing.as_ref().and_then(Packing::load);
    let packed = Arc::new(AtomicU64::new(0));
    let progress = Progress {
        done: packed.clone(),
        all: Model::packed_parts(&config),
    };
    let is_shown = host.style().redraws;
    let work = is_shown.then(|| host.working_through("packing weights", progress));
    let weights = Box::new(Counted { weights, packed });
    let options = ModelOptions {
        products,
        kept: kept.as_ref(),
    };
    let model = Model::with_options(config, weights, runner, options);
    drop(work);
    let model = model?;
    if let Some(packing) = packing
        && kept.is_none_or(|kept| kept.lacks_some())
        && let Err(why) = model.keep(&packing)
    {
        mind_cli::note(host, &format!("{NONE_KEPT}: {why}"));
    }
    Ok(Arc::new(model))
}

/// Note of runs that do not cache packed weights.
const NONE_KEPT: &str = "packed weights are not cached";

/// Returns the location of the packed weights of `files`; `None`, with a note, if they cannot be cached.
fn packing(
    (config, products): (&Config, Products),
    files: &[PathBuf],
    runner: &Runner,
    host: &mut dyn Host,
) -> Option<Packing> {
    let Runner::Jit(engine) = runner else {
        return None;
    };
    match engine.packing(&format!("{config:?} {products:?}"), files) {
        Some(Ok(packing)) => Some(packing),
        Some(Err(why)) => {
            mind_cli::note(host, &format!("{NONE_KEPT}: {why}"));
            None
        }
        None => {
            mind_cli::note(
                host,
                &format!("{NONE_KEPT}: caching is off, see `MIND_CACHE`"),
            );
            None
        }
    }
}
