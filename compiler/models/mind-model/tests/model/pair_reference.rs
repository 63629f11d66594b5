//! Encoder-decoders in double precision, written only from the formulas.

use mind_irv2::{Attribute, Config};

use crate::bart_reference;
use crate::random::Tensors;
use crate::reference::{activated, added, product};

pub type Row = Vec<f64>;

pub fn numbers(own: &[f32]) -> Row {
    own.iter().map(|&x| f64::from(x)).collect()
}

fn normed(x: &[f64], gain: &[f32], eps: f64) -> Row {
    let mean = x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64;
    let r = 1.0 / (mean + eps).sqrt();
    let pairs = x.iter().zip(numbers(gain));
    pairs.map(|(x, gain)| x * r * gain).collect()
}

/// Returns the T5 distance class of a key `ahead` positions after its query.
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
    // In the configurations of the tests, no distance is close to the boundary of a class.
    let further = (share * (own - short) as f64 + 1e-6).floor() as i64;
    (above + (short + further).min(own - 1)) as usize
}

/// Parameters of a layer's attention.
#[derive(Clone, Copy)]
pub struct Looking<'t> {
    pub heads: usize,
    pub width: usize,
    pub scale: f64,
    /// The biases of distances, `[classes, heads]`, and whether later positions are visible.
    pub distances: Option<(&'t [f32], bool)>,
    pub is_causal: bool,
    pub classes: i64,
    pub longest: f64,
}

impl Looking<'_> {
    pub fn mixed(&self, at: usize, q: &[f64], keys: &[Row], values: &[Row]) -> Row {
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

/// Runs the layers whose weight names start with `prefix`; a decoder also attends to `said`.
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
            let rows = rows.iter();
            rows.map(|row| product(row, weight(name), None)).collect()
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
            *row = added(row, &product(&mixed, weight("wo"), None));
        }
        let mut last = "ln2_gamma";
        if let Some(said) = said {
            let q = all(&normal(&x, "ln2_gamma"), "cross_wq");
            let [keys, values] = ["cross_wk", "cross_wv"].map(|name| all(said, name));
            for (at, row) in x.iter_mut().enumerate() {
                let mixed = across.mixed(at, &q[at], &keys, &values);
                *row = added(row, &product(&mixed, weight("cross_wo"), None));
            }
            last = "ln3_gamma";
        }
        let inputs = normal(&x, last);
        for (row, y) in x.iter_mut().zip(inputs) {
            let bent = |name: &str| -> Row {
                let all = product(&y, weight(name), None).into_iter();
                all.map(|x| activated(x, config.activation)).collect()
            };
            let inner = if number(Attribute::GatedAct) > 0.0 {
                let (gate, up) = (bent("w_gate"), product(&y, weight("w_up"), None));
                gate.iter().zip(&up).map(|(x, y)| x * y).collect()
            } else {
                bent("w_in")
            };
            *row = added(row, &product(&inner, weight("w2"), None));
        }
    }
    let gain = tensors.get(&format!("{prefix}final_ln_weight"), None);
    x.iter().map(|row| normed(row, gain, eps)).collect()
}

/// Returns the logits after each of `tokens`, given the encoder input `text`.
pub fn logits(config: &Config, tensors: &Tensors, text: &[u32], tokens: &[u32]) -> Row {
    let encoder = config.encoder().expect("an encoder");
    let layers = match config.family.name() {
        "t5" => layers,
        _ => bart_reference::layers,
    };
    let said = layers(&encoder, tensors, "enc_", text, None);
    logits_behind(
        config,
        tensors,
        layers(config, tensors, "", tokens, Some(&said)),
    )
}

/// Returns the logits for the rows of the last layer.
pub fn logits_behind(config: &Config, tensors: &Tensors, rows: Vec<Row>) -> Row {
    let head = if config.tie_word_embeddings {
        "token_emb"
    } else {
        "lm_head_weight"
    };
    let scale = config.attributes.get(Attribute::LogitScale);
    let (head, bias) = (
        tensors.get(head, None),
        tensors.find_elements("final_logits_bias", None),
    );
    let logits = rows.iter().flat_map(|row| product(row, head, bias));
    logits.map(|x| x * scale).collect()
}
