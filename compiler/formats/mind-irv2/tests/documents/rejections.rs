//! Errors in documents, as users see them.

use mind_diag::{SourceFile, render_text};
use mind_irv2::{ReadOptions, read, write};
use mind_snapshot::snapshot;

use crate::models::{document, family, parameters};

/// Returns the errors in a document.
fn rendered(text: &str) -> String {
    let found = read(text, &ReadOptions::default()).unwrap_err();
    render_text(&found, &SourceFile::new("llama.json", text), false)
}

/// Returns the errors of each change to the tiny Llama, which replaces the first occurrence of a text.
fn refused(changes: &[(&str, &str)]) -> String {
    let text = write(&document(parameters(family("llama"))));
    let of = |&(from, to): &(&str, &str)| {
        assert!(text.contains(from), "{from}");
        rendered(&text.replacen(from, to, 1))
    };
    changes.iter().map(of).collect::<Vec<_>>().join("\n")
}

#[test]
fn documents_that_are_no_json() {
    snapshot!(["{\"version\": 2,}", "[]"].map(rendered).join("\n"));
}

#[test]
fn top_level() {
    snapshot!(refused(&[
        ("\"version\": 2", "\"version\": 2.0"),
        ("\"version\": 2", "\"version\": 3"),
        ("\"notes\"", "\"note\""),
        ("\"nodes\"", "\"knots\""),
    ]));
}

#[test]
fn gradients_correspond_to_their_forward_buffers() {
    let gradient = |name: &str, scope: &str, shape: &str, sizes: &str| {
        let own = format!(
            r#""buffers": [{{"name": "{name}", "scope": "{scope}", "role": "grad", "dtype": "fp32", "shape": {shape}{sizes},
               "alias_of": null, "condition": "training_enabled"}}, "#
        );
        let text = write(&document(parameters(family("llama"))));
        let changed = text.replacen("\"buffers\": [", &own, 1);
        assert!(changed != text);
        match read(&changed, &ReadOptions::default()) {
            Ok((read, _)) => {
                assert!(read == document(parameters(family("llama"))));
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
    let text = write(&document(parameters(family("llama")))).replacen("\"notes\"", "\"note\"", 1);
    let help = |unknown_flag| {
        let options = ReadOptions {
            allow_unknown: false,
            unknown_flag,
            ..ReadOptions::default()
        };
        let found = read(&text, &options).unwrap_err();
        found.first_error().and_then(|own| own.help.clone())
    };
    assert_eq!(
        help(Some("--allow-unknown")).as_deref(),
        Some("`--allow-unknown` accepts keys of other tools")
    );
    assert!(help(None).is_some_and(|help| !help.contains("--")));
}

#[test]
fn hyperparameters() {
    snapshot!(refused(&[
        ("\"num_layers\": 2", "\"num_layers\": 0"),
        ("\"num_layers\": 2", "\"num_layers\": 2.5"),
        ("\"vocab_size\": 37,", ""),
        ("\"num_kv_heads\": 2", "\"num_kv_heads\": 3"),
        ("\"head_dim\": 6", "\"head_dim\": 7"),
        ("\"vocab_size\": 37", "\"vocab_size\": 99999999999999999999"),
    ]));
}

#[test]
fn dimensions() {
    snapshot!(refused(&[
        (
            "\"name\": \"embed\", \"value\": 20",
            "\"name\": \"embed\", \"value\": 21"
        ),
        ("{\"id\": 1,", "{\"id\": 16,"),
        ("{\"id\": 1,", "{\"id\": 2,"),
    ]));
}

#[test]
fn buffers() {
    snapshot!(refused(&[
        ("\"resolved_shape\": [2368]", "\"resolved_shape\": [2304]"),
        ("\"dim\": 10, \"mult\": 1", "\"dim\": 10, \"mult\": 2"),
        (
            "\"dim\": 10, \"mult\": 1, \"div\": 1",
            "\"dim\": 10, \"mult\": 1, \"div\": 0"
        ),
        ("\"dim\": 10,", "\"dim\": 99,"),
        ("\"bf16\"", "\"bf8\""),
        ("\"name\": \"wq\"", "\"name\": \"wx\""),
        ("\"name\": \"wq\"", "\"name\": \"wk\""),
        ("\"global\"", "\"decoder\""),
        ("\"global\"", "\"local\""),
        ("\"weight\"", "\"activation\""),
        ("\"alias_of\": null", "\"alias_of\": \"lm_head_weight\""),
        ("\"alias_of\": null", "\"alias_of\": \"tokens\""),
        (
            "\"condition\": \"rope_theta>0\"",
            "\"condition\": \"rope_thta>0\""
        ),
    ]));
}

#[test]
fn nodes() {
    snapshot!(refused(&[
        (
            "\"kernel\": \"swiglu_forward\"",
            "\"kernel\": \"gelu_forward\""
        ),
        ("\"op\": \"rope\"", "\"op\": \"alibi\""),
        ("\"flags\": 0", "\"flags\": 4"),
        ("\"layer\": 0", "\"layer\": 2"),
        ("\"layer\": 0", "\"layer\": -2"),
        ("\"buffer\": \"wq\"", "\"buffer\": \"wk\""),
        ("\"arg\": \"wq\"", "\"arg\": \"wz\""),
        ("\"arg\": \"wq\"", "\"arg\": \"wk\""),
        ("{\"arg\": \"wq\", \"buffer\": \"wq\"},", ""),
        ("\"op\": \"rope\"", "\"op\": \"rmsnorm\""),
        (
            "\"condition\": \"rope_theta>0\",\n      \"bindings\"",
            "\"condition\": \"!rope_theta\",\n      \"bindings\""
        ),
    ]));
}

#[test]
fn order_of_nodes() {
    let text = write(&document(parameters(family("llama"))));
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
    let twice = text.replacen(&rope, &format!("{rope}, {rope}"), 1);
    snapshot!([swapped, twice].map(|text| rendered(&text)).join("\n"));
}

#[test]
fn buffers_that_nodes_need_are_declared() {
    let text = write(&document(parameters(family("llama"))));
    let at = text.find("{\n      \"name\": \"ln1_out\"").unwrap();
    let end = text[at..].find("\n    },\n").unwrap() + "\n    },\n".len();
    let without = format!("{}{}", &text[..at], &text[at + end..]);
    snapshot!(rendered(&without));
}

#[test]
fn contradictions() {
    snapshot!(refused(&[
        ("\"has_pos_emb\": false", "\"has_pos_emb\": true"),
        (
            "\"tie_word_embeddings\": false",
            "\"tie_word_embeddings\": true"
        ),
        ("\"gated_mlp\": true", "\"gated_mlp\": false"),
        ("\"family\": \"llama\"", "\"family\": \"perceiver\""),
        ("\"biases\": []", "\"biases\": [\"bx\"]"),
    ]));
}
