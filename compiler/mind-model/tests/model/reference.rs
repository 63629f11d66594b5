//! A decoder model in double precision, written from the formulas alone.

use mind_irv2::graph::parts::names;
use mind_irv2::{Config, RopeScaling};

use crate::random::Tensors;

/// The logits behind each of `tokens`, from position 0.
pub fn logits(config: &Config, tensors: &Tensors, tokens: &[u32]) -> Vec<Vec<f64>> {
    let d = config.hidden_size;
    let table = tensors.get("token_emb", None);
    let row = |table: &[f32], at: usize| -> Vec<f64> {
        table[at * d..(at + 1) * d]
            .iter()
            .map(|&x| f64::from(x))
            .collect()
    };
    let mut xs: Vec<Vec<f64>> = tokens
        .iter()
        .map(|&token| row(table, token as usize))
        .collect();
    if config.rope.is_none() {
        let positions = tensors.get("pos_emb", None);
        for (at, x) in xs.iter_mut().enumerate() {
            *x = added(x, &row(positions, at));
        }
    }
    for layer in 0..config.num_layers {
        xs = decoded(config, tensors, layer, &xs);
    }
    let head = if config.tie_word_embeddings {
        table
    } else {
        tensors.get(names::LM_HEAD, None)
    };
    let gain = tensors.get(names::FINAL_LN, None);
    let last = |x: &Vec<f64>| product(&normed(x, gain, config.rms_norm_eps), head, None);
    xs.iter().map(last).collect()
}

/// One layer.
fn decoded(config: &Config, tensors: &Tensors, layer: usize, xs: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let get = |name: &str| tensors.get(name, Some(layer));
    let linear = |x: &[f64], weight: &str, bias: &str| {
        let outputs = get(weight).len() / x.len();
        let bias = tensors.get_or_zeros(bias, layer, outputs);
        product(x, get(weight), Some(&bias))
    };
    let (head, eps) = (config.head_dim, config.rms_norm_eps);
    let (mut keys, mut values, mut ys) = (Vec::new(), Vec::new(), Vec::new());
    for (position, x) in xs.iter().enumerate() {
        let inner = normed(x, get(names::LN1), eps);
        let mut q = linear(&inner, names::WQ, names::BQ);
        let mut k = linear(&inner, names::WK, names::BK);
        let v = linear(&inner, names::WV, names::BV);
        for (all, gain) in [(&mut q, names::Q_NORM), (&mut k, names::K_NORM)] {
            for one in all.chunks_exact_mut(head) {
                if config.qk_norm {
                    one.copy_from_slice(&normed(one, get(gain), eps));
                }
                rotate(config, position, one);
            }
        }
        keys.push(k);
        values.push(v);
        let mut mixed = Vec::new();
        for (at, q) in q.chunks_exact(head).enumerate() {
            let first = at * config.num_kv_heads / config.num_attention_heads * head;
            let dot = |k: &Vec<f64>| -> f64 { q.iter().zip(&k[first..]).map(|(x, y)| x * y).sum() };
            let scores: Vec<f64> = keys.iter().map(|k| dot(k) / (head as f64).sqrt()).collect();
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
        let residual = added(x, &linear(&mixed, names::WO, names::BO));
        let inner = normed(&residual, get(names::LN2), eps);
        let gate = linear(&inner, names::GATE, names::GATE_BIAS);
        let up = linear(&inner, names::UP, names::UP_BIAS);
        let gated = gate
            .iter()
            .zip(&up)
            .map(|(g, u)| g / (1.0 + (-g).exp()) * u);
        let down = linear(&gated.collect::<Vec<_>>(), names::DOWN, names::DOWN_BIAS);
        ys.push(added(&residual, &down));
    }
    ys
}

fn added(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

fn normed(x: &[f64], gain: &[f32], eps: f64) -> Vec<f64> {
    let mean = x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64;
    let r = 1.0 / (mean + eps).sqrt();
    x.iter()
        .zip(gain)
        .map(|(x, &gain)| x * r * f64::from(gain))
        .collect()
}

/// `W x + b` with `W` row-major.
fn product(x: &[f64], weight: &[f32], bias: Option<&[f32]>) -> Vec<f64> {
    let rows = weight.chunks_exact(x.len()).enumerate();
    rows.map(|(at, row)| {
        let sum: f64 = x.iter().zip(row).map(|(x, &w)| x * f64::from(w)).sum();
        sum + bias.map_or(0.0, |bias| f64::from(bias[at]))
    })
    .collect()
}

/// Turns element `i` and `i + half` of the rotated part of a head by the angle of pair `i`.
fn rotate(config: &Config, position: usize, x: &mut [f64]) {
    let Some(rope) = config.rope else { return };
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
        };
        let divisor = rope.factors.map_or(1.0, |own| own.as_slice()[i]);
        let inv = inv / f64::from(divisor);
        let (sin, cos) = (position as f64 * inv).sin_cos();
        let (a, b) = (x[i], x[i + half]);
        x[i] = a * cos - b * sin;
        x[i + half] = a * sin + b * cos;
    }
}
