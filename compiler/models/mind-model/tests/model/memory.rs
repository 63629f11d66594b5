//! Memory use of models.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mind_irv2::{Config, Parameters, Rope};
use mind_model::{Model, Session, Stored, WeightError, Weights};
use mind_weights::WeightType;

use crate::random::{Tensors, family, jit, llama, tokens};

/// Returns a model with one layer of the shape of Qwen2-0.5B. One layer is enough, because all layers share the memory
/// of passes. The embedding table has fewer rows.
fn qwen2() -> Config {
    let p = Parameters {
        family: family("qwen2"),
        num_layers: 1,
        hidden_size: 896,
        intermediate_size: 4864,
        num_attention_heads: 14,
        num_kv_heads: 2,
        head_dim: 64,
        vocab_size: 512,
        context_window: 2049,
        rope: llama().rope.map(|rope| Rope {
            rotary_dims: 64,
            ..rope
        }),
        tie_word_embeddings: true,
        biases: family("qwen2").biases(&["bq", "bk", "bv"]),
        ..llama()
    };
    Config::new(p).unwrap_or_else(|why| panic!("{why:?}"))
}

#[test]
fn activations_at_a_context_of_2048_are_below_45_megabytes() {
    let config = qwen2();
    let weights = Tensors::random(&config, WeightType::Q8_0, 51);
    let model = Model::new(config, Box::new(weights), jit(2)).unwrap_or_else(|why| panic!("{why}"));
    let model = Arc::new(model);
    let mut session = Session::new(model.clone(), 2049).unwrap();
    session.prefill(&tokens(&config, 2048)).unwrap();
    let after_prefill = model.activation_bytes();
    session.decode(1).unwrap();
    let after_decode = model.activation_bytes();
    for (bytes, most) in [(after_prefill, 45_000_000), (after_decode, 26_000_000)] {
        assert!((1_000_000..most).contains(&bytes), "{bytes} bytes");
    }
    assert!(
        after_decode < after_prefill * 2 / 3,
        "{after_prefill} bytes of a long pass, {after_decode} after a short one"
    );
}

/// Weights that count the bytes they provide.
struct Counted {
    weights: Tensors,
    given: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    bytes: Arc<Bytes>,
}

/// Bytes of weights. Packed weights are assumed to be as large as their sources.
#[derive(Default)]
struct Bytes {
    /// Bytes that have been provided but not packed yet.
    given: AtomicUsize,
    packed: AtomicUsize,
    /// The peak of both, where weights that are being packed count twice.
    most: AtomicUsize,
}

impl Weights for Counted {
    fn stored_as(&self, name: &str, layer: Option<usize>) -> Result<WeightType, WeightError> {
        self.weights.stored_as(name, layer)
    }

    fn weight(
        &self,
        name: &str,
        layer: Option<usize>,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError> {
        let given = self.given.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(given, Ordering::Relaxed);
        let stored = self.weights.weight(name, layer, shape)?;
        let bytes = stored.bytes.len();
        self.bytes.given.fetch_add(bytes, Ordering::Relaxed);
        Ok(stored)
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
        self.given.store(0, Ordering::Relaxed);
        let given = self.bytes.given.swap(0, Ordering::Relaxed);
        let packed = self.bytes.packed.fetch_add(given, Ordering::Relaxed);
        self.bytes
            .most
            .fetch_max(packed + 2 * given, Ordering::Relaxed);
    }
}

#[test]
fn weights_of_one_layer_at_a_time_are_held_twice() {
    let config = Config::new(llama()).unwrap();
    let [given, most] = [Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0))];
    let weights = Counted {
        weights: Tensors::random(&config, WeightType::F32, 52),
        given: given.clone(),
        most: most.clone(),
        bytes: Arc::default(),
    };
    Model::new(config, Box::new(weights), jit(1)).unwrap_or_else(|why| panic!("{why}"));
    // The part of a llama layer after attention has five weights.
    assert_eq!(
        (given.load(Ordering::Relaxed), most.load(Ordering::Relaxed)),
        (0, 5)
    );
}

#[test]
fn the_head_is_packed_while_nothing_else_is() {
    let config = Config::new(Parameters {
        num_layers: 40,
        vocab_size: 2000,
        ..llama()
    });
    let config = config.unwrap_or_else(|why| panic!("{why:?}"));
    let bytes = Arc::new(Bytes::default());
    let weights = Counted {
        weights: Tensors::random(&config, WeightType::F32, 53),
        given: Arc::default(),
        most: Arc::default(),
        bytes: bytes.clone(),
    };
    Model::new(config, Box::new(weights), jit(1)).unwrap_or_else(|why| panic!("{why}"));
    let [packed, most] = [&bytes.packed, &bytes.most].map(|own| own.load(Ordering::Relaxed));
    // The head alone has a fifth of all weights.
    assert!(
        most * 100 < packed * 105,
        "{most} bytes for weights of {packed}"
    );
}
