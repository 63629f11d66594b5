//! Encoders: family files, configurations and documents, and the errors in them.

use std::path::Path;

use mind_diag::{SourceFile, render_text};
use mind_ir::random::Rng;
use mind_irv2::graph::{document, parts};
use mind_irv2::{
    Architecture, Config, Document, Families, Family, FamilyError, FamilyFiles, ReadOptions, hf,
    read, write,
};
use mind_snapshot::snapshot;
use mind_weights::WeightType;

use crate::corrupted::{documented, variant};
use crate::models;
use crate::writers::corrupt;

/// Returns the text of a file of a shipped plan or family.
fn shipped(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("families")
        .join(path);
    std::fs::read_to_string(path).expect("a shipped file")
}

const NAMES: [&str; 4] = [
    "family.json",
    "global_buffers.json",
    "encoder_layer_plan.json",
    "tensors.json",
];

/// Returns the four files of an encoder family with its own plan.
pub fn files(plan: &str) -> [String; 4] {
    NAMES.map(|name| match name {
        "family.json" => shipped(&format!("{plan}/{name}"))
            .replace(&format!("\"family\": \"{plan}\""), "\"family\": \"own\"")
            .replace(&format!("  \"plan\": \"{plan}\",\n"), ""),
        name => shipped(&format!("plans/{plan}/{name}")),
    })
}

pub fn family_of(texts: &[String; 4]) -> Result<Family, Box<FamilyError>> {
    let file = |at: usize| SourceFile::new(NAMES[at], texts[at].as_str());
    Family::read(&FamilyFiles {
        family: file(0),
        global_buffers: Some(file(1)),
        layer_plan: None,
        encoder_layer_plan: Some(file(2)),
        tensors: Some(file(3)),
        completes_plan: false,
    })
}

pub fn shown(why: &FamilyError) -> String {
    render_text(&why.found, &why.file, false)
}

/// The members of configurations other than sizes, by family.
const SAID: [(&str, &str); 5] = [
    (
        "bert",
        r#""intermediate_size": 24, "type_vocab_size": 3, "hidden_act": "gelu", "layer_norm_eps": 1e-12"#,
    ),
    (
        "roberta",
        r#""intermediate_size": 24, "type_vocab_size": 3, "hidden_act": "relu", "pad_token_id": 1"#,
    ),
    ("distilbert", r#""hidden_dim": 24, "activation": "gelu""#),
    (
        "modernbert",
        r#""intermediate_size": 24, "local_attention": 8, "norm_bias": true, "layer_types": ["full_attention", "sliding_attention"]"#,
    ),
    (
        "nomic_bert",
        r#""intermediate_size": 24, "type_vocab_size": 3"#,
    ),
];

/// Returns the configuration of a tiny model of `family`, with the members of `like`.
fn config_of(family: &str, like: &str) -> String {
    let said = SAID.iter().find(|(own, _)| *own == like);
    let said = said.expect("a family").1;
    format!(
        r#"{{"model_type": {family:?}, "num_hidden_layers": 2, "hidden_size": 20, "num_attention_heads": 2, "vocab_size": 37,
 "max_position_embeddings": 50, {said}}}"#
    )
}

fn document_of(name: &str) -> Document {
    let read = hf::document(Some(&config_of(name, name)), &[], Families::default());
    read.unwrap_or_else(|why| panic!("{name}: {why:?}")).0
}

#[test]
fn an_encoder_is_what_its_plan_of_layers_says() {
    for plan in ["bert", "modernbert", "nomic_bert"] {
        let own = family_of(&files(plan)).unwrap_or_else(|why| panic!("{:?}", why.found));
        assert_eq!(own.architecture(), Architecture::Encoder);
        let families = Families::with(own);
        let read_config = hf::document(Some(&config_of("own", plan)), &[], families);
        let (document, _) = read_config.unwrap_or_else(|why| panic!("{plan}: {why:?}"));
        let text = write(&document);
        assert!(text.contains("\"scope\": \"encoder\"") && !text.contains("\"scope\": \"layer\""));
        assert!(text.contains("\"bidirectional_attention\"") && !text.contains("\"lm_head\""));
        assert_eq!(text.contains("\"type_vocab\""), plan != "modernbert");
        let options = ReadOptions {
            families,
            ..ReadOptions::default()
        };
        let (again, found) = read(&text, &options).unwrap();
        assert!(found.is_empty() && again == document, "{found:?}");
    }
    let llama = Family::named("llama").unwrap();
    assert_eq!(llama.architecture(), Architecture::Decoder);
}

#[test]
fn a_document_without_a_family_is_of_an_encoder_by_its_nodes() {
    let document = document_of("bert");
    let text = write(&document).replace("\"family\": \"bert\",", "");
    let (again, _) = read(&text, &ReadOptions::default()).unwrap();
    assert_eq!(again.config, document.config);
}

#[test]
fn what_is_wrong_with_a_plan_of_an_encoder_has_a_place() {
    let changes = [
        (2, "\"bidirectional_attention\"", "\"attention\""),
        (2, "\"scope\": \"encoder\"", "\"scope\": \"layer\""),
        (1, "\"embedded_input\"", "\"embedded\""),
        (2, "\"out\": \"output\"", "\"out\": \"residual2\""),
        (2, "\"when\": \"has_pooler\"", "\"when\": \"has_a_pooler\""),
        (3, "\"endings\": {", "\"ending\": {"),
        (3, "\".LayerNorm.weight\"", "7"),
    ];
    let of = |(file, from, to): (usize, &str, &str)| {
        let mut texts = files("bert");
        assert!(texts[file].contains(from), "{from}");
        texts[file] = texts[file].replacen(from, to, 1);
        shown(&family_of(&texts).expect_err("a file that is wrong"))
    };
    let mut all: Vec<String> = changes.into_iter().map(of).collect();
    let texts = files("bert");
    let file = |at: usize| SourceFile::new(NAMES[at], texts[at].as_str());
    let decoder = shipped("plans/llama/decoder_layer_plan.json");
    let both = Family::read(&FamilyFiles {
        family: file(0),
        global_buffers: Some(file(1)),
        layer_plan: Some(SourceFile::new("decoder_layer_plan.json", decoder)),
        encoder_layer_plan: Some(file(2)),
        tensors: Some(file(3)),
        completes_plan: false,
    });
    all.push(shown(&both.expect_err("two plans")));
    snapshot!(all.join("\n"));
}

#[test]
fn what_is_wrong_with_a_document_of_an_encoder_has_a_place() {
    let changes = [
        ("\"scope\": \"encoder\"", "\"scope\": \"layer\""),
        ("\"scope\": \"encoder\"", "\"scope\": \"decoder\""),
        ("\"type_vocab_size\": 3", "\"type_vocab_size\": 0"),
        ("\"version\": 2,", "\"version\": 2, \"mode\": \"backward\","),
        (
            "\"version\": 2,",
            "\"version\": 2, \"lowering\": {\"mode\": \"backward\"},",
        ),
        ("\"has_lm_head\": false", "\"has_lm_head\": true"),
        ("\"name\": \"token_type_emb\"", "\"name\": \"kind_emb\""),
    ];
    let text = write(&document_of("bert"));
    let of = |(from, to): (&str, &str)| {
        assert!(text.contains(from), "{from}");
        let changed = text.replacen(from, to, 1);
        let found = read(&changed, &ReadOptions::default()).unwrap_err();
        render_text(&found, &SourceFile::new("bert.json", changed), false)
    };
    snapshot!(changes.map(of).join("\n"));
}

#[test]
fn a_decoder_has_no_buffers_of_encoders_and_is_not_run_backward() {
    let text = write(&models::document(models::parameters(models::family(
        "llama",
    ))));
    let messages = |from: &str, to: &str| -> Vec<String> {
        let found = read(&text.replacen(from, to, 1), &ReadOptions::default()).unwrap_err();
        found.iter().map(|own| own.message.clone()).collect()
    };
    assert_eq!(
        messages("\"scope\": \"layer\"", "\"scope\": \"encoder\"")[0],
        "buffers of a decoder model have no scope `encoder`"
    );
    assert_eq!(
        messages("\"version\": 2,", "\"version\": 2, \"mode\": \"backward\","),
        [
            "the document is lowered to `mode` \"backward\", which is not supported: models are run forward"
        ]
    );
}

#[test]
fn keys_that_make_another_model_are_refused() {
    let refused = |name: &str, from: &str, to: &str| {
        let text = config_of(name, name).replacen(from, to, 1);
        let read = hf::document(Some(&text), &[], Families::default());
        let found = read.map(|_| ()).unwrap_err();
        found.first_error().expect("a reason").message.clone()
    };
    for name in ["bert", "distilbert", "modernbert"] {
        assert_eq!(
            refused(name, "{", "{\"is_encoder_decoder\": true, "),
            "`is_encoder_decoder` is true, which is not supported: the model is an encoder alone"
        );
        let text = config_of(name, name).replacen('{', "{\"is_causal\": false, ", 1);
        assert!(hf::document(Some(&text), &[], Families::default()).is_ok());
    }
    assert_eq!(
        refused("bert", "{", "{\"is_decoder\": true, "),
        "`is_decoder` is true, which is not supported: a position sees all others"
    );
    assert_eq!(
        refused(
            "bert",
            "{",
            "{\"position_embedding_type\": \"relative_key\", "
        ),
        "`position_embedding_type` is \"relative_key\", which is not supported: positions have a table of their own"
    );
    assert_eq!(
        refused("roberta", "embeddings\": 50", "embeddings\": 2"),
        "`position_offset` is 2, expected less than `context_window`"
    );
    assert_eq!(
        refused("distilbert", "{", "{\"n_layers\": 3, "),
        "`n_layers` is 3, but `num_hidden_layers` is 2"
    );
}

#[test]
fn windows_of_modernbert_reach_half_of_the_width_to_both_sides() {
    let config = document_of("modernbert").config;
    let windows: Vec<Option<usize>> = (0..2).map(|layer| config.window(layer)).collect();
    assert_eq!(windows, [None, Some(5)]);
}

/// Reads a configuration of a family, and builds its document and modules; errors are ignored.
fn use_of(family: Family, like: &str) {
    let families = Families::with(family);
    let text = config_of(family.name(), like);
    let Ok((document, _)) = hf::document(Some(&text), &[], families) else {
        return;
    };
    let options = ReadOptions {
        families,
        ..ReadOptions::default()
    };
    // If the steps of a plan do not fit together, building a module or reading the document fails.
    let _ = read(&write(&document), &options);
    let stored = |_: &str| WeightType::F32;
    let build = |config: &Config| {
        let _ = parts::project(config, 2, &stored);
        let _ = parts::attend(config, 2, 64);
        let _ = parts::finish(config, 2, &stored);
    };
    (0..document.config.num_layers.min(3)).for_each(|at| build(&document.config.of_layer(at)));
    let config = &document.config;
    let _ = parts::embed(config, 2, &stored);
    let _ = parts::close(config, 2, &stored);
    let _ = parts::pool(config, 1, &stored);
    for padding in [document::Padding::Stripped, document::Padding::Kept] {
        let _ = document::model(&document, padding);
    }
}

#[test]
fn corrupted_families_of_encoders() {
    let mut random = Rng::new(41);
    let mut refused = 0;
    for at in 0..1000 {
        let like = ["bert", "modernbert"][at / 4 % 2];
        let mut texts = files(like);
        let file = at % 4;
        texts[file] = variant(&texts[file], &mut random);
        match family_of(&texts) {
            Err(why) => {
                let first = why.found.first_error().expect("a reason");
                assert!(first.code.is_some(), "{first:?}");
                refused += 1;
            }
            Ok(family) => use_of(family, like),
        }
    }
    documented("family of encoders", refused);
}

#[test]
fn corrupted_documents_of_encoders() {
    let texts = ["bert", "modernbert"].map(|name| write(&document_of(name)));
    let mut random = Rng::new(42);
    let mut refused = 0;
    for at in 0..1000 {
        let variant = variant(&texts[at % 2], &mut random);
        match read(&variant, &ReadOptions::default()) {
            Err(found) => {
                let first = found.first_error().expect("a reason");
                assert!(first.code.is_some(), "{first:?}");
                refused += 1;
            }
            Ok((read_back, _)) => {
                let written = write(&read_back);
                let (again, _) = read(&written, &ReadOptions::default()).unwrap();
                assert_eq!(write(&again), written);
                if read_back.config.num_layers < 9 {
                    let _ = document::model(&read_back, document::Padding::Stripped);
                }
            }
        }
    }
    documented("IR v2 of encoders", refused);
}

#[test]
fn corrupted_configurations_of_encoders() {
    let mut random = Rng::new(43);
    let refused = (0..1000).filter(|at| {
        let (name, _) = SAID[at % 4];
        let text = config_of(name, name);
        let bytes = corrupt(text.as_bytes(), &mut random);
        let text = String::from_utf8_lossy(&bytes);
        match hf::document(Some(&text), &[], Families::default()) {
            Ok((document, _)) => {
                let written = write(&document);
                let (again, _) = read(&written, &ReadOptions::default()).expect("a document");
                assert_eq!(write(&again), written, "{text}");
                false
            }
            Err(found) => {
                assert!(found.first_error().is_some_and(|own| own.code.is_some()));
                true
            }
        }
    });
    let refused = refused.count();
    documented("`config.json` of encoders", refused);
}
