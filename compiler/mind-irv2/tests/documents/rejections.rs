//! Documents that are refused, with code, message and pointer.

use mind_irv2::{Family, ReadOptions, read, write};

use crate::models::{document, parameters};

/// What is wrong with the tiny Llama once `from` is replaced by `to`, wherever it stands: `code message @ pointer`.
fn errors(from: &str, to: &str) -> Vec<String> {
    let text = write(&document(parameters(Family::Llama)));
    let changed = text.replacen(from, to, 1);
    assert!(changed != text, "{from}");
    let found = read(&changed, &ReadOptions::default()).unwrap_err();
    let lines = found.iter().map(|own| {
        let pointer = own.context.iter().find(|(key, _)| *key == "pointer");
        let pointer = pointer.map_or("", |(_, pointer)| pointer.as_str());
        let code = own.code.map(|code| code.to_string()).unwrap_or_default();
        format!("{code} {} @ {pointer}", own.message)
    });
    lines.collect()
}

#[track_caller]
fn refused(from: &str, to: &str, expected: &str) {
    let found = errors(from, to);
    assert!(found.iter().any(|line| line == expected), "{found:#?}");
}

#[test]
fn documents_that_are_no_json() {
    let found = read("{\"version\": 2,}", &ReadOptions::default()).unwrap_err();
    assert_eq!(found.first_error().unwrap().span.start, 14);
    let found = read("[]", &ReadOptions::default()).unwrap_err();
    let message = &found.first_error().unwrap().message;
    assert_eq!(message, "a document is an object, found an array");
}

#[test]
fn top_level() {
    refused(
        "\"version\": 2",
        "\"version\": 2.0",
        "E4204 `version` is 2.0, expected 2 @ /version",
    );
    refused(
        "\"version\": 2",
        "\"version\": 3",
        "E4204 `version` is 3, expected 2 @ /version",
    );
    refused(
        "\"notes\"",
        "\"note\"",
        "E4203 the format has no key `note` here @ /note",
    );
    refused("\"nodes\"", "\"knots\"", "E4202 `nodes` is missing @ ");
}

#[test]
fn gradients_correspond_to_their_forward_buffers() {
    let gradient = |name: &str, scope: &str, shape: &str, sizes: &str| {
        let own = format!(
            r#""buffers": [{{"name": "{name}", "scope": "{scope}", "role": "grad", "dtype": "fp32", "shape": {shape}{sizes},
               "alias_of": null, "condition": "training_enabled"}}, "#
        );
        let text = write(&document(parameters(Family::Llama)));
        let changed = text.replacen("\"buffers\": [", &own, 1);
        assert!(changed != text);
        match read(&changed, &ReadOptions::default()) {
            Ok((read, _)) => {
                assert!(read == document(parameters(Family::Llama)));
                Vec::new()
            }
            Err(found) => found.iter().map(|own| own.message.clone()).collect(),
        }
    };
    let wq = r#"["num_heads", "aligned_head", "aligned_embed"]"#;
    assert_eq!(gradient("d_wq", "layer", wq, ""), [""; 0]);
    assert_eq!(
        gradient("d_wq", "layer", wq, r#", "resolved_shape": [4, 16, 32]"#),
        [""; 0]
    );
    assert_eq!(
        gradient("d_wq", "layer", wq, r#", "resolved_shape": [4, 16, 33]"#),
        [
            "`resolved_shape` of `d_wq` is [4, 16, 33], expected [8192] bytes or [4, 16, 32] elements"
        ]
    );
    for name in ["wq", "grad_wq", "d_", "d_nothing"] {
        assert_eq!(
            gradient(name, "layer", wq, "")[0],
            format!("no buffer of a decoder model has the gradient `{name}`")
        );
    }
    assert_eq!(
        gradient("d_wq", "global", wq, ""),
        ["`d_wq` has scope `global`, expected `layer`"]
    );
    assert_eq!(
        gradient("d_wq", "layer", r#"["tokens"]"#, ""),
        ["`d_wq` has the shape [tokens], expected [num_heads, aligned_head, aligned_embed]"]
    );
}

#[test]
fn a_flag_is_advised_where_the_tool_has_it() {
    let text = write(&document(parameters(Family::Llama))).replacen("\"notes\"", "\"note\"", 1);
    let help = |unknown_flag| {
        let options = ReadOptions {
            allow_unknown: false,
            unknown_flag,
        };
        let found = read(&text, &options).unwrap_err();
        found.first_error().and_then(|own| own.help.clone())
    };
    assert_eq!(
        help(Some("--allow-unknown")).as_deref(),
        Some("`--allow-unknown` lets keys of other tools stand")
    );
    assert!(help(None).is_some_and(|help| !help.contains("--")));
}

#[test]
fn hyperparameters() {
    refused(
        "\"num_layers\": 2",
        "\"num_layers\": 0",
        "E4205 `num_layers` is 0, expected 1 to 4096 @ /config/num_layers",
    );
    refused(
        "\"num_layers\": 2",
        "\"num_layers\": 2.5",
        "E4204 `num_layers` is 2.5, expected a whole number that is not negative @ /config/num_layers",
    );
    refused(
        "\"vocab_size\": 37,",
        "",
        "E4202 `vocab_size` is missing @ /config",
    );
    refused(
        "\"num_kv_heads\": 2",
        "\"num_kv_heads\": 3",
        "E4205 `num_attention_heads` is 4, which `num_kv_heads` 3 does not divide @ /config/num_attention_heads",
    );
    refused(
        "\"head_dim\": 6",
        "\"head_dim\": 7",
        "E4205 `head_dim` is 7, which must be even where heads are rotated @ /config/head_dim",
    );
    refused(
        "\"vocab_size\": 37",
        "\"vocab_size\": 99999999999999999999",
        "E4204 `vocab_size` is 99999999999999999999, expected a whole number that is not negative @ /config/vocab_size",
    );
}

#[test]
fn dimensions() {
    refused(
        "\"name\": \"embed\", \"value\": 20",
        "\"name\": \"embed\", \"value\": 21",
        "E4210 dimension `embed` is 21, but `config` makes it 20 @ /dimensions/1/value",
    );
    refused(
        "{\"id\": 1,",
        "{\"id\": 11,",
        "E4206 no dimension has id 11, expected 0 to 10 @ /dimensions/1/id",
    );
    refused(
        "{\"id\": 1,",
        "{\"id\": 2,",
        "E4210 dimension 2 is called `aligned_embed`, found `embed` @ /dimensions/1/name",
    );
}

#[test]
fn buffers() {
    refused(
        "\"resolved_shape\": [2368]",
        "\"resolved_shape\": [2304]",
        "E4208 `resolved_shape` of `token_emb` is [2304], expected [2368] bytes or [37, 32] elements @ /buffers/0/resolved_shape",
    );
    refused(
        "\"dim\": 10, \"mult\": 1",
        "\"dim\": 10, \"mult\": 2",
        "E4208 `token_emb` has the shape [2*vocab, aligned_embed], expected [vocab, aligned_embed] @ /buffers/0/shape",
    );
    refused(
        "\"dim\": 10, \"mult\": 1, \"div\": 1",
        "\"dim\": 10, \"mult\": 1, \"div\": 0",
        "E4205 `div` is 0, expected at least 1 @ /buffers/0/shape/0/div",
    );
    refused(
        "\"dim\": 10,",
        "\"dim\": 11,",
        "E4206 no dimension is 11 @ /buffers/0/shape/0/dim",
    );
    refused(
        "\"bf16\"",
        "\"bf8\"",
        "E4206 no dtype is `bf8` @ /buffers/0/dtype",
    );
    refused(
        "\"name\": \"wq\"",
        "\"name\": \"wx\"",
        "E4206 no buffer of a decoder model is called `wx` @ /buffers/14/name",
    );
    refused(
        "\"name\": \"wq\"",
        "\"name\": \"wk\"",
        "E4207 buffer `wk` stands twice @ /buffers/16/name",
    );
    refused(
        "\"global\"",
        "\"decoder\"",
        "E4211 buffers of scope `decoder` are not supported @ /buffers/0/scope",
    );
    refused(
        "\"global\"",
        "\"local\"",
        "E4206 no scope is `local` @ /buffers/0/scope",
    );
    refused(
        "\"weight\"",
        "\"activation\"",
        "E4206 `token_emb` has role `activation`, expected `weight` @ /buffers/0/role",
    );
    refused(
        "\"alias_of\": null",
        "\"alias_of\": \"lm_head_weight\"",
        "E4210 `token_emb` cannot be an alias of `lm_head_weight` @ /buffers/0/alias_of",
    );
    refused(
        "\"alias_of\": null",
        "\"alias_of\": \"tokens\"",
        "E4206 `token_emb` is an alias of `tokens`, which is not declared @ /buffers/0/alias_of",
    );
    refused(
        "\"condition\": \"rope_theta>0\"",
        "\"condition\": \"rope_thta>0\"",
        "E4206 the condition names `rope_thta`, which is no key of the configuration and no word of conditions @ /buffers/7/condition",
    );
}

#[test]
fn nodes() {
    refused(
        "\"kernel\": \"swiglu_forward\"",
        "\"kernel\": \"gelu_forward\"",
        "E4206 no kernel of `swiglu` is called `gelu_forward` @ /nodes/9/kernel",
    );
    refused(
        "\"op\": \"rope\"",
        "\"op\": \"alibi\"",
        "E4206 no node of a layer is called `alibi` @ /nodes/3/op",
    );
    refused(
        "\"flags\": 0",
        "\"flags\": 4",
        "E4205 `flags` is 4, of which only bits 0 and 1 have a meaning @ /nodes/0/flags",
    );
    refused(
        "\"layer\": 0",
        "\"layer\": 2",
        "E4205 layer 2 is not below `num_layers` 2 @ /nodes/1",
    );
    refused(
        "\"layer\": 0",
        "\"layer\": -2",
        "E4204 `layer` is -2, expected a layer from 0, or -1 @ /nodes/1/layer",
    );
    refused(
        "\"buffer\": \"wq\"",
        "\"buffer\": \"wk\"",
        "E4209 argument `wq` of `qkv_project` is bound to `wk`, expected `wq` @ /nodes/2/bindings/1/buffer",
    );
    refused(
        "\"arg\": \"wq\"",
        "\"arg\": \"wz\"",
        "E4206 `qkv_project` has no argument `wz` @ /nodes/2/bindings/1/arg",
    );
    refused(
        "\"arg\": \"wq\"",
        "\"arg\": \"wk\"",
        "E4207 argument `wk` is bound twice @ /nodes/2/bindings/3/arg",
    );
    refused(
        "{\"arg\": \"wq\", \"buffer\": \"wq\"},",
        "",
        "E4202 argument `wq` of `qkv_project` is not bound @ /nodes/2",
    );
    refused(
        "\"op\": \"rope\"",
        "\"op\": \"rmsnorm\"",
        "E4206 no kernel of `rmsnorm` is called `rope_forward_qk` @ /nodes/3/kernel",
    );
    refused(
        "\"condition\": \"rope_theta>0\",\n      \"bindings\"",
        "\"condition\": \"!rope_theta\",\n      \"bindings\"",
        "E4209 layer 0 has no `rope` that writes `q` @ /nodes/1",
    );
}

#[test]
fn order_of_nodes() {
    let text = write(&document(parameters(Family::Llama)));
    let node = |op: &str| {
        let at = text
            .find(&format!("{{\"layer\": 0, \"op\": \"{op}\""))
            .unwrap_or_else(|| {
                text.find(&format!("{{\n      \"layer\": 0,\n      \"op\": \"{op}\""))
                    .unwrap()
            });
        let depth = text[at..].char_indices().scan(0, |depth, (at, c)| {
            *depth += i32::from(c == '{') - i32::from(c == '}');
            Some((at, *depth))
        });
        let end = depth.skip(1).find(|(_, depth)| *depth == 0).unwrap().0;
        text[at..at + end + 1].to_owned()
    };
    let (rope, attention) = (node("rope"), node("attention"));
    let swapped = text
        .replacen(&rope, "@", 1)
        .replacen(&attention, &rope, 1)
        .replacen('@', &attention, 1);
    let found = read(&swapped, &ReadOptions::default()).unwrap_err();
    let message = &found.first_error().unwrap().message;
    assert_eq!(message, "`rope` must stand in front of `attention`");
    let twice = text.replacen(&rope, &format!("{rope}, {rope}"), 1);
    let found = read(&twice, &ReadOptions::default()).unwrap_err();
    assert_eq!(found.first_error().unwrap().message, "`rope` stands twice");
}

#[test]
fn buffers_that_nodes_need_are_declared() {
    let text = write(&document(parameters(Family::Llama)));
    let at = text.find("{\n      \"name\": \"ln1_out\"").unwrap();
    let end = text[at..].find("\n    },\n").unwrap() + "\n    },\n".len();
    let without = format!("{}{}", &text[..at], &text[at + end..]);
    let found = read(&without, &ReadOptions::default()).unwrap_err();
    let message = &found.first_error().unwrap().message;
    assert_eq!(message, "buffer `ln1_out` is not declared");
}

#[test]
fn contradictions() {
    refused(
        "\"has_pos_emb\": false",
        "\"has_pos_emb\": true",
        "E4210 `has_pos_emb` is true, which the rest of the document contradicts @ /meta/has_pos_emb",
    );
    refused(
        "\"tie_word_embeddings\": false",
        "\"tie_word_embeddings\": true",
        "E4210 the embeddings are tied, but `lm_head_weight` has no `alias_of` @ /buffers/4",
    );
    refused(
        "\"gated_mlp\": true",
        "\"gated_mlp\": false",
        "E4211 models without a gated MLP are not supported @ /meta/gated_mlp",
    );
    refused(
        "\"family\": \"llama\"",
        "\"family\": \"gpt2\"",
        "E4211 no supported family is called `gpt2` @ /meta/family",
    );
    refused(
        "\"biases\": []",
        "\"biases\": [\"bx\"]",
        "E4206 no bias is \"bx\" @ /meta/biases/0",
    );
}
