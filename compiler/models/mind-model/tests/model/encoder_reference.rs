//! Encoders in double precision, written only from the formulas.

use mind_irv2::{Attribute, Config};

use crate::random::Tensors;
use crate::reference::{activated, added, product, rotate};

/// Returns the hidden states of `tokens`, all of token type 0.
pub fn hidden(config: &Config, tensors: &Tensors, tokens: &[u32]) -> Vec<Vec<f64>> {
    let mut xs = embedded(config, tensors, tokens);
    if config.family.name() != "modernbert" {
        for layer in 0..config.num_layers {
            xs = post_norm_layer(config, tensors, layer, &xs);
        }
        return xs;
    }
    for layer in 0..config.num_layers {
        xs = pre_norm_layer(config, tensors, layer, &xs);
    }
    let last = |x: &Vec<f64>| {
        let names = ("final_ln_weight", "final_ln_bias");
        normed(config, tensors, names, None, x)
    };
    xs.iter().map(last).collect()
}

/// Returns the pooler's output for the first hidden state.
pub fn pooled(tensors: &Tensors, hidden: &[Vec<f64>]) -> Vec<f64> {
    let bias = tensors.find_elements("pooler_bias", None);
    let product = product(&hidden[0], tensors.get("pooler_weight", None), bias);
    product.iter().map(|x| x.tanh()).collect()
}

/// Returns the score of each class for the first hidden state.
pub fn scores(tensors: &Tensors, hidden: &[Vec<f64>]) -> Vec<f64> {
    let bias = tensors.find_elements("classifier_bias", None);
    product(&hidden[0], tensors.get("classifier_weight", None), bias)
}

/// Returns the hidden states of an image: of the class token and of each patch.
pub fn hidden_of_image(config: &Config, tensors: &Tensors, pixels: &[f32]) -> Vec<Vec<f64>> {
    let number = |attribute| config.attributes.get(attribute) as usize;
    let (size, patch) = (number(Attribute::ImageSize), number(Attribute::PatchSize));
    let (channels, width) = (number(Attribute::NumChannels), config.hidden_size);
    let weight = tensors.get("patch_weight", None);
    let bias = tensors.get("patch_bias", None);
    let position =
        |at: usize, element: usize| f64::from(tensors.get("pos_emb", None)[at * width + element]);
    let whole = tensors.get("cls_token", None).iter().enumerate();
    let whole = whole.map(|(element, x)| f64::from(*x) + position(0, element));
    let mut xs: Vec<Vec<f64>> = vec![whole.collect()];
    let grid = size / patch;
    for at in 0..grid * grid {
        let (down, across) = (at / grid * patch, at % grid * patch);
        let element = |element: usize| {
            let mut sum = f64::from(bias[element]);
            for channel in 0..channels {
                for row in 0..patch {
                    for column in 0..patch {
                        let w = ((element * channels + channel) * patch + row) * patch + column;
                        let pixel = (channel * size + down + row) * size + across + column;
                        sum += f64::from(weight[w]) * f64::from(pixels[pixel]);
                    }
                }
            }
            sum + position(1 + at, element)
        };
        xs.push((0..width).map(element).collect());
    }
    let norm = |x: &Vec<f64>, names: (&str, &str), layer: Option<usize>| {
        normed(config, tensors, names, layer, x)
    };
    for layer in 0..config.num_layers {
        let inner: Vec<Vec<f64>> = xs
            .iter()
            .map(|x| norm(x, ("ln1_gamma", "ln1_beta"), Some(layer)))
            .collect();
        let all = |weight: &str, bias: &str| -> Vec<Vec<f64>> {
            let rows = inner.iter();
            rows.map(|x| linear(tensors, layer, x, weight, bias))
                .collect()
        };
        let (q, k, v) = (all("wq", "bq"), all("wk", "bk"), all("wv", "bv"));
        let mixed = attended(config, layer, [&q, &k, &v]);
        let rows = xs.iter().zip(&mixed).map(|(x, mixed)| {
            let x = added(x, &linear(tensors, layer, mixed, "wo", "bo"));
            let inner = norm(&x, ("ln2_gamma", "ln2_beta"), Some(layer));
            let inner = linear(tensors, layer, &inner, "w1", "b1");
            let bent = inner.iter().map(|&x| activated(x, config.activation));
            let bent: Vec<f64> = bent.collect();
            added(&x, &linear(tensors, layer, &bent, "w2", "b2"))
        });
        xs = rows.collect();
    }
    let last = ("final_ln_weight", "final_ln_bias");
    xs.iter().map(|x| norm(x, last, None)).collect()
}

fn embedded(config: &Config, tensors: &Tensors, tokens: &[u32]) -> Vec<Vec<f64>> {
    let width = config.hidden_size;
    let row = |name: &str, at: usize| -> Vec<f64> {
        let table = tensors.get(name, None);
        let row = &table[at * width..(at + 1) * width];
        row.iter().map(|&x| f64::from(x)).collect()
    };
    // RoBERTa gives padding tokens the row before the first position, and does not count them as positions.
    let first = config.attributes.get(Attribute::PositionOffset) as usize;
    let mut seen = 0;
    let rows = tokens.iter().map(|&token| {
        let is_padding = first > 0 && token as usize == first - 1;
        seen += usize::from(!is_padding);
        let position = if is_padding {
            first - 1
        } else {
            first + seen - 1
        };
        let mut x = row("token_emb", token as usize);
        if config.attributes.get(Attribute::TypeVocabSize) > 0.0 {
            x = added(&x, &row("token_type_emb", 0));
        }
        if config.rope.is_none() {
            x = added(&x, &row("pos_emb", position));
        }
        normed(
            config,
            tensors,
            ("embed_ln_gamma", "embed_ln_beta"),
            None,
            &x,
        )
    });
    rows.collect()
}

/// Returns the layer norm of `x` with a gain and a shift.
pub fn normed(
    config: &Config,
    tensors: &Tensors,
    (gain, shift): (&str, &str),
    layer: Option<usize>,
    x: &[f64],
) -> Vec<f64> {
    let count = x.len() as f64;
    let mean = x.iter().sum::<f64>() / count;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    let deviation = (variance + config.rms_norm_eps).sqrt();
    let gain = tensors.get(gain, layer);
    let shift = tensors.find_elements(shift, layer);
    let element = |(at, x): (usize, &f64)| {
        let own = (x - mean) / deviation * f64::from(gain[at]);
        own + shift.map_or(0.0, |shift| f64::from(shift[at]))
    };
    x.iter().enumerate().map(element).collect()
}

fn linear(tensors: &Tensors, layer: usize, x: &[f64], weight: &str, bias: &str) -> Vec<f64> {
    let bias = tensors.find_elements(bias, Some(layer));
    product(x, tensors.get(weight, Some(layer)), bias)
}

/// Returns the attention result of each token.
fn attended(config: &Config, layer: usize, [q, k, v]: [&[Vec<f64>]; 3]) -> Vec<Vec<f64>> {
    let head = config.head_dim;
    let mix = |own: usize| {
        let sees = |other: usize| {
            let width = config.window(layer).unwrap_or(usize::MAX);
            own.abs_diff(other) < width
        };
        let seen: Vec<usize> = (0..k.len()).filter(|&other| sees(other)).collect();
        let of_head = |first: usize| -> Vec<f64> {
            let part = |row: &[f64]| row[first..first + head].to_vec();
            let score = |&at: &usize| -> f64 {
                let (q, k) = (part(&q[own]), part(&k[at]));
                q.iter().zip(&k).map(|(q, k)| q * k).sum::<f64>() / (head as f64).sqrt()
            };
            let scores: Vec<f64> = seen.iter().map(score).collect();
            let most = scores.iter().copied().fold(f64::MIN, f64::max);
            let powers: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
            let all: f64 = powers.iter().sum();
            let element = |at: usize| -> f64 {
                let terms = powers.iter().zip(&seen);
                terms
                    .map(|(p, &other)| p / all * v[other][first + at])
                    .sum()
            };
            (0..head).map(element).collect()
        };
        (0..config.num_attention_heads)
            .flat_map(|at| of_head(at * head))
            .collect()
    };
    (0..q.len()).map(mix).collect()
}

/// Applies rotary embeddings to the heads of queries and keys.
fn turn(config: &Config, layer: usize, rows: [&mut Vec<Vec<f64>>; 2]) {
    for (position, row) in rows.into_iter().flat_map(|all| all.iter_mut().enumerate()) {
        for head in row.chunks_exact_mut(config.head_dim) {
            rotate(config, layer, position, head, config.most_tokens());
        }
    }
}

/// Returns the hidden activations of a gated MLP.
fn gated(config: &Config, tensors: &Tensors, layer: usize, x: &[f64]) -> Vec<f64> {
    let gate = linear(tensors, layer, x, "w_gate", "b_gate");
    let up = linear(tensors, layer, x, "w_up", "b_up");
    let pairs = gate.iter().zip(&up);
    pairs
        .map(|(&g, u)| activated(g, config.activation) * u)
        .collect()
}

/// Runs a post-norm layer of BERT, or of Nomic BERT, which has rotary embeddings and a gated MLP.
fn post_norm_layer(
    config: &Config,
    tensors: &Tensors,
    layer: usize,
    xs: &[Vec<f64>],
) -> Vec<Vec<f64>> {
    let all = |weight: &str, bias: &str| -> Vec<Vec<f64>> {
        let rows = xs.iter();
        rows.map(|x| linear(tensors, layer, x, weight, bias))
            .collect()
    };
    let (mut q, mut k, v) = (all("wq", "bq"), all("wk", "bk"), all("wv", "bv"));
    if config.rope.is_some() {
        turn(config, layer, [&mut q, &mut k]);
    }
    let mixed = attended(config, layer, [&q, &k, &v]);
    let rows = xs.iter().zip(&mixed).map(|(x, mixed)| {
        let projected = linear(tensors, layer, mixed, "wo", "bo");
        let x = normed(
            config,
            tensors,
            ("ln1_gamma", "ln1_beta"),
            Some(layer),
            &added(x, &projected),
        );
        let is_gated = tensors.find_elements("w_gate", Some(layer)).is_some();
        let bent = if is_gated {
            gated(config, tensors, layer, &x)
        } else {
            let inner = linear(tensors, layer, &x, "w1", "b1");
            let bent = inner.iter().map(|&x| activated(x, config.activation));
            bent.collect()
        };
        let down = linear(tensors, layer, &bent, "w2", "b2");
        normed(
            config,
            tensors,
            ("ln2_gamma", "ln2_beta"),
            Some(layer),
            &added(&x, &down),
        )
    });
    rows.collect()
}

/// Runs a pre-norm layer of ModernBERT with a gated MLP. The first layer does not normalise before attention.
fn pre_norm_layer(
    config: &Config,
    tensors: &Tensors,
    layer: usize,
    xs: &[Vec<f64>],
) -> Vec<Vec<f64>> {
    let norm = |x: &Vec<f64>, names: (&str, &str)| normed(config, tensors, names, Some(layer), x);
    let inner: Vec<Vec<f64>> = match layer {
        0 => xs.to_vec(),
        _ => xs
            .iter()
            .map(|x| norm(x, ("ln1_gamma", "ln1_beta")))
            .collect(),
    };
    let all = |weight: &str, bias: &str| -> Vec<Vec<f64>> {
        let rows = inner.iter();
        rows.map(|x| linear(tensors, layer, x, weight, bias))
            .collect()
    };
    let (mut q, mut k, v) = (all("wq", "bq"), all("wk", "bk"), all("wv", "bv"));
    turn(config, layer, [&mut q, &mut k]);
    let mixed = attended(config, layer, [&q, &k, &v]);
    let rows = xs.iter().zip(&mixed).map(|(x, mixed)| {
        let x = added(x, &linear(tensors, layer, mixed, "wo", "bo"));
        let inner = norm(&x, ("ln2_gamma", "ln2_beta"));
        let bent = gated(config, tensors, layer, &inner);
        added(&x, &linear(tensors, layer, &bent, "w2", "b2"))
    });
    rows.collect()
}
