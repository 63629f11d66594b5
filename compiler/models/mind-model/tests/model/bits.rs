//! A sequence has the same result, bit for bit, however it is computed.

use std::sync::Arc;

use mind_irv2::Config;
use mind_model::{Model, ModelOptions, Products, Runner, Session};
use mind_weights::WeightType;

use crate::random::{Tensors, jit, llama, model, tokens};

fn config() -> Config {
    Config::new(llama()).unwrap()
}

fn bits(logits: &[f32]) -> Vec<u32> {
    logits.iter().map(|x| x.to_bits()).collect()
}

/// Returns the bits of the logits after the last token, if `tokens` are run in passes of these lengths.
fn split(model: &Arc<Model<'static>>, tokens: &[u32], lengths: &[usize]) -> Vec<u32> {
    let mut session = Session::new(model.clone(), 400).unwrap();
    let (mut rest, mut last) = (tokens, Vec::new());
    for &length in lengths {
        let (now, later) = rest.split_at(length);
        last = session.prefill(now).unwrap();
        rest = later;
    }
    assert!(rest.is_empty() && session.len() == tokens.len());
    bits(&last)
}

#[test]
fn a_sequence_has_the_same_logits_however_it_is_cut() {
    let config = config();
    for stored in [WeightType::F32, WeightType::Bf16] {
        let model = model(config, &Tensors::random(&config, stored, 5), jit(1));
        let tokens = tokens(&config, 70);
        let whole = split(&model, &tokens, &[70]);
        assert_eq!(whole, split(&model, &tokens, &[69, 1]), "{stored}");
        assert_eq!(whole, split(&model, &tokens, &[1, 3, 66]), "{stored}");
        assert_eq!(whole, split(&model, &tokens, &[64, 5, 1]), "{stored}");
    }
}

#[test]
fn more_tokens_than_a_pass_takes_are_cut() {
    let config = config();
    let model = model(
        config,
        &Tensors::random(&config, WeightType::F32, 6),
        jit(1),
    );
    let tokens = tokens(&config, 300);
    let whole = split(&model, &tokens, &[300]);
    assert_eq!(whole, split(&model, &tokens, &[150, 149, 1]));
}

#[test]
fn threads_and_engines_change_no_bit() {
    let config = config();
    let tensors = Tensors::random(&config, WeightType::Bf16, 7);
    let prompt = tokens(&config, 6);
    let run = |runner: Runner| split(&model(config, &tensors, runner), &prompt, &[4, 1, 1]);
    let one = run(jit(1));
    assert_eq!(one, run(jit(2)));
    assert_eq!(one, run(Runner::Interpreter));
}

#[test]
fn quantised_weights_give_the_bits_of_decoding_first() {
    let mut parameters = llama();
    (parameters.hidden_size, parameters.intermediate_size) = (256, 256);
    (parameters.num_layers, parameters.head_dim) = (1, 32);
    (parameters.num_attention_heads, parameters.num_kv_heads) = (8, 2);
    let config = Config::new(parameters).unwrap();
    for stored in [
        WeightType::Q8_0,
        WeightType::Q5_0,
        WeightType::Q4K,
        WeightType::Q6K,
        WeightType::Q2K,
        WeightType::Q3K,
        WeightType::Iq4Nl,
        WeightType::Mxfp4,
        WeightType::Tq1_0,
        WeightType::Tq2_0,
    ] {
        let tensors = Tensors::random(&config, stored, 12);
        let prompt = tokens(&config, 12);
        let run = |runner: Runner, lengths: &[usize]| {
            split(&model(config, &tensors, runner), &prompt, lengths)
        };
        let whole = run(Runner::Interpreter, &[12]);
        assert_eq!(whole, run(jit(1), &[12]), "{stored}");
        assert_eq!(whole, run(jit(2), &[6, 3, 2, 1]), "{stored}");
    }
}

#[test]
fn products_of_integers_have_one_result_that_is_another_one() {
    let mut parameters = llama();
    (parameters.hidden_size, parameters.intermediate_size) = (256, 256);
    (parameters.num_layers, parameters.head_dim) = (1, 32);
    (parameters.num_attention_heads, parameters.num_kv_heads) = (8, 2);
    let config = Config::new(parameters).unwrap();
    for stored in [WeightType::Q8_0, WeightType::Q4K] {
        let tensors = Tensors::random(&config, stored, 12);
        let prompt = tokens(&config, 12);
        let run = |runner: Runner, products: Products, lengths: &[usize]| {
            let weights = Box::new(tensors.clone());
            let options = ModelOptions {
                products,
                ..ModelOptions::default()
            };
            let model = Model::with_options(config, weights, runner, options).unwrap();
            split(&Arc::new(model), &prompt, lengths)
        };
        let whole = run(Runner::Interpreter, Products::Integers, &[12]);
        assert_eq!(whole, run(jit(1), Products::Integers, &[12]), "{stored}");
        assert_eq!(
            whole,
            run(jit(2), Products::Integers, &[6, 3, 2, 1]),
            "{stored}"
        );
        let numbers = run(jit(1), Products::Numbers, &[12]);
        assert_ne!(whole, numbers, "{stored}");
        let pairs = whole.iter().zip(&numbers);
        let apart = pairs.map(|(&x, &y)| (f32::from_bits(x) - f32::from_bits(y)).abs());
        let largest = numbers
            .iter()
            .map(|&x| f32::from_bits(x).abs())
            .fold(0.0, f32::max);
        assert!(apart.fold(0.0, f32::max) < 0.1 * largest, "{stored}");
    }
}

#[test]
fn sessions_do_not_see_each_other() {
    let config = config();
    let model = model(
        config,
        &Tensors::random(&config, WeightType::F32, 8),
        jit(1),
    );
    let prompt = tokens(&config, 9);
    let alone = split(&model, &prompt, &[8, 1]);
    let mut other = Session::new(model.clone(), 100).unwrap();
    let mut session = Session::new(model.clone(), 9).unwrap();
    session.prefill(&prompt[..8]).unwrap();
    other.prefill(&[1, 2, 3]).unwrap();
    assert_eq!(bits(&session.decode(prompt[8]).unwrap()), alone);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(split(&model, &prompt, &[8, 1]), alone));
        }
    });
}

#[test]
fn all_logits_are_those_behind_each_token() {
    let config = config();
    let model = model(
        config,
        &Tensors::random(&config, WeightType::F32, 9),
        jit(1),
    );
    let prompt = tokens(&config, 5);
    let all = Session::new(model.clone(), 5)
        .unwrap()
        .prefill_all(&prompt)
        .unwrap();
    for (at, row) in all.chunks(config.vocab_size).enumerate() {
        assert_eq!(bits(row), split(&model, &prompt[..=at], &[at + 1]));
    }
}
