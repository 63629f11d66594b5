//! Packed weights that are stored between runs.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use mind_driver::cache::{CachedPanels, CompileCache};
use mind_driver::engine::{Config as EngineConfig, Engine};
use mind_jit::program::PanelChoice;
use mind_model::{Model, ModelOptions, Runner, Session, Stored, WeightError, Weights};
use mind_weights::WeightType;

use crate::random::{Tensors, llama, tokens};

/// Weights that fail if anything but the embedding tables is read.
struct Packed(Tensors);

impl Weights for Packed {
    fn stored_as(&self, name: &str, layer: Option<usize>) -> Result<WeightType, WeightError> {
        self.0.stored_as(name, layer)
    }

    fn weight(
        &self,
        name: &str,
        layer: Option<usize>,
        _: &[usize],
    ) -> Result<Stored<'_>, WeightError> {
        panic!("`{name}` of layer {layer:?} is packed again");
    }

    fn expert(
        &self,
        name: &str,
        layer: usize,
        expert: usize,
        _: &[usize],
    ) -> Result<Stored<'_>, WeightError> {
        panic!("`{name}` of expert {expert} of layer {layer} is packed again");
    }

    fn row(&self, name: &str, index: usize, row: &mut [f32]) -> Result<(), WeightError> {
        self.0.row(name, index, row)
    }
}

#[test]
fn packed_weights_are_kept_until_something_changes() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("panels");
    let _ = fs::remove_dir_all(&folder);
    let kept = folder.join("kept");
    let cache = CompileCache::open(&kept, 1 << 20).expect("a folder");
    let file = folder.join("weights");
    fs::write(&file, "weights").expect("it is written");
    let engine = Engine::new(&EngineConfig {
        panels: PanelChoice::Shared,
        cache: Some(Arc::new(cache)),
        ..EngineConfig::default()
    });
    let engine = Arc::new(engine.expect("this machine's engine"));
    let packing = |model: &str| {
        let packing = engine.packing(model, std::slice::from_ref(&file));
        packing.expect("a cache").expect("the file is there")
    };
    let config = mind_irv2::Config::new(llama()).expect("a model");
    let weights = Tensors::random(&config, WeightType::Bf16, 7);
    let logits = |model: Model<'static>| {
        let mut session = Session::new(Arc::new(model), 24).expect("a session");
        session.prefill(&tokens(&config, 20)).expect("logits")
    };
    let runner = || Runner::Jit(engine.clone());
    assert!(packing("a").load().is_none());
    let first = Model::new(config, Box::new(weights.clone()), runner()).expect("a model");
    first.keep(&packing("a")).expect("it is kept");
    let first = logits(first);

    let found = packing("a").load().expect("it is kept");
    let again = |found: &CachedPanels, weights: Box<dyn Weights>| {
        let options = ModelOptions {
            kept: Some(found),
            ..ModelOptions::default()
        };
        let again = Model::with_options(config, weights, runner(), options);
        logits(again.expect("a model"))
    };
    let packed = Box::new(Packed(weights.clone()));
    assert!(again(&found, packed) == first && !found.lacks_some());
    assert!(packing("b").load().is_none(), "another model");

    let mut files = fs::read_dir(&kept).expect("the folder").flatten();
    let path = files.find_map(|own| {
        let path = own.path();
        path.extension()
            .is_some_and(|own| own == "panels")
            .then_some(path)
    });
    let path = path.expect("the packed weights");
    let whole = fs::read(&path).expect("the file");
    let damage = |bytes: &[u8], what: &str| {
        // A mapped file stays readable after it is removed.
        fs::remove_file(&path).expect("it is removed");
        fs::write(&path, bytes).expect("it is written");
        if let Some(found) = packing("a").load() {
            // The weights are packed again.
            assert!(!found.is_whole() && found.lacks_some(), "{what}");
            assert!(again(&found, Box::new(weights.clone())) == first, "{what}");
        }
    };
    for at in [0, 16, 48, 70, 4096, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        damage(&bytes, &format!("byte {at}"));
    }
    for length in [0, 60, 100, whole.len() / 2, whole.len() - 1] {
        damage(&whole[..length], &format!("{length} bytes"));
    }
    fs::write(&path, &whole).expect("it is written");
    assert!(packing("a").load().is_some_and(|found| found.is_whole()));
    fs::write(&file, "weights, which are others").expect("it is written");
    assert!(packing("a").load().is_none(), "other weights");
}
