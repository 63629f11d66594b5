//! BART, mBART, Pegasus and Whisper in double precision, written only from the formulas.

use mind_irv2::{Attribute, Config};

use crate::encoder_reference::normed;
use crate::pair_reference::{Looking, Row, numbers};
use crate::random::Tensors;
use crate::reference::{activated, added, product};

/// Runs the layers whose weight names start with `prefix`; a decoder also attends to `said`.
pub fn layers(
    config: &Config,
    tensors: &Tensors,
    prefix: &str,
    tokens: &[u32],
    said: Option<&[Row]>,
) -> Vec<Row> {
    let name = config.family.name();
    // Pegasus and Whisper do not normalise embeddings, and their position table has no unused rows at the start.
    let has_table_of_two_more = !["pegasus", "whisper"].contains(&name);
    let normal = |gain: &str, shift: &str, layer: Option<usize>, rows: &[Row]| -> Vec<Row> {
        let names = (format!("{prefix}{gain}"), format!("{prefix}{shift}"));
        let names = (names.0.as_str(), names.1.as_str());
        let rows = rows.iter();
        rows.map(|row| normed(config, tensors, names, layer, row))
            .collect()
    };
    let width = config.hidden_size;
    let row = |name: &str, at: usize| numbers(&tensors.get(name, None)[at * width..][..width]);
    let scale = config.attributes.get(Attribute::EmbeddingScale);
    let embedded = tokens.iter().enumerate().map(|(at, &token)| {
        let token = row("token_emb", token as usize);
        let token: Row = token.iter().map(|x| x * scale).collect();
        let at = if has_table_of_two_more { at + 2 } else { at };
        added(&token, &row(&format!("{prefix}pos_emb"), at))
    });
    let mut x: Vec<Row> = embedded.collect();
    if has_table_of_two_more {
        x = normal("embed_ln_gamma", "embed_ln_beta", None, &x);
    }
    stack(config, tensors, prefix, x, said)
}

/// Runs the layers on embedded rows.
pub fn stack(
    config: &Config,
    tensors: &Tensors,
    prefix: &str,
    mut x: Vec<Row>,
    said: Option<&[Row]>,
) -> Vec<Row> {
    // BART is post-norm; the others are pre-norm with a final normalisation.
    let is_before = config.family.name() != "bart";
    let normal = |gain: &str, shift: &str, layer: Option<usize>, rows: &[Row]| -> Vec<Row> {
        let names = (format!("{prefix}{gain}"), format!("{prefix}{shift}"));
        let names = (names.0.as_str(), names.1.as_str());
        let rows = rows.iter();
        rows.map(|row| normed(config, tensors, names, layer, row))
            .collect()
    };
    let own = Looking {
        heads: config.num_attention_heads,
        width: config.head_dim,
        scale: 1.0 / (config.head_dim as f64).sqrt(),
        distances: None,
        is_causal: said.is_some(),
        classes: 0,
        longest: 0.0,
    };
    let across = Looking {
        is_causal: false,
        ..own
    };
    for layer in 0..config.num_layers {
        let all = |rows: &[Row], weight: &str, bias: &str| -> Vec<Row> {
            let weight = tensors.get(&format!("{prefix}{weight}"), Some(layer));
            // Key projections of Whisper have no bias.
            let bias = tensors.find_elements(&format!("{prefix}{bias}"), Some(layer));
            let rows = rows.iter();
            rows.map(|row| product(row, weight, bias)).collect()
        };
        let norm = |at: usize, rows: &[Row]| {
            let (gain, shift) = (format!("ln{at}_gamma"), format!("ln{at}_beta"));
            normal(&gain, &shift, Some(layer), rows)
        };
        // Adds the result of `make` to the residual stream.
        let step = |at: usize, x: &mut Vec<Row>, make: &dyn Fn(&[Row]) -> Vec<Row>| {
            let made = if is_before {
                make(&norm(at, x))
            } else {
                make(x)
            };
            let sums: Vec<Row> = x.iter().zip(&made).map(|(x, y)| added(x, y)).collect();
            *x = if is_before { sums } else { norm(at, &sums) };
        };
        let mixed = |looking: Looking<'_>, [q, keys, values]: [Vec<Row>; 3]| -> Vec<Row> {
            let queries = q.iter().enumerate();
            let rows = queries.map(|(at, q)| looking.mixed(at, q, &keys, &values));
            rows.collect()
        };
        step(1, &mut x, &|rows| {
            let pairs = [("wq", "bq"), ("wk", "bk"), ("wv", "bv")];
            let looked = pairs.map(|(weight, bias)| all(rows, weight, bias));
            all(&mixed(own, looked), "wo", "bo")
        });
        if let Some(said) = said {
            step(2, &mut x, &|rows| {
                let q = all(rows, "cross_wq", "cross_bq");
                let keys = all(said, "cross_wk", "cross_bk");
                let values = all(said, "cross_wv", "cross_bv");
                all(&mixed(across, [q, keys, values]), "cross_wo", "cross_bo")
            });
        }
        let last = if said.is_some() { 3 } else { 2 };
        step(last, &mut x, &|rows| {
            let mut inner = all(rows, "w1", "b1");
            let elements = inner.iter_mut().flatten();
            elements.for_each(|x| *x = activated(*x, config.activation));
            all(&inner, "w2", "b2")
        });
    }
    if is_before {
        x = normal("final_ln_weight", "final_ln_bias", None, &x);
    }
    x
}
