//! Invalid uses are rejected and leave sequences unchanged.

use mind_irv2::Config;
use mind_model::{Model, Session};
use mind_weights::WeightType;

use crate::random::{Tensors, jit, llama, model, tokens};

#[test]
fn a_refused_pass_leaves_the_sequence_as_it_was() {
    let config = Config::new(llama()).unwrap();
    let model = model(
        config,
        &Tensors::random(&config, WeightType::F32, 3),
        jit(1),
    );
    let prompt = tokens(&config, 5);
    let mut session = Session::new(model.clone(), 5).unwrap();
    session.prefill(&prompt[..4]).unwrap();
    let message = |found: Result<Vec<f32>, mind_model::ModelError>| found.unwrap_err().to_string();
    assert_eq!(
        message(session.prefill(&[1, 37])),
        "2 tokens do not fit: the cache has room for 5".replace('2', "6")
    );
    assert_eq!(
        message(session.decode(37)),
        "token 37 is outside of the vocabulary, which ends at 36"
    );
    assert_eq!(
        message(session.prefill(&[])),
        "no tokens: expected at least one"
    );
    assert_eq!(session.len(), 4);
    let last = session.decode(prompt[4]).unwrap();
    let mut whole = Session::new(model, 5).unwrap();
    assert_eq!(last, whole.prefill(&prompt).unwrap());
    assert_eq!(
        message(session.decode(0)),
        "6 tokens do not fit: the cache has room for 5"
    );
}

#[test]
fn a_capacity_is_within_the_context() {
    let config = Config::new(llama()).unwrap();
    let model = model(
        config,
        &Tensors::random(&config, WeightType::F32, 3),
        jit(1),
    );
    let refused = |capacity| {
        Session::new(model.clone(), capacity)
            .err()
            .unwrap()
            .to_string()
    };
    assert_eq!(
        refused(401),
        "a cache for 401 tokens exceeds the model's context of 400"
    );
    assert_eq!(refused(0), "1 tokens do not fit: the cache has room for 0");
}

#[test]
fn a_missing_weight_is_named() {
    let config = Config::new(llama()).unwrap();
    let tensors = Tensors::random(&config, WeightType::F32, 3);
    let refused = |name: &str, layer| {
        let weights = Box::new(tensors.clone().without(name, layer));
        Model::new(config, weights, jit(1))
            .err()
            .unwrap()
            .to_string()
    };
    assert_eq!(
        refused("wk", Some(1)),
        "weight `wk` of layer 1: there is none"
    );
    assert_eq!(
        refused("token_emb", None),
        "weight `token_emb`: there is none"
    );
}
