//! Decoders in double precision, written only from the formulas.

use mind_irv2::{Activation, Attribute, Config, Experts, RopeScaling, RotaryStyle};

use crate::random::{Tensors, of_expert};

/// The structure of a family's layers, according to its paper or its reference implementation.
struct Kind {
    /// Whether normalisations subtract the mean.
    centred: bool,
    /// Whether the inputs of attention and MLP are normalised.
    pre: bool,
    /// Whether their outputs are normalised.
    post: bool,
    /// Whether attention and MLP read the same input (parallel residuals).
    parallel: bool,
    /// Whether the MLP has a gate.
    gated: bool,
    /// How queries and keys are normalised: per head, or over all heads.
    heads: Heads,
}

#[derive(Clone, Copy, PartialEq)]
enum Heads {
    Plain,
    Each,
    Together,
}

fn kind(family: &str) -> Kind {
    let llama = Kind {
        centred: false,
        pre: true,
        post: false,
        parallel: false,
        gated: true,
        heads: Heads::Plain,
    };
    match family {
        "llama" | "qwen2" | "mistral" | "phi3" | "gemma" | "granite" | "smollm3" | "ernie4_5" => {
            llama
        }
        "arcee" => Kind {
            gated: false,
            ..llama
        },
        "mixtral" | "qwen2_moe" => llama,
        "qwen3" | "qwen3_moe" => Kind {
            heads: Heads::Each,
            ..llama
        },
        "gemma2" | "glm4" => Kind {
            post: true,
            ..llama
        },
        "gemma3_text" => Kind {
            post: true,
            heads: Heads::Each,
            ..llama
        },
        "olmo2" => Kind {
            pre: false,
            post: true,
            heads: Heads::Together,
            ..llama
        },
        "starcoder2" => Kind {
            centred: true,
            gated: false,
            ..llama
        },
        "stablelm" => Kind {
            centred: true,
            ..llama
        },
        "gpt2" | "bloom" | "mpt" => Kind {
            centred: true,
            gated: false,
            ..llama
        },
        // With parallel residuals the MLP reads a second normalisation of the layer's input.
        "gpt_neox" => Kind {
            centred: true,
            gated: false,
            ..llama
        },
        "phi" => Kind {
            centred: true,
            parallel: true,
            gated: false,
            ..llama
        },
        "cohere" | "cohere2" => Kind {
            centred: true,
            parallel: true,
            ..llama
        },
        other => panic!("no formulas for {other}"),
    }
}

/// Returns the logits after each of `tokens`, from position 0, in a sequence with a capacity of `context` positions.
pub fn logits(config: &Config, tensors: &Tensors, tokens: &[u32], context: usize) -> Vec<Vec<f64>> {
    let d = config.hidden_size;
    let table = tensors.get("token_emb", None);
    let row = |table: &[f32], at: usize| -> Vec<f64> {
        table[at * d..(at + 1) * d]
            .iter()
            .map(|&x| f64::from(x))
            .collect()
    };
    let scale = config.attributes.get(Attribute::EmbeddingScale);
    let mut xs: Vec<Vec<f64>> = tokens
        .iter()
        .map(|&token| {
            row(table, token as usize)
                .iter()
                .map(|x| x * scale)
                .collect()
        })
        .collect();
    if config.family.name() == "bloom" {
        let names = ("embed_ln_gamma", "embed_ln_beta");
        for x in &mut xs {
            *x = normed(config, tensors, names, None, x);
        }
    }
    let has_slopes = ["bloom", "mpt"].contains(&config.family.name());
    if config.rope.is_none() && !has_slopes {
        let positions = tensors.get("pos_emb", None);
        for (at, x) in xs.iter_mut().enumerate() {
            *x = added(x, &row(positions, at));
        }
    }
    for layer in 0..config.num_layers {
        xs = decoded(config, tensors, (layer, context), &xs);
    }
    let head = if config.tie_word_embeddings {
        table
    } else {
        tensors.get("lm_head_weight", None)
    };
    let bias = tensors.find_elements("lm_head_bias", None);
    let scale = config.attributes.get(Attribute::LogitScale);
    let cap = config.attributes.get(Attribute::FinalLogitSoftcap);
    let last = |x: &Vec<f64>| {
        let x = normed(
            config,
            tensors,
            ("final_ln_weight", "final_ln_bias"),
            None,
            x,
        );
        let logits = product(&x, head, bias);
        logits
            .iter()
            .map(|logit| capped(logit * scale, cap))
            .collect()
    };
    xs.iter().map(last).collect()
}

/// Runs one layer.
fn decoded(
    config: &Config,
    tensors: &Tensors,
    (layer, context): (usize, usize),
    xs: &[Vec<f64>],
) -> Vec<Vec<f64>> {
    let kind = kind(config.family.name());
    let get = |name: &str| tensors.get(name, Some(layer));
    let linear = |x: &[f64], weight: &str, bias: &str| {
        let outputs = get(weight).len() / x.len();
        let bias = tensors.get_or_zeros(bias, layer, outputs);
        product(x, get(weight), Some(&bias))
    };
    let norm = |x: &[f64], names: (&str, &str)| normed(config, tensors, names, Some(layer), x);
    let of = |attribute| config.attributes.get(attribute);
    let head = config.head_dim;
    let scale = match of(Attribute::AttentionScale) {
        0.0 => 1.0 / (head as f64).sqrt(),
        scale => scale,
    };
    let (mut keys, mut values, mut ys) = (Vec::new(), Vec::new(), Vec::new());
    for (position, x) in xs.iter().enumerate() {
        let inner = if kind.pre {
            norm(x, ("ln1_gamma", "ln1_beta"))
        } else {
            x.clone()
        };
        let mut q = linear(&inner, "wq", "bq");
        let mut k = linear(&inner, "wk", "bk");
        let v = linear(&inner, "wv", "bv");
        for (all, gain) in [(&mut q, "q_norm"), (&mut k, "k_norm")] {
            if kind.heads == Heads::Together {
                *all = norm(all, (gain, ""));
            }
            for one in all.chunks_exact_mut(head) {
                if kind.heads == Heads::Each {
                    one.copy_from_slice(&norm(one, (gain, "")));
                }
                rotate(config, layer, position, one, context);
            }
        }
        keys.push(k);
        values.push(v);
        let mut mixed = Vec::new();
        let hidden = config
            .window(layer)
            .map_or(0, |width| (position + 1).saturating_sub(width));
        for (at, q) in q.chunks_exact(head).enumerate() {
            let first = at * config.num_kv_heads / config.num_attention_heads * head;
            let slope = slope(config, at);
            let dot = |k: &Vec<f64>| -> f64 { q.iter().zip(&k[first..]).map(|(x, y)| x * y).sum() };
            let score = |(at, k): (usize, &Vec<f64>)| match at {
                at if at < hidden => f64::NEG_INFINITY,
                _ => {
                    let score = capped(dot(k) * scale, of(Attribute::AttnLogitSoftcap));
                    score - slope * (position - at) as f64
                }
            };
            let scores: Vec<f64> = keys.iter().enumerate().map(score).collect();
            let most = scores.iter().copied().fold(f64::MIN, f64::max);
            let powers: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
            let all: f64 = powers.iter().sum();
            mixed.extend((0..head).map(|i| {
                let terms = powers.iter().zip(&values);
                terms
                    .map(|(p, v): (_, &Vec<f64>)| p / all * v[first + i])
                    .sum::<f64>()
            }));
        }
        let share = of(Attribute::ResidualScale);
        let joined = |x: &[f64], y: &[f64], gain: &str| {
            let y = if kind.post {
                norm(y, (gain, ""))
            } else {
                y.to_vec()
            };
            added(x, &y.iter().map(|y| y * share).collect::<Vec<_>>())
        };
        let residual = joined(x, &linear(&mixed, "wo", "bo"), "post_attn_gamma");
        let inner = match &kind {
            Kind { parallel: true, .. } => inner,
            Kind { pre: true, .. } if of(Attribute::ParallelResidual) == 1.0 => {
                norm(x, ("ln2_gamma", "ln2_beta"))
            }
            Kind { pre: true, .. } => norm(&residual, ("ln2_gamma", "ln2_beta")),
            Kind { .. } => residual.clone(),
        };
        let bent = |x: &f64| activated(*x, config.activation);
        if let Some(experts) = config.experts.filter(|_| config.has_experts(layer)) {
            let made = mixed_experts(&experts, &inner, &linear, config.activation);
            ys.push(added(&residual, &made));
            continue;
        }
        let inner: Vec<f64> = if kind.gated {
            let gate = linear(&inner, "w_gate", "b_gate");
            let up = linear(&inner, "w_up", "b_up");
            gate.iter().zip(&up).map(|(g, u)| bent(g) * u).collect()
        } else {
            linear(&inner, "w1", "b1").iter().map(bent).collect()
        };
        let down = linear(&inner, "w2", "b2");
        ys.push(joined(&residual, &down, "post_mlp_gamma"));
    }
    ys
}

/// Returns the ALiBi slope of a head: powers of two, and for heads beyond the largest power of two in their number,
/// values halfway between.
fn slope(config: &Config, head: usize) -> f64 {
    if !["bloom", "mpt"].contains(&config.family.name()) {
        return 0.0;
    }
    let mut whole = 1;
    while 2 * whole <= config.num_attention_heads {
        whole *= 2;
    }
    let exponent = if head < whole {
        8.0 * (head + 1) as f64 / whole as f64
    } else {
        4.0 * (2 * (head - whole) + 1) as f64 / whole as f64
    };
    2f64.powf(-exponent)
}

/// Returns the product of a vector and a weight of a layer, plus a bias.
type Linear<'l> = dyn Fn(&[f64], &str, &str) -> Vec<f64> + 'l;

/// Returns the weighted sum of a token's experts: those with the largest router weights, the first ones of equals.
fn mixed_experts(
    experts: &Experts,
    x: &[f64],
    linear: &Linear<'_>,
    activation: Activation,
) -> Vec<f64> {
    let gated = |gate: &str, up: &str, down: &str| {
        let gate = linear(x, gate, "");
        let up = linear(x, up, "");
        let inner = gate.iter().zip(&up);
        let inner: Vec<f64> = inner.map(|(g, u)| activated(*g, activation) * u).collect();
        linear(&inner, down, "")
    };
    let scores = linear(x, "w_router", "");
    let all: f64 = scores.iter().map(|score| score.exp()).sum();
    let mut chosen: Vec<usize> = (0..experts.count).collect();
    chosen.sort_by(|&one, &other| scores[other].total_cmp(&scores[one]));
    chosen.truncate(experts.per_token);
    let share = |expert: usize| scores[expert].exp() / all;
    let sum: f64 = match experts.normalised {
        true => chosen.iter().map(|&expert| share(expert)).sum(),
        false => 1.0,
    };
    let mut y = vec![0.0; x.len()];
    for expert in chosen {
        let [gate, up, down] = ["we_gate", "we_up", "we2"].map(|own| of_expert(own, expert));
        let made = gated(&gate, &up, &down);
        for (y, made) in y.iter_mut().zip(made) {
            *y += share(expert) / sum * made;
        }
    }
    if experts.shared_width > 0 {
        let made = gated("ws_gate", "ws_up", "ws2");
        let score = linear(x, "shared_gate", "")[0];
        for (y, made) in y.iter_mut().zip(made) {
            *y += made / (1.0 + (-score).exp());
        }
    }
    y
}

pub fn activated(x: f64, activation: Activation) -> f64 {
    match activation {
        Activation::Silu => x / (1.0 + (-x).exp()),
        Activation::Gelu => x * normal_below(x),
        Activation::GeluTanh => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
            0.5 * x * (1.0 + inner.tanh())
        }
        Activation::Relu => x.max(0.0),
        Activation::Relu2 => x.max(0.0).powi(2),
    }
}

/// Returns the standard normal cumulative distribution at `x`, from the series of the integral.
fn normal_below(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for at in 1..200 {
        term *= x * x / (2.0 * f64::from(at) + 1.0);
        sum += term;
    }
    0.5 + sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

fn capped(x: f64, cap: f64) -> f64 {
    match cap {
        0.0 => x,
        cap => cap * (x / cap).tanh(),
    }
}

pub fn added(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

/// Returns the normalisation of `x` with a gain, and a shift if there is one.
fn normed(
    config: &Config,
    tensors: &Tensors,
    (gain, shift): (&str, &str),
    layer: Option<usize>,
    x: &[f64],
) -> Vec<f64> {
    let kind = kind(config.family.name());
    let count = x.len() as f64;
    let mean = if kind.centred {
        x.iter().sum::<f64>() / count
    } else {
        0.0
    };
    let square = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    let r = 1.0 / (square + config.rms_norm_eps).sqrt();
    let offset = config.attributes.get(Attribute::GammaOffset);
    let shift = tensors.find_elements(shift, layer);
    let gains = tensors.get(gain, layer).iter().enumerate();
    gains
        .map(|(at, &gain)| {
            let scaled = (x[at] - mean) * r * (f64::from(gain) + offset);
            scaled + shift.map_or(0.0, |shift| f64::from(shift[at]))
        })
        .collect()
}

/// Returns `W x + b` with row-major `W`.
pub fn product(x: &[f64], weight: &[f32], bias: Option<&[f32]>) -> Vec<f64> {
    let rows = weight.chunks_exact(x.len()).enumerate();
    rows.map(|(at, row)| {
        let sum: f64 = x.iter().zip(row).map(|(x, &w)| x * f64::from(w)).sum();
        sum + bias.map_or(0.0, |bias| f64::from(bias[at]))
    })
    .collect()
}

/// Rotates elements `i` and `i + half` of the rotary part of a head by the angle of pair `i`.
pub fn rotate(config: &Config, layer: usize, position: usize, x: &mut [f64], context: usize) {
    let Some(mut rope) = config.rope else { return };
    match config.rotary_style(layer) {
        RotaryStyle::Global => {}
        RotaryStyle::Local => {
            rope.theta = config.attributes.get(Attribute::LocalRopeTheta);
            rope.scaling = RopeScaling::None;
        }
        RotaryStyle::None => return,
    }
    let half = rope.rotary_dims / 2;
    for i in 0..half {
        let plain = rope.theta.powf(-2.0 * i as f64 / rope.rotary_dims as f64);
        let inv = match rope.scaling {
            RopeScaling::None => plain,
            RopeScaling::Linear { factor } => plain / factor,
            RopeScaling::Llama3 {
                factor,
                low_freq_factor: low,
                high_freq_factor: high,
                original_context,
            } => {
                let (context, wavelength) =
                    (original_context as f64, std::f64::consts::TAU / plain);
                let s = (context / wavelength - low) / (high - low);
                match wavelength {
                    long if long > context / low => plain / factor,
                    short if short < context / high => plain,
                    _ => plain * ((1.0 - s) / factor + s),
                }
            }
            RopeScaling::Dynamic { .. } => plain,
            RopeScaling::Yarn(own) => {
                let dims = rope.rotary_dims as f64;
                let pair_of = |turns: f64| {
                    let length = own.original_context as f64 / turns / std::f64::consts::TAU;
                    dims / 2.0 * length.ln() / rope.theta.ln()
                };
                let (mut low, mut high) = (pair_of(own.beta_fast), pair_of(own.beta_slow));
                if own.truncate {
                    (low, high) = (low.floor(), high.ceil());
                }
                let (low, high) = (low.max(0.0), high.min(dims - 1.0));
                let high = if low == high { high + 0.001 } else { high };
                let slow = ((i as f64 - low) / (high - low)).clamp(0.0, 1.0);
                plain * (slow / own.factor + 1.0 - slow)
            }
            RopeScaling::LongRope {
                short,
                long,
                original_context,
                ..
            } => {
                let own = if context > original_context {
                    long
                } else {
                    short
                };
                plain / f64::from(own.as_slice()[i])
            }
        };
        let divisor = rope.factors.map_or(1.0, |own| own.as_slice()[i]);
        let inv = inv / f64::from(divisor);
        let (sin, cos) = (position as f64 * inv).sin_cos();
        let (a, b) = (x[i], x[i + half]);
        let growth = rope.scaling.attention_factor();
        x[i] = growth * (a * cos - b * sin);
        x[i + half] = growth * (a * sin + b * cos);
    }
}
