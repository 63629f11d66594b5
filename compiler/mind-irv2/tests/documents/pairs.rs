//! Encoder-decoders: family files, configurations and documents, and the errors in them.

use std::path::Path;

use mind_diag::{SourceFile, render_text};
use mind_ir::random::Rng;
use mind_irv2::family::FILE_NAMES;
use mind_irv2::graph::distance::Distances;
use mind_irv2::graph::{document, parts};
use mind_irv2::layout::arena::{self, Logits};
use mind_irv2::layout::nodes::{Access, PlanSection, nodes};
use mind_irv2::{
    Architecture, Attribute, Config, Document, Families, Family, FamilyError, FamilyFiles,
    ReadOptions, Stack, hf, read, write,
};
use mind_snapshot::snapshot;
use mind_weights::WeightType;

use crate::corrupted::{documented, variant};
use crate::writers::corrupt;

/// Returns a file of a shipped family or plan.
fn shipped(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("families")
        .join(path);
    std::fs::read_to_string(path).expect("a shipped file")
}

/// Returns the five files of an encoder-decoder family with its own plans, from the shipped family `of`.
fn files_of(of: &str) -> [String; 5] {
    let named = |name: &str| format!("\"family\": \"{name}\"");
    FILE_NAMES.map(|name| match name {
        "family.json" => shipped(&format!("{of}/{name}"))
            .replace(&named(of), &named("own"))
            .replace(&format!("  \"plan\": \"{of}\",\n"), ""),
        name => shipped(&format!("plans/{of}/{name}")),
    })
}

fn files() -> [String; 5] {
    files_of("t5")
}

fn family_of(texts: &[String; 5]) -> Result<Family, Box<FamilyError>> {
    let file = |at: usize| SourceFile::new(FILE_NAMES[at], texts[at].as_str());
    Family::read(&FamilyFiles {
        family: file(0),
        global_buffers: Some(file(1)),
        layer_plan: Some(file(2)),
        encoder_layer_plan: Some(file(3)),
        tensors: Some(file(4)),
        completes_plan: false,
    })
}

/// Returns the configuration of a tiny model of `family`.
fn config_of(family: &str, more: &str) -> String {
    format!(
        r#"{{"model_type": {family:?}, "d_model": 20, "d_kv": 6, "d_ff": 24, "num_layers": 3, "num_heads": 2, "vocab_size": 37,
 "num_decoder_layers": 2, "is_encoder_decoder": true{more}}}"#
    )
}

fn document_of(more: &str) -> Document {
    let read = hf::document(Some(&config_of("t5", more)), &[], Families::default());
    read.unwrap_or_else(|why| panic!("{why:?}")).0
}

const GATED: &str = ", \"feed_forward_proj\": \"gated-gelu\", \"tie_word_embeddings\": false";

#[test]
fn a_family_with_both_plans_is_an_encoder_in_front_of_a_decoder() {
    let own = family_of(&files()).unwrap_or_else(|why| panic!("{:?}", why.found));
    assert_eq!(own.architecture(), Architecture::EncoderDecoder);
    let encoder = own.encoder().expect("an encoder");
    assert_eq!(encoder.architecture(), Architecture::Encoder);
    assert!(encoder.is_encoder() && !own.is_encoder() && encoder.encoder().is_none());
    assert!(own.nodes().all(|node| node.stack == Stack::Main));
    assert!(encoder.nodes().all(|node| node.stack == Stack::Source));
    let config = document_of(GATED).config;
    let half = config.encoder().expect("an encoder");
    assert_eq!((config.num_layers, half.num_layers), (2, 3));
    assert!(config.has_gate() && !config.has_positions() && !config.tie_word_embeddings);
    assert!(!document_of("").config.has_gate());
}

#[test]
fn a_silent_decoder_has_as_many_layers_as_its_encoder() {
    let text = config_of("t5", "").replace("\"num_decoder_layers\": 2, ", "");
    let (document, _) = hf::document(Some(&text), &[], Families::default()).unwrap();
    assert_eq!(document.config.num_layers, 3);
}

#[test]
fn documents_of_pairs_read_back() {
    let barts = ["", ", \"scale_embedding\": true"].map(bart_of);
    for document in ["", GATED].map(document_of).into_iter().chain(barts) {
        let text = write(&document);
        let (again, found) = read(&text, &ReadOptions::default()).unwrap();
        assert!(found.is_empty() && again == document, "{found:?}");
        assert_eq!(write(&again), text);
        let plan = arena::plan(&document.config, 30, Logits::Last).expect("a plan");
        let cached = |own: &arena::Allocation| own.buffer == "cross_k" || own.buffer == "cross_v";
        assert!(plan.bytes > 0 && !plan.places.iter().any(cached));
    }
}

#[test]
fn buffers_written_before_the_layers_are_live_until_the_last_layer_ends() {
    let configs = [document_of("").config, document_of(GATED).config];
    for config in configs.into_iter().chain([bart_of("").config]) {
        let plan = arena::plan(&config, 30, Logits::Last).expect("a plan");
        let mut step = 0;
        let mut across_layers = 0;
        for (_, own) in config.stacks() {
            let count = |section| nodes(&own, section).count();
            let start = step + count(PlanSection::First);
            let end = start + count(PlanSection::Layer);
            for section in [PlanSection::First, PlanSection::Layer, PlanSection::Last] {
                for node in nodes(&own, section) {
                    for arg in node.args.iter().filter(|arg| arg.access == Access::In) {
                        let Some(own) = plan.places.iter().find(|own| own.buffer == arg.buffer)
                        else {
                            continue;
                        };
                        assert!((own.first..=own.last).contains(&step), "{own:?} {step}");
                        if section == PlanSection::Layer && own.first < start {
                            across_layers += 1;
                            let is_input = arg.buffer.ends_with("input");
                            assert!(is_input || own.last >= end - 1, "{own:?} {start}..{end}");
                        }
                    }
                    step += 1;
                }
            }
        }
        assert!(across_layers > 0);
    }
}

/// Returns the configuration of a tiny model of a family that follows the plan of BART.
fn bart_config_of(family: &str, more: &str) -> String {
    format!(
        r#"{{"model_type": {family:?}, "d_model": 24, "encoder_layers": 3, "decoder_layers": 2, "encoder_attention_heads": 4,
 "decoder_attention_heads": 6, "encoder_ffn_dim": 42, "decoder_ffn_dim": 30, "vocab_size": 37,
 "max_position_embeddings": 20{more}}}"#
    )
}

fn bart_of(more: &str) -> Document {
    let read = hf::document(
        Some(&bart_config_of("bart", more)),
        &[],
        Families::default(),
    );
    read.unwrap_or_else(|why| panic!("{why:?}")).0
}

#[test]
fn a_silent_configuration_means_what_its_family_says() {
    let text = r#"{"model_type": "bart", "encoder_layers": 3}"#;
    let (document, found) = hf::document(Some(text), &[], Families::default()).unwrap();
    let config = document.config;
    let encoder = config.encoder().expect("an encoder");
    assert!(found.is_empty(), "{found:?}");
    assert_eq!((config.num_layers, encoder.num_layers), (12, 3));
    assert_eq!(config.attributes.get(Attribute::EmbeddingScale), 1.0);
    let bart = config.family;
    assert_eq!(bart.silent_token("decoder_start_token_id"), Some(2));
    assert_eq!(bart.silent_token("forced_bos_token_id"), None);
    let scaled = bart_of(", \"scale_embedding\": true").config;
    let root = 24f64.sqrt();
    assert_eq!(scaled.attributes.get(Attribute::EmbeddingScale), root);
}

#[test]
fn rows_in_front_of_the_first_position_are_no_part_of_the_context() {
    let config = bart_of("").config;
    assert_eq!((config.first_position(), config.most_tokens()), (2, 20));
    // Token 1 is not treated as padding, because `position_offset` is 0.
    assert_eq!(config.position_rows(&[5, 1, 0, 1]), [2, 3, 4, 5]);
    for name in ["pos_emb", "enc_pos_emb"] {
        let table = config.family.buffer(name).expect("a table");
        assert_eq!(table.form(&config).shape(), [22, 24]);
    }
}

#[test]
fn what_an_encoder_leaves_lives_as_long_as_its_decoder_reads_it() {
    let config = bart_of("").config;
    let plan = arena::plan(&config, 30, Logits::Last).expect("a plan");
    let place = |name: &str| plan.places.iter().find(|own| own.buffer == name);
    assert_eq!(place("enc_output"), None);
    let (said, query) = (place("encoder_output").unwrap(), place("cross_q").unwrap());
    let embedded = place("input").expect("the stream of the decoder");
    assert!(said.first < embedded.first && said.last > query.first);
    let apart = said.offset + said.bytes <= embedded.offset
        || embedded.offset + embedded.bytes <= said.offset;
    assert!(apart, "{said:?} {embedded:?}");
}

#[test]
fn what_is_wrong_with_silent_tokens_and_asked_numbers_has_a_place() {
    let changes = [
        ("\"eos_token_id\": 2, ", "\"end\": 2, "),
        ("\"eos_token_id\": 2, ", "\"eos_token_id\": -2, "),
        ("\"asked\": false", "\"asked\": \"no\""),
        ("[\"embed_norm\"]", "[\"embed_norms\"]"),
    ];
    let of = |(from, to): (&str, &str)| {
        let text = shipped("bart/family.json");
        assert!(text.contains(from), "{from}");
        let family = SourceFile::new("family.json", text.replacen(from, to, 1));
        let read = Family::read(&FamilyFiles {
            family,
            global_buffers: None,
            layer_plan: None,
            encoder_layer_plan: None,
            tensors: None,
            completes_plan: false,
        });
        shown(&read.expect_err("a file that is wrong"))
    };
    snapshot!(changes.map(of).join("\n"));
}

#[test]
fn classes_of_distances_are_those_of_the_reference() {
    // Recorded from `_relative_position_bucket` of transformers 5.24, for distances from 0 on.
    let config = |more: &str| document_of(more).config;
    let plain = config("");
    let encoder = Distances::of(&plain.encoder().expect("an encoder")).expect("classes");
    let decoder = Distances::of(&plain).expect("classes");
    assert_eq!((encoder.count(), decoder.count()), (32, 32));
    assert_eq!(
        (encoder.after_offset, decoder.after_offset),
        (Some(16), None)
    );
    let starts = |own: &Distances| -> Vec<usize> {
        let classes = &own.classes;
        (1..classes.len())
            .filter(|&at| classes[at] != classes[at - 1])
            .collect()
    };
    assert_eq!(
        starts(&encoder),
        [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]
    );
    assert_eq!(
        starts(&decoder),
        [
            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 19, 21, 24, 27, 31, 35, 40, 46,
            52, 59, 67, 77, 87, 99, 113
        ]
    );
    assert_eq!(encoder.class(5, 7), 18);
    assert_eq!(encoder.class(7, 5), 2);
    assert_eq!(decoder.class(5, 7), 0);
    assert_eq!(decoder.class(900, 7), 31);
}

fn shown(why: &FamilyError) -> String {
    render_text(&why.found, &why.file, false)
}

#[test]
fn what_is_wrong_with_the_plans_of_a_pair_has_a_place() {
    let changes = [
        (1, "\"name\": \"encoder_output\"", "\"name\": \"said\""),
        (2, "\"scope\": \"cross\"", "\"scope\": \"layer\""),
        (
            2,
            "\"kernel\": \"cross_attention\"",
            "\"kernel\": \"attention\"",
        ),
        (
            2,
            "\"input\": \"encoder_output\"",
            "\"input\": \"enc_output\"",
        ),
        (
            2,
            "\"bias\": \"position_bias\", \"scores\"",
            "\"bias\": \"enc_position_bias\", \"scores\"",
        ),
        (
            3,
            "\"kernel\": \"bidirectional_attention\"",
            "\"kernel\": \"attention\"",
        ),
        (3, "\"out\": \"enc_output\"", "\"out\": \"enc_residual1\""),
        (0, "\"gated-gelu\", \"gated", "7, \"gated"),
        (0, "\"encoder_layers\"", "\"encoder_depth\""),
    ];
    let of = |(file, from, to): (usize, &str, &str)| {
        let mut texts = files();
        assert!(texts[file].contains(from), "{from}");
        texts[file] = texts[file].replacen(from, to, 1);
        shown(&family_of(&texts).expect_err("a file that is wrong"))
    };
    snapshot!(changes.map(of).join("\n"));
}

#[test]
fn what_is_wrong_with_a_document_of_a_pair_has_a_place() {
    let changes = [
        ("\"scope\": \"cross\"", "\"scope\": \"decoder\""),
        ("\"scope\": \"encoder\"", "\"scope\": \"layer\""),
        ("\"encoder_layers\": 3", "\"encoder_layers\": 2"),
        ("\"encoder_layers\": 3", "\"encoder_layers\": 0"),
        ("\"source_window\": 16384", "\"source_windows\": 16384"),
        ("\"relative_distance\": 128", "\"relative_distance\": 16"),
        ("\"gated_mlp\": false", "\"gated_mlp\": true"),
        ("\"op\": \"cross_attention\"", "\"op\": \"attention\""),
    ];
    let text = write(&document_of(""));
    let of = |(from, to): (&str, &str)| {
        assert!(text.contains(from), "{from}");
        let changed = text.replacen(from, to, 1);
        let found = read(&changed, &ReadOptions::default()).unwrap_err();
        render_text(&found, &SourceFile::new("t5.json", changed), false)
    };
    snapshot!(changes.map(of).join("\n"));
}

#[test]
fn a_stack_of_its_own_is_refused_in_other_models() {
    let family = Family::named("llama").unwrap();
    let said = |more: &str| {
        format!(
            r#"{{"version": 2, "meta": {{"family": {:?}}}, "config": {{"num_layers": 1, "hidden_size": 8, "intermediate_size": 16,
            "num_attention_heads": 2, "num_kv_heads": 2, "vocab_size": 32, "context_window": 64{more}}}, "buffers": [], "nodes": [
            {{"layer": 0, "scope": "decoder", "op": "rmsnorm", "kernel": "rmsnorm", "bindings": []}}]}}"#,
            family.name()
        )
    };
    let encoder = r#", "encoder_layers": 2, "encoder_intermediate_size": 3, "encoder_attention_heads": 2, "encoder_head_dim": 4,
        "source_window": 9"#;
    let found = read(&said(encoder), &ReadOptions::default()).unwrap_err();
    let messages: Vec<&str> = found.iter().map(|own| own.message.as_str()).collect();
    assert!(
        messages.contains(&"`scope` is there, but nodes of a decoder model have none"),
        "{messages:?}"
    );
    assert!(
        messages.contains(&"`encoder_layers` is 2, expected 0 to 0"),
        "{messages:?}"
    );
}

/// Reads a configuration of a family, and builds its document and modules; errors are ignored.
fn use_of(family: Family, config_of: fn(&str, &str) -> String) {
    let families = Families::with(family);
    let text = config_of(family.name(), "");
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
        let _ = parts::cross_query(config, 2, &stored);
        let _ = parts::source(config, 2, &stored);
        let _ = parts::cross_attention(config, 2, 64);
        let _ = parts::finish(config, 2, &stored);
    };
    for (_, config) in document.config.stacks() {
        (0..config.num_layers.min(3)).for_each(|at| build(&config.of_layer(at)));
        let _ = parts::embed(&config, 2, &stored);
        let _ = parts::close(&config, 2, &stored);
        let _ = Distances::of(&config);
        let _ = parts::tables(&config);
    }
    for padding in [document::Padding::Stripped, document::Padding::Kept] {
        let _ = document::model(&document, padding);
    }
}

#[test]
fn corrupted_families_of_pairs() {
    documented(
        "family of encoder-decoders",
        corrupted_families("t5", 51, config_of),
    );
    corrupted_families("bart", 54, bart_config_of);
}

/// Returns how many of a thousand corrupted descriptions of a family are rejected.
fn corrupted_families(of: &str, seed: u64, config_of: fn(&str, &str) -> String) -> usize {
    let mut random = Rng::new(seed);
    let mut refused = 0;
    for at in 0..1000 {
        let mut texts = files_of(of);
        let file = at % 5;
        texts[file] = variant(&texts[file], &mut random);
        match family_of(&texts) {
            Err(why) => {
                let first = why.found.first_error().expect("a reason");
                assert!(first.code.is_some(), "{first:?}");
                refused += 1;
            }
            Ok(family) => use_of(family, config_of),
        }
    }
    refused
}

#[test]
fn corrupted_documents_of_pairs() {
    let texts = ["", GATED].map(|more| write(&document_of(more)));
    let mut random = Rng::new(52);
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
                if read_back.config.most_layers() < 9 {
                    let _ = document::model(&read_back, document::Padding::Stripped);
                }
            }
        }
    }
    documented("IR v2 of encoder-decoders", refused);
}

#[test]
fn corrupted_configurations_of_pairs() {
    let mut random = Rng::new(53);
    let refused = (0..1000).filter(|at| {
        let text = config_of("t5", ["", GATED][at % 2]);
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
    documented("`config.json` of encoder-decoders", refused);
}
