//! Existing files: the document dialect with the published excerpts, the dialect of the existing builder, and mixtures.

use mind_ir::random::Rng;
use mind_irv2::{Config, Parameters, ReadOptions, read, write};
use mind_json::{Limits, Member, Value, ValueKind, parse};

use crate::models::{document, family, parameters, variants};
use crate::round_trip::read_silently;

fn tree(text: &str) -> Value {
    parse(text, &Limits::default()).unwrap()
}

fn members(value: &mut Value) -> &mut Vec<Member> {
    match &mut value.kind {
        ValueKind::Object(members) => members,
        other => panic!("{other:?}"),
    }
}

fn elements(value: &mut Value) -> &mut Vec<Value> {
    match &mut value.kind {
        ValueKind::Array(elements) => elements,
        other => panic!("{other:?}"),
    }
}

/// Returns the member `key`, which must exist.
pub fn at<'v>(value: &'v mut Value, key: &str) -> &'v mut Value {
    let found = members(value).iter_mut().find(|member| member.key == key);
    &mut found.unwrap().value
}

/// A buffer with the gradient of an activation.
fn gradient(name: &str) -> Value {
    Value::object([
        ("name", Value::from(name)),
        ("scope", "layer".into()),
        ("role", "grad".into()),
        ("dtype", "fp32".into()),
        ("shape", Value::array(["tokens", "aligned_embed"])),
        ("condition", "training_enabled".into()),
    ])
}

/// Converts a document to the dialect of the existing builder, each field with a probability of `often` in 8.
fn as_code(text: &str, config: &Config, random: &mut Rng, often: usize) -> String {
    let mut root = tree(text);
    let mut yes = || random.below(8) < often;
    for own in elements(at(&mut root, "buffers")) {
        let shape = elements(at(own, "shape"));
        let mut counts = Vec::new();
        for extent in shape.iter_mut() {
            let number = |key: &str| extent.get(key).unwrap().integer().unwrap() as usize;
            let (id, mult, div) = (number("dim"), number("mult"), number("div"));
            let dim = mind_irv2::layout::dims::Dim::of_id(id).unwrap();
            counts.push(dim.value(config, config.context_window) * mult / div);
            if yes() {
                *extent = Value::object([
                    ("dim", Value::from(dim.name())),
                    ("dim_id", id.into()),
                    ("mult", mult.into()),
                    ("div", div.into()),
                ]);
            } else if (mult, div) == (1, 1) && yes() {
                *extent = dim.name().into();
            }
        }
        if yes() {
            *at(own, "resolved_shape") = Value::array(counts);
        }
        let role = at(own, "role");
        if role.text() == Some("activation") && yes() {
            *role = ["input", "output", "scratch"][role.span.start as usize % 3].into();
        }
        let condition = at(own, "condition");
        if condition.text() == Some("!(rope_theta>0)") && yes() {
            *condition = "has_pos_emb || rope_disabled".into();
        } else if condition.text() == Some("rope_theta>0") && yes() {
            *condition = "rope_theta".into();
        }
        if yes() {
            members(own).push(Member::new("optional", 0usize));
        }
        if yes() {
            members(own).retain(|member| member.value != Value::NULL && !member.value.is_null());
        }
    }
    if yes() {
        elements(at(&mut root, "buffers")).extend(["d_input", "d_output"].map(gradient));
    }
    if yes() {
        elements(at(&mut root, "nodes"))
            .retain(|node| node.get("layer").unwrap().integer() != Some(-1));
    }
    for node in elements(at(&mut root, "nodes")) {
        if yes() {
            let op = at(node, "op").clone();
            *at(node, "kernel") = op;
        }
        if yes() {
            let condition = at(node, "condition");
            if condition.is_null() {
                *condition = "mode==prefill || mode==decode".into();
            }
        }
        if yes() {
            members(node).push(Member::new("kernel_dtype", "bf16"));
        }
        if yes() {
            elements(at(node, "bindings")).reverse();
        }
    }
    let config = members(at(&mut root, "config"));
    config.retain(|member| member.key != "head_dim");
    if yes() {
        members(&mut root).rotate_left(3);
    }
    root.print()
}

#[test]
fn the_builders_dialect_and_mixtures_give_the_same_model() {
    let mut random = Rng::new(11);
    for parameters in variants() {
        let own = document(parameters);
        let text = write(&own);
        for often in [8, 8, 4, 4, 4, 2] {
            let code = as_code(&text, &own.config, &mut random, often);
            assert_eq!(write(&read_silently(&code)), text);
        }
    }
}

/// Returns the published example: Qwen2-0.5B, with a table that lacks three dimensions.
fn published() -> String {
    let own = document(Parameters {
        num_layers: 24,
        hidden_size: 896,
        intermediate_size: 4864,
        num_attention_heads: 14,
        num_kv_heads: 2,
        head_dim: 64,
        vocab_size: 151_936,
        context_window: 131_072,
        rope: parameters(family("qwen2"))
            .rope
            .map(|rope| mind_irv2::Rope {
                theta: 1e6,
                rotary_dims: 64,
                ..rope
            }),
        ..parameters(family("qwen2"))
    });
    let mut root = tree(&write(&own));
    *at(&mut root, "dimensions") = tree(
        r#"[{"id": 0, "name": "tokens", "value": 131072}, {"id": 1, "name": "embed", "value": 896},
            {"id": 2, "name": "aligned_embed", "value": 896}, {"id": 3, "name": "head_dim", "value": 64},
            {"id": 5, "name": "num_heads", "value": 14}, {"id": 6, "name": "num_kv_heads", "value": 2},
            {"id": 8, "name": "intermediate", "value": 4864}, {"id": 10, "name": "vocab", "value": 151936}]"#,
    );
    elements(at(&mut root, "buffers"))[0] = tree(
        r#"{"name": "token_emb", "scope": "global", "role": "weight", "dtype": "bf16",
            "shape": [{"dim": 10, "mult": 1, "div": 1}, {"dim": 2, "mult": 1, "div": 1}],
            "resolved_shape": [272269312], "alias_of": null, "condition": null}"#,
    );
    elements(at(&mut root, "nodes"))[1] = tree(
        r#"{"layer": 0, "op": "rmsnorm", "kernel": "rmsnorm_forward", "flags": 0, "condition": null,
            "bindings": [{"arg": "input", "buffer": "input"}, {"arg": "gamma", "buffer": "ln1_gamma"},
                         {"arg": "out", "buffer": "ln1_out"}, {"arg": "rstd", "buffer": "ln1_rstd"}]}"#,
    );
    root.print()
}

#[test]
fn the_published_excerpts_are_accepted() {
    let text = published();
    let own = read_silently(&text);
    assert_eq!(own.config.hidden_size, 896);
    let written = write(&own);
    assert!(written.contains("\"resolved_shape\": [272269312]"));
    assert_eq!(write(&read_silently(&written)), written);
}

#[test]
fn dropped_gradients_are_noted() {
    let document = document(parameters(family("llama")));
    let mut root = tree(&write(&document));
    let read_tree = |root: &Value| {
        let (read, found) = read(&root.print(), &ReadOptions::default()).expect("a document");
        assert!(read == document);
        found
            .iter()
            .map(|own| own.message.clone())
            .collect::<Vec<_>>()
    };
    assert!(read_tree(&root).is_empty());
    for (name, message) in [
        (
            "d_input",
            "buffers of role `grad` are dropped, 1 in all: models are run forward",
        ),
        (
            "d_output",
            "buffers of role `grad` are dropped, 2 in all: models are run forward",
        ),
    ] {
        elements(at(&mut root, "buffers")).push(gradient(name));
        assert_eq!(read_tree(&root), [message]);
    }
    elements(at(&mut root, "buffers")).push(gradient("d_nothing"));
    let found = read(&root.print(), &ReadOptions::default()).expect_err("an error");
    let message = found
        .iter()
        .map(|own| own.message.as_str())
        .collect::<String>();
    assert!(
        message.contains("has the gradient `d_nothing`"),
        "{message}"
    );
}

#[test]
fn a_decode_file_stores_one_token() {
    let own = document(parameters(family("llama")));
    let mut root = tree(&write(&own));
    *at(&mut elements(at(&mut root, "dimensions"))[0], "value") = 1usize.into();
    for own in elements(at(&mut root, "buffers")) {
        members(own).retain(|member| member.key != "resolved_shape");
    }
    assert_eq!(read_silently(&root.print()).config, own.config);
}

#[test]
fn what_stands_for_one_mode_alone_is_not_the_model() {
    let text = write(&document(parameters(family("llama"))));
    let mut root = tree(&text);
    *at(&mut elements(at(&mut root, "nodes"))[3], "condition") = "mode==prefill".into();
    let found = read(&root.print(), &ReadOptions::default()).unwrap_err();
    let first = found.first_error().unwrap();
    assert!(
        first.message.contains("layer 0 has no `rope`"),
        "{}",
        first.message
    );
}
