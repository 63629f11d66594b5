//! Files of a folder without `family.json`, which complete the plan of the model's family.

use mind_diag::{SourceFile, render_text};
use mind_irv2::{
    Config, Document, Families, Family, FamilyFiles, Parameters, ReadOptions, hf, read, write,
};

use crate::models::parameters;

/// `config.json` of the published description of the format.
const CONFIG: &str = r#"{
  "hidden_size": 896,
  "vocab_size": 151936,
  "num_attention_heads": 14,
  "num_key_value_heads": 2,
  "intermediate_size": 4864,
  "num_hidden_layers": 24
}"#;

/// `global_buffers.json` of the description.
const GLOBALS: &str = r#"{
  "buffers": [
    {"name": "token_emb", "scope": "global", "role": "weight",
     "shape": [{"dim": "vocab"}, {"dim": "aligned_embed"}]},
    {"name": "logits", "scope": "global", "role": "activation",
     "shape": [{"dim": "tokens"}, {"dim": "vocab"}]}
  ]
}"#;

/// `decoder_layer_plan.json` of the description, with the steps that it leaves out.
const PLAN: &str = r#"{
  "steps": [
    {"kernel": "rmsnorm", "bind": {"input": "input", "gamma": "ln1_gamma", "out": "ln1_out"}},
    {"kernel": "qkv_project", "bind": {"input": "ln1_out", "wq": "wq", "wk": "wk", "wv": "wv", "q": "q", "k": "k", "v": "v"}},
    {"kernel": "rope", "when": "rope_theta>0", "bind": {"q": "q", "k": "k", "cos_cache": "rope_cos_cache", "sin_cache": "rope_sin_cache"}},
    {"kernel": "attention", "bind": {"q": "q", "k": "k", "v": "v", "attn_out": "attn_out"}},
    {"kernel": "attn_proj", "bind": {"attn_out": "attn_out", "wo": "wo", "proj_tmp": "proj_tmp"}},
    {"kernel": "residual_add", "bind": {"a": "input", "b": "proj_tmp", "out": "residual1"}},
    {"kernel": "rmsnorm", "bind": {"input": "residual1", "gamma": "ln2_gamma", "out": "ln2_out"}},
    {"kernel": "mlp_up", "bind": {"input": "ln2_out", "w1": "w1", "fc1_out": "fc1_out"}},
    {"kernel": "swiglu", "bind": {"fc1_out": "fc1_out", "swiglu_out": "swiglu_out"}},
    {"kernel": "mlp_down", "bind": {"swiglu_out": "swiglu_out", "w2": "w2", "mlp_out": "mlp_out"}},
    {"kernel": "residual_add", "bind": {"a": "residual1", "b": "mlp_out", "out": "output"}}
  ]
}"#;

/// The family `of` with these files, or the error in them.
fn completed(
    of: &str,
    [globals, plan, encoder, tensors]: [Option<&str>; 4],
) -> Result<Family, String> {
    let named = |name: &str, text: Option<&str>| text.map(|text| SourceFile::new(name, text));
    let files = FamilyFiles {
        family: Family::named(of)
            .and_then(Family::shipped_file)
            .expect("a family"),
        global_buffers: named("global_buffers.json", globals),
        layer_plan: named("decoder_layer_plan.json", plan),
        encoder_layer_plan: named("encoder_layer_plan.json", encoder),
        tensors: named("tensors.json", tensors),
        completes_plan: true,
    };
    Family::read(&files).map_err(|why| render_text(&why.found, &why.file, false))
}

fn document(family: Family) -> Document {
    let read = hf::document(Some(CONFIG), &[], Families::with(family));
    read.unwrap_or_else(|why| panic!("{why:?}")).0
}

#[test]
fn the_files_of_the_description_complete_the_family_of_its_configuration() {
    let of = hf::family(Some(CONFIG), &[], Families::default()).expect("a family");
    assert_eq!(of.name(), "llama");
    let family = completed(of.name(), [Some(GLOBALS), Some(PLAN), None, None]).expect("a family");
    let document = document(family);
    let text = write(&document);
    let options = ReadOptions {
        families: Families::with(family),
        ..ReadOptions::default()
    };
    let (again, _) = read(&text, &options).unwrap_or_else(|why| panic!("{why:?}"));
    assert!(again == document);
    // Optional arguments that the plan does not bind are left out, buffers of the family stay.
    assert!(
        !text.contains(r#""arg": "rstd", "buffer": "ln1_rstd""#),
        "{text}"
    );
    for name in ["token_emb", "final_ln_weight", "w1", "logits"] {
        assert!(text.contains(&format!(r#""name": "{name}""#)), "{name}");
    }
}

#[test]
fn each_file_alone_completes_the_family() {
    let shipped = document(Family::named("llama").expect("a family"));
    for files in [
        [Some(GLOBALS), None, None, None],
        [None, Some(r#"{}"#), None, None],
        [
            None,
            None,
            None,
            Some(r#"{"names": {"token_emb": "embed"}}"#),
        ],
    ] {
        let family = completed("llama", files).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(family.name(), "llama");
        assert!(write(&document(family)) == write(&shipped), "{files:?}");
    }
    let files = [
        None,
        None,
        None,
        Some(r#"{"names": {"token_emb": "embed"}}"#),
    ];
    let family = completed("llama", files).expect("a family");
    assert_eq!(
        family.tensor_name("token_emb", None).as_deref(),
        Some("embed")
    );
    assert_eq!(
        family.tensor_name("wo", Some(1)).as_deref(),
        Some("model.layers.1.self_attn.o_proj.weight")
    );
}

#[test]
fn a_buffer_replaces_that_of_its_name() {
    let globals = r#"{"buffers": [{"name": "logits", "scope": "global", "role": "activation",
        "shape": [{"dim": "tokens"}, {"dim": "vocab", "mult": 2, "div": 2}]}]}"#;
    let family = completed("llama", [Some(globals), None, None, None]).expect("a family");
    let named = family.buffers().iter().filter(|own| own.name == "logits");
    let shapes: Vec<_> = named.map(|own| own.shape[1]).collect();
    assert_eq!(shapes.len(), 1);
    assert_eq!((shapes[0].mult, shapes[0].div), (2, 2));
}

#[test]
fn what_is_wrong_is_reported_in_the_text_of_the_file() {
    let wrong = |file: usize, text: &str| {
        let mut files = [None; 4];
        files[file] = Some(text);
        completed("llama", files).expect_err("an error")
    };
    let found = wrong(1, r#"{"steps": [{"kernel": "rms", "bind": {}}]}"#);
    assert!(found.contains("no kernel is called `rms`"), "{found}");
    assert!(found.contains("decoder_layer_plan.json:1:23"), "{found}");
    let found = wrong(1, r#"{"steps": []}"#);
    assert!(
        found.contains("no step of `steps` writes `output`"),
        "{found}"
    );
    let found = wrong(
        0,
        r#"{"buffers": [{"name": "logits", "scope": "global", "role": "weights", "shape": [{"dim": "vocab"}]}]}"#,
    );
    assert!(found.contains("no role is `weights`"), "{found}");
    let found = wrong(0, "[]");
    assert!(found.contains("an object"), "{found}");
    // An encoder in front of a decoder needs buffers for its output.
    let found = wrong(2, r#"{"steps": []}"#);
    assert!(found.contains("there is no buffer `"), "{found}");
}

#[test]
fn weights_that_no_step_reads_are_known() {
    let unread = |family: Family, biases: &[&str]| {
        let parameters = Parameters {
            biases: family.biases(biases),
            ..parameters(family)
        };
        let config = Config::new(parameters).expect("a configuration");
        config.unread_weights().collect::<Vec<_>>()
    };
    let shipped = Family::named("llama").expect("a family");
    assert!(unread(shipped, &["bq", "bo"]).is_empty());
    let own = completed("llama", [None, Some(PLAN), None, None]).expect("a family");
    assert!(unread(own, &[]).is_empty());
    assert_eq!(unread(own, &["bq", "bo"]), ["bq", "bo"]);
}
