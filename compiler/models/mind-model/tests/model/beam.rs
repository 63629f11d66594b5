//! Beam search against an exhaustive search.

use mind_irv2::{Config, Parameters};
use mind_model::{BeamSearch, Forced, Model, Session, Suppressed};
use mind_weights::WeightType;

use crate::random::{Tensors, jit, llama, model};

/// Vocabulary size of the small model.
const VOCAB: usize = 12;

fn small() -> Config {
    let parameters = Parameters {
        vocab_size: VOCAB,
        ..llama()
    };
    Config::new(parameters).expect("a model")
}

/// Returns every continuation by `left` more tokens, or up to an end token, with its total log probability.
fn all(session: &Session<'_>, logits: &[f32], left: usize, ends: &[u32]) -> Vec<(Vec<u32>, f64)> {
    let most = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let sum: f64 = logits.iter().map(|&x| (f64::from(x) - most).exp()).sum();
    let mut found = Vec::new();
    for (token, &logit) in logits.iter().enumerate() {
        let token = token as u32;
        let score = f64::from(logit) - most - sum.ln();
        if left == 1 || ends.contains(&token) {
            found.push((vec![token], score));
            continue;
        }
        let mut next = session.fork().expect("a cache");
        let logits = next.decode(token).expect("logits");
        for (tokens, behind) in all(&next, &logits, left - 1, ends) {
            found.push(([vec![token], tokens].concat(), score + behind));
        }
    }
    found
}

#[test]
fn as_many_beams_as_sequences_find_the_most_likely_one() {
    let config = small();
    let tensors = Tensors::random(&config, WeightType::F32, 71);
    let model = model(config, &tensors, jit(1));
    for (prompt, ends) in [
        ([1, 2], &[][..]),
        ([3, 4], &[5]),
        ([7, 1], &[0, 1, 2, 3, 4, 5]),
    ] {
        let mut session = Session::new(model.clone(), 8).expect("a session");
        let logits = session.prefill(&prompt).expect("logits");
        let sequences = all(&session, &logits, 3, ends);
        let score = |(tokens, sum): &(Vec<u32>, f64)| *sum / tokens.len() as f64;
        let best = sequences
            .iter()
            .max_by(|x, y| score(x).total_cmp(&score(y)));
        let search = BeamSearch {
            beams: VOCAB * VOCAB,
            tokens: 3,
            ends,
            forced: Forced::default(),
            suppressed: &Suppressed::default(),
            repetition_penalty: 1.0,
        };
        let empty = Session::new(model.clone(), 8).expect("a session");
        let found = search.run(empty, &prompt).expect("tokens");
        assert_eq!(Some(&found), best.map(|(tokens, _)| tokens), "{ends:?}");
    }
}

#[test]
fn one_beam_takes_the_most_likely_token_each_time() {
    let config = small();
    let tensors = Tensors::random(&config, WeightType::F32, 72);
    let model = model(config, &tensors, jit(1));
    let greedy = greedy(&model, &[1, 2, 3], 12);
    let suppressed = Suppressed::default();
    let search = |beams| BeamSearch {
        beams,
        tokens: 12,
        ends: &[],
        forced: Forced::default(),
        suppressed: &suppressed,
        repetition_penalty: 1.0,
    };
    let found = |beams| {
        let empty = Session::new(model.clone(), 14).expect("a session");
        search(beams).run(empty, &[1, 2, 3]).expect("tokens")
    };
    assert_eq!(found(1), greedy);
    // More beams find sequences that are more likely as a whole.
    let likelihood = |tokens: &[u32]| likelihood(&model, &[1, 2, 3], tokens);
    assert!(likelihood(&found(6)) >= likelihood(&greedy));
}

#[test]
fn forced_tokens_come_whatever_their_probability() {
    let config = small();
    let tensors = Tensors::random(&config, WeightType::F32, 74);
    let model = model(config, &tensors, jit(1));
    let search = |beams, first, last| {
        let search = BeamSearch {
            beams,
            tokens: 4,
            ends: &[],
            forced: Forced { first, last },
            suppressed: &Suppressed::default(),
            repetition_penalty: 1.0,
        };
        search.run(Session::new(model.clone(), 8).expect("a session"), &[3])
    };
    let behind = greedy(&model, &[3, 9], 2);
    let expected = [&[9], behind.as_slice(), &[5]].concat();
    assert_eq!(search(1, Some(9), Some(5)).expect("tokens"), expected);
    // The first and the last token are forced, and between them is the most likely pair of tokens.
    let found = search(VOCAB * VOCAB, Some(9), Some(5)).expect("tokens");
    let mut session = Session::new(model.clone(), 8).expect("a session");
    let logits = session.prefill(&[3, 9]).expect("logits");
    let sequences = all(&session, &logits, 2, &[]);
    let best = sequences.into_iter().max_by(|x, y| x.1.total_cmp(&y.1));
    assert_eq!(Some(found[1..3].to_vec()), best.map(|(tokens, _)| tokens));
    assert_eq!((found[0], found[3]), (9, 5));
    let outside = search(2, None, Some(12)).unwrap_err().to_string();
    assert_eq!(
        outside,
        "token 12 is outside of the vocabulary, which ends at 11"
    );
}

fn greedy(model: &std::sync::Arc<Model<'static>>, prompt: &[u32], count: usize) -> Vec<u32> {
    let mut session = Session::new(model.clone(), prompt.len() + count).expect("a session");
    let mut logits = session.prefill(prompt).expect("logits");
    let mut tokens = Vec::new();
    for _ in 0..count {
        let token = mind_model::largest(&logits);
        tokens.push(token);
        logits = session.decode(token).expect("logits");
    }
    tokens
}

fn likelihood(model: &std::sync::Arc<Model<'static>>, prompt: &[u32], tokens: &[u32]) -> f64 {
    let mut session = Session::new(model.clone(), prompt.len() + tokens.len()).expect("a session");
    let mut logits = session.prefill(prompt).expect("logits");
    let mut sum = 0.0;
    for &token in tokens {
        let all: f64 = logits.iter().map(|&x| f64::from(x).exp()).sum();
        sum += f64::from(logits[token as usize]) - all.ln();
        logits = session.decode(token).expect("logits");
    }
    sum
}

#[test]
fn a_session_forgets_and_forks() {
    let config = small();
    let tensors = Tensors::random(&config, WeightType::F32, 73);
    let model = model(config, &tensors, jit(1));
    let mut session = Session::new(model.clone(), 20).expect("a session");
    session.prefill(&[1, 2, 3]).expect("logits");
    let mut other = session.fork().expect("a cache");
    let expected = session.prefill(&[4, 5]).expect("logits");
    assert_eq!((session.len(), other.len(), other.capacity()), (5, 3, 20));
    // Forks are independent.
    other.prefill(&[9, 9, 9, 9]).expect("logits");
    assert_eq!((session.truncate(3), session.len()), (3, 3));
    assert_eq!(session.prefill(&[4, 5]).expect("logits"), expected);
    assert_eq!(other.truncate(3), 3);
    assert_eq!(other.prefill(&[4, 5]).expect("logits"), expected);
    // A length above the current one removes nothing.
    assert_eq!((other.truncate(100), other.len()), (5, 5));
}
