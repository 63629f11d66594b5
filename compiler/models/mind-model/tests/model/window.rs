//! Sequences that are several windows long.

use std::sync::Arc;

use mind_irv2::graph::document::{self, Padding};
use mind_irv2::{Attribute, Config, Layers, Parameters};
use mind_model::{BeamSearch, Forced, Model, Runner, Session, Suppressed};
use mind_weights::WeightType;

use crate::document::{arrays, of, outputs};
use crate::random::{Tensors, jit, llama, model, tokens};

const WINDOW: usize = 70;

/// Rows that layers with a window keep; longer sequences move their rows.
const KEPT: usize = 512;

/// Returns a model with windows in some of its layers.
fn config(layers: &[usize]) -> Config {
    let mut parameters = Parameters {
        context_window: 2000,
        sliding_layers: Layers::of(layers.iter().copied()),
        ..llama()
    };
    let width = WINDOW as f64;
    parameters.attributes.set(Attribute::SlidingWindow, width);
    Config::new(parameters).expect("a model")
}

fn random(config: &Config) -> Tensors {
    Tensors::random(config, WeightType::F32, 41)
}

fn bits(logits: &[f32]) -> Vec<u32> {
    logits.iter().map(|x| x.to_bits()).collect()
}

/// Returns the bits of the logits after each piece of `length` tokens.
fn pieces(model: &Arc<Model<'static>>, tokens: &[u32], length: usize) -> Vec<Vec<u32>> {
    let mut session = Session::new(model.clone(), 2000).expect("a session");
    let pieces = tokens.chunks(length);
    pieces
        .map(|piece| bits(&session.prefill(piece).expect("logits")))
        .collect()
}

#[test]
fn what_windows_do_not_reach_is_forgotten_and_changes_no_bit() {
    for layers in [&[0][..], &[0, 1]] {
        let config = config(layers);
        let tensors = random(&config);
        let document = of(config, WeightType::F32);
        let prompt = tokens(&config, KEPT + 90);
        // A module has no cache, so it has all positions.
        let whole = document::model(&document, Padding::Stripped).expect("a module");
        let weights = arrays(&config, &tensors, 0.0);
        let expected = outputs(&whole, weights, &config, &prompt).swap_remove(0);
        let expected: Vec<Vec<u32>> = expected.chunks(config.vocab_size).map(bits).collect();
        let check = |runner: Runner, length: usize| {
            let model = model(config, &tensors, runner);
            let mut last = 0;
            for found in pieces(&model, &prompt, length) {
                last = (last + length).min(prompt.len());
                assert!(
                    found == expected[last - 1],
                    "{length} a piece, {last} tokens"
                );
            }
        };
        for length in [1, 7, 64, prompt.len()] {
            check(jit(1), length);
        }
        check(Runner::Interpreter, 200);
    }
}

#[test]
fn caches_whose_rows_have_moved_fork_and_go_back() {
    let config = config(&[0]);
    let model = model(config, &random(&config), jit(1));
    let prompt = tokens(&config, KEPT + 50);
    let expected = pieces(&model, &prompt, prompt.len());
    let mut session = Session::new(model, 2000).expect("a session");
    session.prefill(&prompt[..KEPT + 40]).expect("logits");
    let mut other = session.fork().expect("a cache");
    other.prefill(&[1, 2, 3]).expect("logits");
    let end = |session: &mut Session<'_>| {
        let rest = session.len();
        bits(&session.prefill(&prompt[rest..]).expect("logits"))
    };
    assert_eq!(end(&mut session), expected[0]);
    // Going back by 64 tokens is possible in each of the sequences.
    assert_eq!(other.truncate(KEPT - 21), KEPT - 21);
    assert_eq!(end(&mut other), expected[0]);
    for at in KEPT + 50..KEPT + 200 {
        other
            .decode((at % config.vocab_size) as u32)
            .expect("logits");
    }
    // Positions that queries would need there have been evicted.
    assert_eq!((other.truncate(KEPT), other.len()), (0, 0));
    assert_eq!(end(&mut other), expected[0]);
}

#[test]
fn beams_find_the_same_in_caches_whose_rows_move() {
    let config = config(&[1]);
    let model = model(config, &random(&config), jit(1));
    let prompt = tokens(&config, 440);
    let found = [490, 2000].map(|capacity| {
        let search = BeamSearch {
            beams: 3,
            tokens: 30,
            ends: &[],
            forced: Forced::default(),
            suppressed: &Suppressed::default(),
            repetition_penalty: 1.5,
        };
        let session = Session::new(model.clone(), capacity).expect("a session");
        search.run(session, &prompt).expect("tokens")
    });
    assert_eq!(found[0], found[1]);
}

#[test]
fn layers_with_a_window_take_the_memory_that_it_needs() {
    let bytes = |layers: &[usize], capacity: usize| {
        let config = config(layers);
        let model = model(config, &random(&config), jit(1));
        let session = Session::new(model, capacity).expect("a session");
        session.cache_bytes() / (8 * config.kv_width() as u64)
    };
    assert_eq!(bytes(&[], 2000), 2 * 2048);
    assert_eq!(bytes(&[0], 2000), 2048 + KEPT as u64);
    assert_eq!(bytes(&[0, 1], 2000), 2 * KEPT as u64);
    // A shorter sequence only has the rows that it needs.
    assert_eq!(bytes(&[0, 1], 300), 2 * 320);
}
