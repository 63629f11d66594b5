//! One sequence has one result, bit for bit.

use std::sync::Arc;

use mind_ir::types::DType;
use mind_irv2::Config;
use mind_model::{Model, Runner, Session};

use crate::random::{Tensors, jit, llama, model, tokens};

fn config() -> Config {
    Config::new(llama()).unwrap()
}

fn bits(logits: &[f32]) -> Vec<u32> {
    logits.iter().map(|x| x.to_bits()).collect()
}

/// The bits of the logits behind the last of `tokens`, given in passes of these lengths.
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
    for dtype in [DType::F32, DType::BF16] {
        let model = model(config, &Tensors::random(&config, dtype, 5), jit(1));
        let tokens = tokens(&config, 70);
        let whole = split(&model, &tokens, &[70]);
        assert_eq!(whole, split(&model, &tokens, &[69, 1]), "{dtype}");
        assert_eq!(whole, split(&model, &tokens, &[1, 3, 66]), "{dtype}");
        assert_eq!(whole, split(&model, &tokens, &[64, 5, 1]), "{dtype}");
    }
}

#[test]
fn more_tokens_than_a_pass_takes_are_cut() {
    let config = config();
    let model = model(config, &Tensors::random(&config, DType::F32, 6), jit(1));
    let tokens = tokens(&config, 300);
    let whole = split(&model, &tokens, &[300]);
    assert_eq!(whole, split(&model, &tokens, &[150, 149, 1]));
}

#[test]
fn threads_and_engines_change_no_bit() {
    let config = config();
    let tensors = Tensors::random(&config, DType::BF16, 7);
    let prompt = tokens(&config, 6);
    let run = |runner: Runner| split(&model(config, &tensors, runner), &prompt, &[4, 1, 1]);
    let one = run(jit(1));
    assert_eq!(one, run(jit(2)));
    assert_eq!(one, run(Runner::Interpreter));
}

#[test]
fn sessions_do_not_see_each_other() {
    let config = config();
    let model = model(config, &Tensors::random(&config, DType::F32, 8), jit(1));
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
    let model = model(config, &Tensors::random(&config, DType::F32, 9), jit(1));
    let prompt = tokens(&config, 5);
    let all = Session::new(model.clone(), 5)
        .unwrap()
        .prefill_all(&prompt)
        .unwrap();
    for (at, row) in all.chunks(config.vocab_size).enumerate() {
        assert_eq!(bits(row), split(&model, &prompt[..=at], &[at + 1]));
    }
}
