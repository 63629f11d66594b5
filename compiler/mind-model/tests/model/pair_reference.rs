//! Logits of encoder-decoders in double precision, from the formulas.

use mind_irv2::{Activation, Attribute, Config};

use crate::random::Tensors;

type Row = Vec<f64>;

fn numbers(own: &[f32]) -> Row {
    own.iter().map(|&x| f64::from(x)).collect()
}

/// `x Wᵀ`.
fn product(x: &[f64], weight: &[f32]) -> Row {
    let rows = weight.chunks(x.len());
    let dot = |row: &[f32]| row.iter().zip(x).map(|(&w, x)| f64::from(w) * x).sum();
    rows.map(dot).collect()
}

fn normed(x: &[f64], gain: &[f32], eps: f64) -> Row {
    let mean = x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64;
    let r = 1.0 / (mean + eps).sqrt();
    let pairs = x.iter().zip(numbers(gain));
    pairs.map(|(x, gain)| x * r * gain).collect()
}

fn added(x: &[f64], y: &[f64]) -> Row {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

/// The class of a key `ahead` positions further on.
fn class(ahead: i64, is_both: bool, classes: i64, longest: f64) -> usize {
    let own = if is_both { classes / 2 } else { classes };
    let above = if is_both && ahead > 0 { own } else { 0 };
    let distance = if is_both {
        ahead.abs()
    } else {
        (-ahead).max(0)
    };
    let short = own / 2;
    if distance < short {
        return (above + distance) as usize;
    }
    let share = (distance as f64 / short as f64).ln() / (longest / short as f64).ln();
    // Halves of a class are far from each other in the configurations of the tests.
    let further = (share * (own - short) as f64 + 1e-6).floor() as i64;
    (above + (short + further).min(own - 1)) as usize
}

/// How the heads of a layer look at rows.
struct Looking<'t> {
    heads: usize,
    width: usize,
    scale: f64,
    /// What distances add, a row for each class, and whether positions behind are seen.
    distances: Option<(&'t [f32], bool)>,
    is_causal: bool,
    classes: i64,
    longest: f64,
}

impl Looking<'_> {
    fn mixed(&self, at: usize, q: &[f64], keys: &[Row], values: &[Row]) -> Row {
        let seen = if self.is_causal { at + 1 } else { keys.len() };
        let mut mixed = Vec::new();
        for head in 0..self.heads {
            let part = head * self.width..(head + 1) * self.width;
            let score = |key: usize| {
                let pairs = q[part.clone()].iter().zip(&keys[key][part.clone()]);
                let dot: f64 = pairs.map(|(x, y)| x * y).sum();
                let added = self.distances.map_or(0.0, |(table, is_both)| {
                    let ahead = key as i64 - at as i64;
                    let class = class(ahead, is_both, self.classes, self.longest);
                    f64::from(table[class * self.heads + head])
                });
                dot * self.scale + added
            };
            let scores: Row = (0..seen).map(score).collect();
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let shares: Row = scores.iter().map(|x| (x - most).exp()).collect();
            let sum: f64 = shares.iter().sum();
            for element in part {
                let all = shares.iter().zip(values);
                mixed.push(all.map(|(share, row)| share * row[element]).sum::<f64>() / sum);
            }
        }
        mixed
    }
}

fn activated(x: f64, activation: Activation) -> f64 {
    match activation {
        Activation::Silu => x / (1.0 + (-x).exp()),
        Activation::GeluTanh => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            0.5 * x * (1.0 + inner.tanh())
        }
        Activation::Relu => x.max(0.0),
        Activation::Gelu | Activation::Relu2 => panic!("no configuration of the tests has it"),
    }
}

/// Runs the layers whose weights are called as `prefix` says; a decoder also looks at `said`.
fn layers(
    config: &Config,
    tensors: &Tensors,
    prefix: &str,
    tokens: &[u32],
    said: Option<&[Row]>,
) -> Vec<Row> {
    let number = |attribute| config.attributes.get(attribute);
    let scale = match number(Attribute::AttentionScale) {
        0.0 => 1.0 / (config.head_dim as f64).sqrt(),
        scale => scale,
    };
    let (table, width) = (tensors.get("token_emb", None), config.hidden_size);
    let row = |&token: &u32| numbers(&table[token as usize * width..][..width]);
    let mut x: Vec<Row> = tokens.iter().map(row).collect();
    let distances = tensors.get(&format!("{prefix}distance_emb"), None);
    let own = Looking {
        heads: config.num_attention_heads,
        width: config.head_dim,
        scale,
        distances: Some((distances, said.is_none())),
        is_causal: said.is_some(),
        classes: number(Attribute::RelativeBuckets) as i64,
        longest: number(Attribute::RelativeDistance),
    };
    let across = Looking {
        distances: None,
        is_causal: false,
        ..own
    };
    let eps = config.rms_norm_eps;
    for layer in 0..config.num_layers {
        let weight = |name: &str| tensors.get(&format!("{prefix}{name}"), Some(layer));
        let all = |rows: &[Row], name: &str| -> Vec<Row> {
            rows.iter().map(|row| product(row, weight(name))).collect()
        };
        let normal = |rows: &[Row], name: &str| -> Vec<Row> {
            rows.iter()
                .map(|row| normed(row, weight(name), eps))
                .collect()
        };
        let y = normal(&x, "ln1_gamma");
        let [q, keys, values] = ["wq", "wk", "wv"].map(|name| all(&y, name));
        for (at, row) in x.iter_mut().enumerate() {
            let mixed = own.mixed(at, &q[at], &keys, &values);
            *row = added(row, &product(&mixed, weight("wo")));
        }
        let mut last = "ln2_gamma";
        if let Some(said) = said {
            let q = all(&normal(&x, "ln2_gamma"), "cross_wq");
            let [keys, values] = ["cross_wk", "cross_wv"].map(|name| all(said, name));
            for (at, row) in x.iter_mut().enumerate() {
                let mixed = across.mixed(at, &q[at], &keys, &values);
                *row = added(row, &product(&mixed, weight("cross_wo")));
            }
            last = "ln3_gamma";
        }
        let inputs = normal(&x, last);
        for (row, y) in x.iter_mut().zip(inputs) {
            let bent = |name: &str| -> Row {
                let all = product(&y, weight(name)).into_iter();
                all.map(|x| activated(x, config.activation)).collect()
            };
            let inner = if number(Attribute::GatedAct) > 0.0 {
                let (gate, up) = (bent("w_gate"), product(&y, weight("w_up")));
                gate.iter().zip(&up).map(|(x, y)| x * y).collect()
            } else {
                bent("w_in")
            };
            *row = added(row, &product(&inner, weight("w2")));
        }
    }
    let gain = tensors.get(&format!("{prefix}final_ln_weight"), None);
    x.iter().map(|row| normed(row, gain, eps)).collect()
}

/// The logits behind each of `tokens`, once the model has read `text`.
pub fn logits(config: &Config, tensors: &Tensors, text: &[u32], tokens: &[u32]) -> Row {
    let encoder = config.encoder().expect("an encoder");
    let said = layers(&encoder, tensors, "enc_", text, None);
    let rows = layers(config, tensors, "", tokens, Some(&said));
    let head = if config.tie_word_embeddings {
        "token_emb"
    } else {
        "lm_head_weight"
    };
    let scale = config.attributes.get(Attribute::LogitScale);
    let logits = rows
        .iter()
        .flat_map(|row| product(row, tensors.get(head, None)));
    logits.map(|x| x * scale).collect()
}
