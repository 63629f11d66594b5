//! Converts the metadata and names of a model to the interface of a module, and back.
//!
//! Source: ONNX IR specification, "Models" and "Metadata" (docs/MetadataProps.md has the keys of author and license).

use mind_ir::Graph;
use mind_ir::interface::{Feature, Interface, MetadataKey};

use crate::proto::{ModelProto, StringStringEntryProto, ValueInfoProto};

/// The metadata key of the author.
const AUTHOR: &str = "model_author";

/// The metadata key of the license.
const LICENSE: &str = "model_license";

/// The metadata key of a version that is not a number, which the field `model_version` requires.
const VERSION: &str = "model_version";

/// Returns the interface of a model's module.
pub(crate) fn interface(model: &ModelProto) -> Interface {
    let mut own = Interface::default();
    let mut insert = |key: MetadataKey, value: &str| {
        if !value.is_empty() {
            own.metadata.insert(key, value.to_owned());
        }
    };
    insert(MetadataKey::Description, &model.doc_string);
    if model.model_version != 0 {
        insert(MetadataKey::Version, &model.model_version.to_string());
    }
    for StringStringEntryProto { key, value } in &model.metadata_props {
        let key = match &key[..] {
            AUTHOR => MetadataKey::Author,
            LICENSE => MetadataKey::License,
            VERSION if model.model_version == 0 => MetadataKey::Version,
            _ => MetadataKey::User(key.clone()),
        };
        insert(key, value);
    }
    let Some(graph) = &model.graph else {
        return own;
    };
    for input in graph.input.iter().filter(|own| !own.doc_string.is_empty()) {
        let feature = Feature {
            description: input.doc_string.clone(),
            image: None,
        };
        own.inputs.insert(input.name.clone(), feature);
    }
    for (at, output) in graph.output.iter().enumerate() {
        // A value that is two outputs has one name, which only one of them can keep.
        let is_free = !output.name.is_empty() && own.output_position(&output.name).is_none();
        let entry = own.output_mut(at);
        entry.name = is_free.then(|| output.name.clone());
        entry.feature.description.clone_from(&output.doc_string);
    }
    own
}

/// Writes the interface of a module to the exported model.
pub(crate) fn describe(g: &Graph, model: &mut ModelProto) {
    let own = &g.interface;
    let mut property = |key: &str, value: &str| {
        model.metadata_props.push(StringStringEntryProto {
            key: key.to_owned(),
            value: value.to_owned(),
        });
    };
    for (key, value) in &own.metadata {
        match (key, value.parse()) {
            (MetadataKey::Description, _) => model.doc_string.clone_from(value),
            (MetadataKey::Author, _) => property(AUTHOR, value),
            (MetadataKey::License, _) => property(LICENSE, value),
            (MetadataKey::Version, Ok(number)) if number != 0 => model.model_version = number,
            (MetadataKey::Version, _) => property(VERSION, value),
            (MetadataKey::User(key), _) => property(key, value),
        }
    }
    let Some(graph) = &mut model.graph else {
        return;
    };
    for input in &mut graph.input {
        if let Some(feature) = own.inputs.get(&input.name) {
            describe_value(input, feature);
        }
    }
    for (output, entry) in graph.output.iter_mut().zip(&own.outputs) {
        describe_value(output, &entry.feature);
    }
}

fn describe_value(value: &mut ValueInfoProto, feature: &Feature) {
    value.doc_string.clone_from(&feature.description);
}
