//! Family files, and the errors in them.

use std::path::Path;

use mind_diag::{SourceFile, render_text};
use mind_ir::random::Rng;
use mind_irv2::family::FILE_NAMES;
use mind_irv2::graph::{document, parts, routed};
use mind_irv2::{Families, Family, FamilyError, FamilyFiles, ReadOptions, hf, read, write};
use mind_snapshot::snapshot;
use mind_weights::WeightType;

use crate::corrupted::{documented, variant};

/// Returns the text of a file of a shipped plan or family.
fn shipped(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("families")
        .join(path);
    std::fs::read_to_string(path).expect("a shipped file")
}

/// Returns the four files of a family with its own plan.
fn files() -> [String; 4] {
    let family = r#"{
  "family": "own",
  "switches": ["qk_norm"],
  "defaults": {"rms_norm_eps": 1e-6},
  "biases": [{"if": "attention_bias", "weights": ["bq", "bk", "bv", "bo"]}],
  "numbers": {"embedding_scale": {"key": "scale", "default": 2, "how": "root"}},
  "rotation": {"partial": true, "scalings": ["linear"]},
  "window": {"default": 4096, "types": true, "period": 2},
  "tensors": {"names": {"w2": "model.layers.{layer}.mlp.last.weight"}}
}"#;
    let plan = |file: &str| shipped(&format!("plans/llama/{file}"));
    let [_, globals, layers, _, tensors] = FILE_NAMES;
    [
        family.to_owned(),
        plan(globals),
        plan(layers),
        plan(tensors),
    ]
}

/// Returns the four files of a family with experts.
fn files_with_experts() -> [String; 4] {
    let family = r#"{
  "family": "own",
  "switches": ["shared"],
  "experts": {
    "count": {"keys": ["experts"], "default": 4},
    "per_token": {"keys": ["chosen"], "default": 2},
    "width": {"keys": ["expert_width"], "default": 10},
    "shared_width": {"keys": ["shared_width"], "default": 14},
    "shares": {"key": "add_up", "default": true},
    "dense_layers": "dense",
    "step": "step"
  },
  "rotation": {"scalings": ["yarn"]},
  "tensors": {
    "names": {"we2": ["layers.{layer}.experts.{expert}.down", "layers.{layer}.experts.down"]},
    "layouts": {"wo": "transposed", "w_qkv": "by_head"}
  }
}"#;
    let plan = |file: &str| shipped(&format!("plans/moe/{file}"));
    let [_, globals, layers, _, tensors] = FILE_NAMES;
    [
        family.to_owned(),
        plan(globals),
        plan(layers),
        plan(tensors),
    ]
}

fn family_of(texts: &[String; 4]) -> Result<Family, Box<FamilyError>> {
    let [family, globals, layers, _, tensors] = FILE_NAMES;
    let names = [family, globals, layers, tensors];
    let file = |at: usize| SourceFile::new(names[at], texts[at].as_str());
    Family::read(&FamilyFiles {
        family: file(0),
        global_buffers: Some(file(1)),
        layer_plan: Some(file(2)),
        encoder_layer_plan: None,
        tensors: Some(file(3)),
        completes_plan: false,
    })
}

/// Returns the errors of each change, which replaces the first occurrence of a text in the file with this number.
fn refused(changes: &[(usize, &str, &str)]) -> String {
    refused_of(files, changes)
}

/// Like [`refused`], for other files.
fn refused_of(files: fn() -> [String; 4], changes: &[(usize, &str, &str)]) -> String {
    let of = |&(file, from, to): &(usize, &str, &str)| {
        let mut texts = files();
        assert!(texts[file].contains(from), "{from}");
        texts[file] = texts[file].replacen(from, to, 1);
        let why = family_of(&texts).expect_err("a file that is wrong");
        render_text(&why.found, &why.file, false)
    };
    changes.iter().map(of).collect::<Vec<_>>().join("\n")
}

const CONFIG: &str = r#"{"model_type": "own", "num_hidden_layers": 2, "hidden_size": 20, "intermediate_size": 24,
 "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6, "vocab_size": 37, "max_position_embeddings": 50,
 "scale": 9, "attention_bias": true, "sliding_window": 7}"#;

#[test]
fn a_description_of_its_own_becomes_a_model() {
    let own = family_of(&files()).unwrap_or_else(|why| panic!("{:?}", why.found));
    let again = family_of(&files()).unwrap_or_else(|why| panic!("{:?}", why.found));
    assert_eq!(own, again);
    let families = Families::with(own);
    let (document, found) = hf::document(Some(CONFIG), &[], families).unwrap();
    assert!(found.is_empty(), "{found:?}");
    let config = document.config;
    assert!(config.has_bias("bq") && !config.has_bias("b2"));
    assert_eq!((config.window(0), config.window(1)), (Some(7), None));
    let text = write(&document);
    assert!(text.contains("\"embedding_scale\": 3.0") && text.contains("\"qk_norm\""));
    let options = ReadOptions {
        families,
        ..ReadOptions::default()
    };
    let (read_back, _) = read(&text, &options).unwrap();
    assert!(read_back == document);
    let unknown = read(&text, &ReadOptions::default()).unwrap_err();
    let message = &unknown.first_error().unwrap().message;
    assert_eq!(message, "no supported family is called `own`");
}

#[test]
fn what_is_wrong_with_a_family_has_a_place() {
    snapshot!(refused(&[
        (0, "\"family\": \"own\"", "\"family\": 7"),
        (0, "\"qk_norm\"", "\"qk_nrom\""),
        (0, "\"bo\"", "\"wo\""),
        (0, "\"embedding_scale\"", "\"embedding_scala\""),
        (0, "\"how\": \"root\"", "\"how\": \"rout\""),
        (0, "\"w2\"", "\"w3\""),
        (0, "{layer}", "0"),
        (0, "\"window\"", "\"widow\""),
    ]));
}

#[test]
fn what_is_wrong_with_a_plan_has_a_place() {
    snapshot!(refused(&[
        (1, "\"logits\"", "\"logit\""),
        (1, "\"vocab\"", "\"vocabulary\""),
        (2, "\"kernel\": \"swiglu\"", "\"kernel\": \"siglu\""),
        (2, "\"when\": \"rope_theta>0\"", "\"when\": \"rope_thta>0\""),
        (2, "\"out\": \"ln1_out\"", "\"out\": \"wq\""),
        (2, "\"input\": \"ln1_out\"", "\"input\": \"mlp_out\""),
        (2, "\"gamma\": \"ln1_gamma\", ", ""),
        (2, "\"out\": \"output\"", "\"out\": \"residual1\""),
        (2, "\"kernel\": \"attention\"", "\"kernel\": \"attend\""),
        (2, "\"name\": \"wk\"", "\"name\": \"wq\""),
        (2, "\"only\": \"qk_norm\"", "\"only\": \"qk\""),
        (3, "\"ln1_gamma\": ", "\"ln0_gamma\": "),
    ]));
}

#[test]
fn what_is_wrong_with_experts_and_layouts_has_a_place() {
    let own = family_of(&files_with_experts());
    let own = own.unwrap_or_else(|why| panic!("{}: {:?}", why.file.name(), why.found));
    let config = CONFIG.replace(
        "\"scale\": 9, \"attention_bias\": true, \"sliding_window\": 7",
        "\"dense\": [0]",
    );
    let (document, found) = hf::document(Some(&config), &[], Families::with(own)).unwrap();
    assert!(found.is_empty(), "{found:?}");
    let experts = document.config.experts.expect("experts");
    assert_eq!(
        (experts.count, experts.per_token, experts.width),
        (4, 2, 10)
    );
    assert_eq!((experts.shared_width, experts.normalised), (14, true));
    assert!(!document.config.has_experts(0) && document.config.has_experts(1));
    snapshot!(refused_of(
        files_with_experts,
        &[
            (
                0,
                "\"count\": {\"keys\": [\"experts\"], \"default\": 4},",
                ""
            ),
            (0, "\"default\": 10", "\"default\": \"wide\""),
            (0, "\"step\": \"step\"", "\"stop\": \"step\""),
            (0, "{expert}.down", "{expert}.{expert}.down"),
            (
                0,
                "layers.{layer}.experts.{expert}.down",
                "{expert}.{layer}.down"
            ),
            (0, "\"transposed\"", "\"turned\""),
            (0, "\"w_qkv\": \"by_head\"", "\"wq\": \"by_head\""),
            (2, "\"layers\": \"dense\"", "\"layers\": \"dence\""),
            (2, "\"kernel\": \"router\"", "\"kernel\": \"route\""),
            (2, "\"only\": \"!shared\"", "\"only\": [\"shared\", 3]"),
            (2, "\"only\": \"!shared\", ", ""),
        ]
    ));
}

/// Reads a configuration of a family, and builds its document and modules; errors are ignored.
fn use_of(family: Family) {
    let families = Families::with(family);
    let text = CONFIG.replace("\"own\"", &format!("{:?}", family.name()));
    let Ok((document, _)) = hf::document(Some(&text), &[], families) else {
        return;
    };
    let options = ReadOptions {
        families,
        ..ReadOptions::default()
    };
    // If the steps of a plan do not fit together, building a module or reading the document fails.
    let _ = read(&write(&document), &options);
    let config = &document.config;
    let stored = |_: &str| WeightType::F32;
    let _ = parts::project(config, 2, &stored);
    let _ = parts::attend(config, 2, 64);
    let _ = parts::finish(config, 2, &stored);
    let _ = routed::route(config, 2, &stored);
    let _ = routed::expert(config, 2, &stored);
    let _ = routed::merge(config, 2, &stored);
    let _ = parts::head(config, 1, &stored);
    for padding in [document::Padding::Stripped, document::Padding::Kept] {
        let _ = document::model(&document, padding);
    }
}

#[test]
fn corrupted_families() {
    let mut random = Rng::new(27);
    let mut refused = 0;
    for at in 0..1000 {
        let mut texts = files();
        let file = at % 4;
        texts[file] = variant(&texts[file], &mut random);
        match family_of(&texts) {
            Err(why) => {
                let first = why.found.first_error().expect("a reason");
                assert!(first.code.is_some(), "{first:?}");
                refused += 1;
            }
            Ok(family) => use_of(family),
        }
    }
    documented("family", refused);
}

#[test]
fn corrupted_families_with_experts() {
    let mut random = Rng::new(28);
    let mut refused = 0;
    for at in 0..400 {
        let mut texts = files_with_experts();
        let file = at % 4;
        texts[file] = variant(&texts[file], &mut random);
        match family_of(&texts) {
            Err(why) => {
                let first = why.found.first_error().expect("a reason");
                assert!(first.code.is_some(), "{first:?}");
                refused += 1;
            }
            Ok(family) => use_of(family),
        }
    }
    assert!((150..350).contains(&refused), "{refused}");
}
