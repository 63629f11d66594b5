//! Tiny models with random weights.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use half::{bf16, f16};
use mind_driver::engine::{Config as EngineConfig, Engine};
use mind_ir::types::DType;
use mind_irv2::graph::parts::names;
use mind_irv2::{Biases, Config, Family, Parameters, Rope, RopeScaling};
use mind_jit::program::PanelChoice;
use mind_model::{Model, Runner, Stored, WeightError, Weights};

/// A small llama: grouped heads, nothing a multiple of 16.
pub fn llama() -> Parameters {
    Parameters {
        family: Family::Llama,
        num_layers: 2,
        hidden_size: 24,
        intermediate_size: 42,
        num_attention_heads: 6,
        num_kv_heads: 2,
        head_dim: 4,
        vocab_size: 37,
        context_window: 400,
        rms_norm_eps: 1e-5,
        rope: Some(Rope {
            theta: 10_000.0,
            scaling: RopeScaling::None,
            rotary_dims: 4,
        }),
        tie_word_embeddings: false,
        biases: Biases::default(),
        qk_norm: false,
    }
}

/// What a weight is called, and the layer it belongs to.
type Key = (String, Option<usize>);

/// The weights of a model, by name and layer: shapes and elements.
#[derive(Clone)]
pub struct Tensors {
    dtype: DType,
    tensors: BTreeMap<Key, (Vec<usize>, Vec<f32>)>,
}

impl Tensors {
    /// Random weights, matrices stored as `dtype` and vectors as `f32`.
    pub fn random(config: &Config, dtype: DType, seed: u64) -> Tensors {
        let mut tensors = Tensors {
            dtype,
            tensors: BTreeMap::new(),
        };
        let mut state = seed;
        let mut draw = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        };
        let mut add = |name: &str, layer, shape: &[usize]| {
            let count = shape.iter().product();
            let is_gain = name.ends_with("gamma") || name.ends_with("norm");
            let scale = match shape {
                [_, inputs] => 1.7 / (*inputs as f32).sqrt(),
                _ => 0.3,
            };
            let one = if is_gain || name == names::FINAL_LN {
                1.0
            } else {
                0.0
            };
            let elements: Vec<f32> = (0..count)
                .map(|_| stored(dtype_of(shape, dtype), one + scale * draw()))
                .collect();
            let key = (name.to_owned(), layer);
            tensors.tensors.insert(key, (shape.to_vec(), elements));
        };
        let (d, inner, head) = (
            config.hidden_size,
            config.intermediate_size,
            config.head_dim,
        );
        let (q, kv, biases) = (config.q_width(), config.kv_width(), config.biases);
        add("token_emb", None, &[config.vocab_size, d]);
        add(names::FINAL_LN, None, &[d]);
        if !config.tie_word_embeddings {
            add(names::LM_HEAD, None, &[config.vocab_size, d]);
        }
        if config.rope.is_none() {
            add("pos_emb", None, &[config.context_window, d]);
        }
        for layer in (0..config.num_layers).map(Some) {
            let rows: [(&str, Vec<usize>, bool); 18] = [
                (names::LN1, vec![d], true),
                (names::WQ, vec![q, d], true),
                (names::WK, vec![kv, d], true),
                (names::WV, vec![kv, d], true),
                (names::BQ, vec![q], biases.q),
                (names::BK, vec![kv], biases.k),
                (names::BV, vec![kv], biases.v),
                (names::Q_NORM, vec![head], config.qk_norm),
                (names::K_NORM, vec![head], config.qk_norm),
                (names::WO, vec![d, q], true),
                (names::BO, vec![d], biases.o),
                (names::LN2, vec![d], true),
                (names::GATE, vec![inner, d], true),
                (names::UP, vec![inner, d], true),
                (names::DOWN, vec![d, inner], true),
                (names::GATE_BIAS, vec![inner], biases.gate_up),
                (names::UP_BIAS, vec![inner], biases.gate_up),
                (names::DOWN_BIAS, vec![d], biases.down),
            ];
            for (name, shape, _) in rows.iter().filter(|row| row.2) {
                add(name, layer, shape);
            }
        }
        tensors
    }

    /// The elements of a weight.
    pub fn get(&self, name: &str, layer: Option<usize>) -> &[f32] {
        &self.tensors[&(name.to_owned(), layer)].1
    }

    /// The elements of a weight, or as many zeros.
    pub fn get_or_zeros(&self, name: &str, layer: usize, count: usize) -> Vec<f32> {
        let found = self.tensors.get(&(name.to_owned(), Some(layer)));
        found.map_or_else(|| vec![0.0; count], |(_, elements)| elements.clone())
    }

    /// Without a weight.
    pub fn without(mut self, name: &str, layer: Option<usize>) -> Tensors {
        self.tensors.remove(&(name.to_owned(), layer));
        self
    }

    fn find(
        &self,
        name: &str,
        layer: Option<usize>,
    ) -> Result<&(Vec<usize>, Vec<f32>), WeightError> {
        let found = self.tensors.get(&(name.to_owned(), layer));
        found.ok_or_else(|| WeightError {
            name: name.to_owned(),
            layer,
            reason: "there is none".to_owned(),
        })
    }
}

fn dtype_of(shape: &[usize], dtype: DType) -> DType {
    if shape.len() > 1 { dtype } else { DType::F32 }
}

/// `x` rounded as it is stored.
fn stored(dtype: DType, x: f32) -> f32 {
    match dtype {
        DType::F16 => f16::from_f32(x).to_f32(),
        DType::BF16 => bf16::from_f32(x).to_f32(),
        _ => x,
    }
}

impl Weights for Tensors {
    fn dtype(&self, name: &str, layer: Option<usize>) -> Result<DType, WeightError> {
        let (shape, _) = self.find(name, layer)?;
        Ok(dtype_of(shape, self.dtype))
    }

    fn weight(
        &self,
        name: &str,
        layer: Option<usize>,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError> {
        let (own, elements) = self.find(name, layer)?;
        assert_eq!(own, shape, "{name}");
        let dtype = dtype_of(shape, self.dtype);
        let bytes: Vec<u8> = match dtype {
            DType::F16 => elements
                .iter()
                .flat_map(|&x| f16::from_f32(x).to_le_bytes())
                .collect(),
            DType::BF16 => elements
                .iter()
                .flat_map(|&x| bf16::from_f32(x).to_le_bytes())
                .collect(),
            _ => elements.iter().flat_map(|x| x.to_le_bytes()).collect(),
        };
        let bytes = Cow::Owned(bytes);
        Ok(Stored { dtype, bytes })
    }

    fn row(&self, name: &str, index: usize, row: &mut [f32]) -> Result<(), WeightError> {
        let (_, elements) = self.find(name, None)?;
        row.copy_from_slice(&elements[index * row.len()..][..row.len()]);
        Ok(())
    }
}

/// An engine for so many threads.
pub fn jit(threads: usize) -> Runner {
    let config = EngineConfig {
        threads: std::num::NonZero::new(threads),
        panels: PanelChoice::Shared,
        ..EngineConfig::default()
    };
    Runner::Jit(Arc::new(
        Engine::new(&config).expect("this machine's engine"),
    ))
}

/// A model of these weights.
pub fn model(config: Config, tensors: &Tensors, runner: Runner) -> Arc<Model<'static>> {
    let model = Model::new(config, Box::new(tensors.clone()), runner);
    Arc::new(model.unwrap_or_else(|why| panic!("{why}")))
}

/// The tokens of a sequence.
pub fn tokens(config: &Config, count: usize) -> Vec<u32> {
    let vocab = config.vocab_size;
    (0..count)
        .map(|at| ((at * at * 7 + 3 * at + 1) % vocab) as u32)
        .collect()
}
