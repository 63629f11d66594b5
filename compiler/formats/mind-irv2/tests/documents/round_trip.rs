//! Round trips: written documents read back.

use mind_diag::{Diagnostic, Severity};
use mind_irv2::{Document, Foreign, ReadOptions, read, write};
use mind_json::Member;
use mind_weights::WeightType;

use crate::models::{document, family, parameters, variants};

/// Reads a text that must be accepted without warnings.
pub fn read_silently(text: &str) -> Document {
    match read(text, &ReadOptions::default()) {
        Ok((document, found)) => {
            let is_note = |own: &Diagnostic| own.severity == Severity::Note;
            assert!(found.iter().all(is_note), "{found:?}");
            document
        }
        Err(found) => panic!("{found:#?}"),
    }
}

#[test]
fn documents_read_back() {
    for parameters in variants() {
        let document = document(parameters);
        let text = write(&document);
        let again = read_silently(&text);
        assert_eq!(again.config, document.config);
        assert!(again == document);
        assert!(write(&again) == text);
    }
}

#[test]
fn weights_of_layers_keep_their_types() {
    let mut own = document(parameters(family("llama")));
    own.dtypes.set("w_up", WeightType::F16);
    own.dtypes.set_in_layer(1, "wq", WeightType::Q6K);
    own.dtypes.set_in_layer(1, "w2", WeightType::Q4K);
    let text = write(&own);
    let again = read_silently(&text);
    for layer in 0..2 {
        for role in ["wq", "wk", "w_gate", "w_up", "w2"] {
            let types = [&own, &again].map(|document| document.dtypes.of(role, Some(layer)));
            assert_eq!(types[0], types[1], "{role:?} {layer}");
        }
    }
    assert_eq!(write(&again), text);
}

#[test]
fn members_of_other_tools_are_kept_where_that_is_asked() {
    let member = |key: &str| vec![Member::new(key, 1.5)];
    let own = Document {
        foreign: Foreign {
            document: member("tool"),
            config: member("vendor"),
            meta: member("origin"),
        },
        ..document(parameters(family("llama")))
    };
    let text = write(&own);
    let found = read(&text, &ReadOptions::default()).unwrap_err();
    assert_eq!(found.error_count(), 3);
    let options = ReadOptions {
        allow_unknown: true,
        ..ReadOptions::default()
    };
    let (again, warnings) = read(&text, &options).unwrap();
    assert_eq!(warnings.iter().len(), 3);
    assert_eq!(write(&again), text);
}

#[test]
fn a_document_lists_every_buffer_and_node() {
    let text = write(&document(parameters(family("llama"))));
    let root = mind_json::parse(&text, &mind_json::Limits::default()).unwrap();
    let count = |key: &str| root.get(key).unwrap().elements().unwrap().len();
    let layers = parameters(family("llama")).num_layers;
    assert_eq!(count("dimensions"), 11);
    assert_eq!(count("buffers"), 43);
    assert_eq!(count("nodes"), 11 * layers + 3);
}
