//! Tiny models with random weights.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use half::{bf16, f16};
use mind_driver::engine::{Config as EngineConfig, Engine};
use mind_irv2::layout::buffers::{Buffer, Scope};
use mind_irv2::{Activation, Attributes, Config, Family, Layers, Parameters, Rope, RopeScaling};
use mind_jit::program::PanelChoice;
use mind_model::{Model, Runner, Stored, WeightError, Weights};
use mind_weights::{WeightType, decode_blocks};

/// Returns the shipped family called `name`.
pub fn family(name: &str) -> Family {
    Family::named(name).unwrap_or_else(|| panic!("no family is called {name}"))
}

/// Returns a small llama with grouped heads and extents that are not multiples of 16.
pub fn llama() -> Parameters {
    Parameters {
        family: family("llama"),
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
            factors: None,
            rotary_dims: 4,
        }),
        tie_word_embeddings: false,
        biases: family("llama").biases(&[]),
        experts: None,
        encoder: None,
        activation: Activation::Silu,
        attributes: Attributes::default(),
        sliding_layers: Layers::NONE,
        no_rope_layers: Layers::NONE,
    }
}

/// The name of a weight and the layer it belongs to.
pub type Key = (String, Option<usize>);

/// Returns the name of the weight `part` of an expert.
pub fn of_expert(part: &str, expert: usize) -> String {
    format!("{part}.{expert}")
}

/// The stored bytes of a weight, and the numbers that they decode to.
#[derive(Clone)]
pub struct Tensor {
    pub shape: Vec<usize>,
    pub stored: WeightType,
    pub bytes: Vec<u8>,
    pub elements: Vec<f32>,
}

/// The weights of a model, by name and layer.
#[derive(Clone)]
pub struct Tensors {
    pub tensors: BTreeMap<Key, Tensor>,
}

impl Tensors {
    /// Returns random weights. Matrices are stored as `matrices` if their rows are whole blocks, all other weights as
    /// `f32`.
    pub fn random(config: &Config, matrices: WeightType, seed: u64) -> Tensors {
        let mut tensors = Tensors {
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
            let one = if is_gain || name == "final_ln_weight" {
                1.0
            } else {
                0.0
            };
            let stored = match shape {
                [_, inputs] if matrices.row_bytes(*inputs).is_some() => matrices,
                _ => WeightType::F32,
            };
            let bytes = encoded(stored, count, (one, scale), &mut draw);
            let mut elements = vec![0.0; count];
            decode_blocks(stored, &bytes, &mut elements).expect("whole blocks");
            let tensor = Tensor {
                shape: shape.to_vec(),
                stored,
                bytes,
                elements,
            };
            tensors.tensors.insert((name.to_owned(), layer), tensor);
        };
        // The first weights have the numbers of a file that the command line tests read.
        let order = [
            "token_emb",
            "final_ln_weight",
            "lm_head_weight",
            "pos_emb",
            "ln1_gamma",
            "wq",
            "wk",
            "wv",
            "bq",
            "bk",
            "bv",
            "q_norm",
            "k_norm",
            "wo",
            "bo",
            "ln2_gamma",
            "w_gate",
            "w_up",
            "w2",
            "b_gate",
            "b_up",
            "b2",
        ];
        let place = |part: &str| order.iter().position(|own| *own == part);
        let buffers = config.family.buffers().iter().filter(|own| config.has(own));
        let mut parts: Vec<(&Buffer, &str)> = buffers
            .flat_map(|own| own.parts().iter().map(move |part| (own, part.as_str())))
            .filter(|(_, part)| *part != "lm_head_weight" || !config.tie_word_embeddings)
            .collect();
        parts.sort_by_key(|(_, part)| place(part).unwrap_or(order.len()));
        let of = |scope| parts.iter().filter(move |(own, _)| own.scope == scope);
        for (buffer, part) in of(Scope::Global) {
            add(part, None, &buffer.form(config).shape());
        }
        for layer in 0..config.num_layers {
            let own = config.of_layer(layer);
            for (buffer, part) in of(Scope::Layer) {
                if !own.has_in(buffer, Some(layer)) {
                    continue;
                }
                let shape = buffer.form(config).shape();
                match config.experts.filter(|_| buffer.is_of_experts()) {
                    Some(own) => (0..own.count)
                        .for_each(|expert| add(&of_expert(part, expert), Some(layer), &shape)),
                    None => add(part, Some(layer), &shape),
                }
            }
        }
        for layer in 0..Scope::Encoder.count(config) {
            for (buffer, part) in of(Scope::Encoder) {
                add(part, Some(layer), &buffer.form(config).shape());
            }
        }
        tensors
    }

    /// Returns the elements of a weight.
    pub fn get(&self, name: &str, layer: Option<usize>) -> &[f32] {
        &self.tensors[&(name.to_owned(), layer)].elements
    }

    /// Returns the elements of an optional weight.
    pub fn find_elements(&self, name: &str, layer: Option<usize>) -> Option<&[f32]> {
        let found = self.tensors.get(&(name.to_owned(), layer));
        found.map(|found| found.elements.as_slice())
    }

    /// Returns the elements of a weight, or `count` zeros if it is missing.
    pub fn get_or_zeros(&self, name: &str, layer: usize, count: usize) -> Vec<f32> {
        let found = self.tensors.get(&(name.to_owned(), Some(layer)));
        found.map_or_else(|| vec![0.0; count], |found| found.elements.clone())
    }

    /// Removes a weight.
    pub fn without(mut self, name: &str, layer: Option<usize>) -> Tensors {
        self.tensors.remove(&(name.to_owned(), layer));
        self
    }

    fn find(&self, name: &str, layer: Option<usize>) -> Result<&Tensor, WeightError> {
        let found = self.tensors.get(&(name.to_owned(), layer));
        found.ok_or_else(|| WeightError {
            name: name.to_owned(),
            layer,
            reason: "there is none".to_owned(),
        })
    }
}

/// Returns `count` encoded numbers around `one`, which differ from it by about `scale` at most.
fn encoded(
    stored: WeightType,
    count: usize,
    (one, scale): (f32, f32),
    draw: &mut dyn FnMut() -> f32,
) -> Vec<u8> {
    let mut numbers = |encode: &dyn Fn(f32) -> Vec<u8>| {
        let numbers = (0..count).map(|_| encode(one + scale * draw()));
        numbers.collect::<Vec<_>>().concat()
    };
    // The offsets of a block's `f16` scales, with the value for which its largest numbers are about `scale`.
    let scales: &[(usize, f32)] = match stored {
        WeightType::F32 => return numbers(&|x| x.to_le_bytes().to_vec()),
        WeightType::F16 => return numbers(&|x| f16::from_f32(x).to_le_bytes().to_vec()),
        WeightType::Bf16 => return numbers(&|x| bf16::from_f32(x).to_le_bytes().to_vec()),
        WeightType::Q4_0 => &[(0, 1.0 / 8.0)],
        WeightType::Q4_1 => &[(0, 2.0 / 15.0), (2, -1.0)],
        WeightType::Q5_0 => &[(0, 1.0 / 16.0)],
        WeightType::Q5_1 => &[(0, 2.0 / 31.0), (2, -1.0)],
        WeightType::Q8_0 => &[(0, 1.0 / 127.0)],
        WeightType::Q2K => &[(80, 2.0 / (15.0 * 3.0)), (82, 1.0 / 15.0)],
        WeightType::Q3K => &[(108, 1.0 / (32.0 * 4.0))],
        WeightType::Q4K => &[(0, 2.0 / (63.0 * 15.0)), (2, 1.0 / 63.0)],
        WeightType::Q5K => &[(0, 2.0 / (63.0 * 31.0)), (2, 1.0 / 63.0)],
        WeightType::Q6K => &[(208, 1.0 / (128.0 * 32.0))],
        WeightType::Iq4Nl => &[(0, 1.0 / 127.0)],
        WeightType::Mxfp4 => &[],
        WeightType::Tq1_0 => &[(52, 1.0)],
        WeightType::Tq2_0 => &[(64, 1.0)],
    };
    let mut bytes = Vec::new();
    for _ in 0..count / stored.block_elements() {
        let start = bytes.len();
        bytes.extend((0..stored.block_bytes()).map(|_| (128.0 * draw()) as i8 as u8));
        for &(at, of) in scales {
            let half = f16::from_f32(scale * of).to_le_bytes();
            bytes[start + at..start + at + 2].copy_from_slice(&half);
        }
        if stored == WeightType::Mxfp4 {
            // The largest number of a block is 6 times the power of two with this exponent.
            bytes[start] = (f32::to_bits(scale / 4.0) >> 23) as u8;
        }
    }
    bytes
}

impl Weights for Tensors {
    fn stored_as(&self, name: &str, layer: Option<usize>) -> Result<WeightType, WeightError> {
        let first = self.find(&of_expert(name, 0), layer);
        Ok(first.or_else(|_| self.find(name, layer))?.stored)
    }

    fn expert(
        &self,
        name: &str,
        layer: usize,
        expert: usize,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError> {
        self.weight(&of_expert(name, expert), Some(layer), shape)
    }

    fn weight(
        &self,
        name: &str,
        layer: Option<usize>,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError> {
        let tensor = self.find(name, layer)?;
        assert_eq!(tensor.shape, shape, "{name}");
        Ok(Stored {
            weight_type: tensor.stored,
            bytes: Cow::Borrowed(&tensor.bytes),
        })
    }

    fn row(&self, name: &str, index: usize, row: &mut [f32]) -> Result<(), WeightError> {
        let elements = &self.find(name, None)?.elements;
        row.copy_from_slice(&elements[index * row.len()..][..row.len()]);
        Ok(())
    }
}

/// Returns an engine with this many threads.
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

/// Compiles a model with these weights.
pub fn model(config: Config, tensors: &Tensors, runner: Runner) -> Arc<Model<'static>> {
    let model = Model::new(config, Box::new(tensors.clone()), runner);
    Arc::new(model.unwrap_or_else(|why| panic!("{why}")))
}

/// Returns the tokens of a sequence.
pub fn tokens(config: &Config, count: usize) -> Vec<u32> {
    let vocab = config.vocab_size;
    (0..count)
        .map(|at| ((at * at * 7 + 3 * at + 1) % vocab) as u32)
        .collect()
}
