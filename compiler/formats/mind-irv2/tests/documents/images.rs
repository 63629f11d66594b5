//! Image encoders: family files, configurations and documents, and the errors in them.

use mind_diag::{SourceFile, render_text};
use mind_ir::random::Rng;
use mind_irv2::graph::{document, parts};
use mind_irv2::{Attribute, Document, Families, Family, ReadOptions, hf, read, write};
use mind_snapshot::snapshot;
use mind_weights::WeightType;

use crate::corrupted::variant;
use crate::encoders::{family_of, files, shown};
use crate::writers::corrupt;

/// Returns the configuration of a tiny model of `family`.
fn config_of(family: &str, more: &str) -> String {
    format!(
        r#"{{"model_type": {family:?}, "num_hidden_layers": 2, "hidden_size": 20, "intermediate_size": 24, "num_attention_heads": 4,
 "image_size": 12, "patch_size": 4, "num_channels": 2, "id2label": {{"0": "cat", "1": "dog", "2": "cow"}}{more}}}"#
    )
}

fn document_of(more: &str) -> Document {
    let read = hf::document(Some(&config_of("vit", more)), &[], Families::default());
    let (document, found) = read.unwrap_or_else(|why| panic!("{why:?}"));
    assert!(found.is_empty(), "{found:?}");
    document
}

#[test]
fn an_image_has_a_position_more_than_patches() {
    let config = document_of("").config;
    let image = config.image().expect("images");
    assert_eq!((image.patches(), image.patch_elements()), (9, 32));
    assert_eq!((config.context_window, config.vocab_size), (10, 3));
    assert!(config.has_positions() && config.family.is_encoder());
    assert!(parts::has_patches(&config) && parts::has_classify(&config));
    let weight = config.family.buffer("patch_weight").expect("a weight");
    assert_eq!(weight.form(&config).shape(), [20, 32]);
    // The defaults of absent keys.
    let silent = r#"{"model_type": "vit"}"#;
    let (document, _) = hf::document(Some(silent), &[], Families::default()).unwrap();
    let config = document.config;
    assert_eq!((config.context_window, config.vocab_size), (197, 2));
    assert_eq!(config.attributes.get(Attribute::NumChannels), 3.0);
}

#[test]
fn documents_of_image_encoders_read_back() {
    for more in ["", ", \"qkv_bias\": false, \"hidden_act\": \"relu\""] {
        let document = document_of(more);
        let text = write(&document);
        let (again, found) = read(&text, &ReadOptions::default()).unwrap();
        assert!(found.is_empty() && again == document, "{found:?}");
        assert_eq!(write(&again), text);
    }
}

#[test]
fn what_is_wrong_with_a_document_of_an_image_encoder_has_a_place() {
    let changes = [
        ("\"context_window\": 10", "\"context_window\": 11"),
        ("\"patch_size\": 4", "\"patch_size\": 5"),
        ("\"patch_size\": 4", "\"patch_size\": 0"),
        ("\"num_channels\": 2", "\"num_channels\": 0"),
        ("\"num_channels\": 2", "\"num_channels\": 0.5"),
        ("\"value\": 32}", "\"value\": 33}"),
        ("\"op\": \"patch_project\"", "\"op\": \"embedding\""),
    ];
    let text = write(&document_of(""));
    let of = |(from, to): (&str, &str)| {
        assert!(text.contains(from), "{from}");
        let changed = text.replacen(from, to, 1);
        let found = read(&changed, &ReadOptions::default()).unwrap_err();
        render_text(&found, &SourceFile::new("vit.json", changed), false)
    };
    snapshot!(changes.map(of).join("\n"));
}

#[test]
fn what_is_wrong_with_the_plan_of_an_image_encoder_has_a_place() {
    let changes = [
        (0, "\"key\": \"patch_size\"", "\"kind\": \"patch_size\""),
        (1, "\"dim\": \"patches\"", "\"dim\": \"patch\""),
        (2, "\"out\": \"patch_rows\"", "\"out\": \"input\""),
        (2, "\"cls\": \"cls_token\", ", ""),
        (3, "\"patches\"", "\"patch\""),
    ];
    let of = |(file, from, to): (usize, &str, &str)| {
        let mut texts = files("vit");
        assert!(texts[file].contains(from), "{from}");
        texts[file] = texts[file].replacen(from, to, 1);
        shown(&family_of(&texts).expect_err("a file that is wrong"))
    };
    snapshot!(changes.map(of).join("\n"));
}

#[test]
fn a_plan_whose_steps_do_not_fit_an_image_is_refused_where_it_is_built() {
    let mut texts = files("vit");
    // Removes the step that projects patches.
    texts[2] = texts[2].replacen(
        "\"kernel\": \"patch_project\"",
        "\"kernel\": \"patch_project\", \"when\": \"layer>9\"",
        1,
    );
    let family = family_of(&texts).unwrap_or_else(|why| panic!("{}", shown(&why)));
    let families = Families::with(family);
    let (document, _) = hf::document(Some(&config_of("own", "")), &[], families).unwrap();
    assert!(!parts::has_patches(&document.config));
    let stored = |_: &str| WeightType::F32;
    let why = parts::patches(&document.config, 2, &stored).err();
    assert_eq!(
        why.map(|why| why.to_string()).as_deref(),
        Some("step `patch_project` of the plan cannot be built: the plan has no such step")
    );
    assert!(document::model(&document, document::Padding::Stripped).is_err());
}

/// Reads a configuration of a family, and builds its document and modules; errors are ignored.
fn use_of(family: Family) {
    let families = Families::with(family);
    let text = config_of(family.name(), "");
    let Ok((document, _)) = hf::document(Some(&text), &[], families) else {
        return;
    };
    let options = ReadOptions {
        families,
        ..ReadOptions::default()
    };
    let _ = read(&write(&document), &options);
    let stored = |_: &str| WeightType::F32;
    let config = &document.config;
    let _ = parts::patches(config, 2, &stored);
    let _ = parts::project(config, 2, &stored);
    let _ = parts::attend(config, 2, 64);
    let _ = parts::finish(config, 2, &stored);
    let _ = parts::close(config, 2, &stored);
    let _ = parts::pool(config, 1, &stored);
    let _ = parts::classify(config, 1, &stored);
    let _ = parts::tables(config);
    for padding in [document::Padding::Stripped, document::Padding::Kept] {
        let _ = document::model(&document, padding);
    }
}

#[test]
fn corrupted_files_of_image_encoders() {
    let mut random = Rng::new(71);
    for at in 0..800 {
        let mut texts = files("vit");
        let file = at % 4;
        texts[file] = variant(&texts[file], &mut random);
        match family_of(&texts) {
            Err(why) => {
                let first = why.found.first_error().expect("a reason");
                assert!(first.code.is_some(), "{first:?}");
            }
            Ok(family) => use_of(family),
        }
    }
    let written = write(&document_of(""));
    for _ in 0..800 {
        match read(&variant(&written, &mut random), &ReadOptions::default()) {
            Err(found) => {
                let first = found.first_error().expect("a reason");
                assert!(first.code.is_some(), "{first:?}");
            }
            Ok((document, _)) => {
                let text = write(&document);
                let (again, _) = read(&text, &ReadOptions::default()).unwrap();
                assert_eq!(write(&again), text);
                let _ = document::model(&document, document::Padding::Stripped);
            }
        }
    }
    for _ in 0..800 {
        let bytes = corrupt(config_of("vit", "").as_bytes(), &mut random);
        let text = String::from_utf8_lossy(&bytes);
        match hf::document(Some(&text), &[], Families::default()) {
            Ok((document, _)) => {
                let written = write(&document);
                let (again, _) = read(&written, &ReadOptions::default()).expect("a document");
                assert_eq!(write(&again), written, "{text}");
            }
            Err(found) => {
                assert!(found.first_error().is_some_and(|own| own.code.is_some()));
            }
        }
    }
}
