//! Reads the module interface from a model description.

use mind_diag::{Diagnostic, Diagnostics, Severity, Span};
use mind_ir::Graph;
use mind_ir::interface::{Feature, Interface, MetadataKey};
use mind_mil::structure::program;
use prost::Message;

use super::error::shown;
use super::flexible::is_mixed;
use crate::package::interface::color;
use crate::package::proto::{
    ArrayFeatureType, FeatureDescription, FeatureType, FunctionDescription, ModelDescription,
    feature_type,
};

/// Copies the model description to the interface of the module.
pub(super) fn describe(g: &mut Graph, description: &ModelDescription) {
    let function = program(g).map_or(String::new(), |own| g.name(own.function(g)).to_owned());
    let own = &mut g.interface;
    metadata(own, description);
    let (inputs, outputs) = features(description, &function);
    for input in inputs {
        let feature = feature(input);
        if !feature.is_empty() {
            own.inputs.insert(input.name.clone(), feature);
        }
    }
    for output in outputs {
        if let Some(at) = own.output_position(&output.name) {
            own.output_mut(at).feature = feature(output);
        }
        if let Some(classifier) = own
            .classifier
            .as_mut()
            .filter(|own| own.label == output.name)
        {
            classifier.description.clone_from(&output.short_description);
        }
    }
}

/// Returns the inputs and outputs of a function. If there are several functions, each has its own description.
pub(super) fn features<'d>(
    description: &'d ModelDescription,
    function: &str,
) -> (&'d [FeatureDescription], &'d [FeatureDescription]) {
    let mut functions = description.functions.iter();
    match functions.find(|own| own.name == function) {
        Some(own) => (&own.input, &own.output),
        None => (&description.input, &description.output),
    }
}

fn metadata(own: &mut Interface, description: &ModelDescription) {
    let Some(metadata) = &description.metadata else {
        return;
    };
    let words = [
        (MetadataKey::Author, &metadata.author),
        (MetadataKey::Description, &metadata.short_description),
        (MetadataKey::License, &metadata.license),
        (MetadataKey::Version, &metadata.version_string),
    ];
    for (key, value) in words.into_iter().filter(|(_, value)| !value.is_empty()) {
        own.metadata.insert(key, value.clone());
    }
    for (key, value) in &metadata.user_defined {
        let key = MetadataKey::User(key.clone());
        own.metadata.insert(key, value.clone());
    }
}

fn kind(feature: &FeatureDescription) -> Option<&feature_type::Type> {
    feature.r#type.as_ref()?.r#type.as_ref()
}

fn feature(own: &FeatureDescription) -> Feature {
    let image = match kind(own) {
        Some(feature_type::Type::ImageType(image)) => color(image.color_space),
        _ => None,
    };
    Feature {
        description: own.short_description.clone(),
        image,
    }
}

/// A model of which only the description is decoded.
#[derive(Clone, PartialEq, Message)]
struct Described {
    #[prost(message, optional, tag = "2")]
    description: Option<ModelDescription>,
    #[prost(bool, tag = "10")]
    is_updatable: bool,
}

/// Returns a note for each part of the model description that the module does not keep.
pub fn left_out(model: &[u8]) -> Diagnostics {
    let Ok(Described {
        description: Some(description),
        is_updatable,
    }) = Described::decode(model)
    else {
        return Diagnostics::new();
    };
    let mut notes = Vec::new();
    if is_updatable || !description.training_input.is_empty() {
        notes.push(
            "the model can be trained on the device, which its module does not keep".to_owned(),
        );
    }
    if is_mixed(&description.input) {
        let note = "some inputs have ranges of shapes and some lists, of which the ranges are kept";
        notes.push(note.to_owned());
    }
    let default = &description.default_function_name;
    let classifier = [
        &description.predicted_feature_name,
        &description.predicted_probabilities_name,
    ];
    let top = description.input.iter().map(|own| (own, true));
    let top = top.chain(description.output.iter().map(|own| (own, false)));
    for (feature, is_input) in top {
        notes.extend(optional(feature).filter(|_| is_input));
        let is_known = classifier.contains(&&feature.name);
        notes.extend(foreign(feature).filter(|_| !is_known));
    }
    for function in &description.functions {
        if function.name == *default {
            let inputs = function.input.iter();
            notes.extend(inputs.filter_map(optional));
        } else {
            notes.extend(of_function(function));
        }
    }
    let notes = notes.into_iter();
    let mut found = Diagnostics::new();
    notes.for_each(|note| found.push(Diagnostic::new(Severity::Note, Span::FILE, note)));
    found
}

fn optional(own: &FeatureDescription) -> Option<String> {
    let FeatureType {
        is_optional,
        r#type,
    } = own.r#type.as_ref()?;
    if !is_optional {
        return None;
    }
    let default = match r#type {
        Some(feature_type::Type::MultiArrayType(ArrayFeatureType {
            default_value: Some(_),
            ..
        })) => "its default value is not kept, and ",
        _ => "",
    };
    let name = shown(&own.name);
    Some(format!(
        "input `{name}` is optional: {default}a module is given every input"
    ))
}

/// Returns the note on a feature that is not a tensor, an image or a state.
fn foreign(own: &FeatureDescription) -> Option<String> {
    let what = match kind(own)? {
        feature_type::Type::Int64Type(_) => "an integer",
        feature_type::Type::DoubleType(_) => "a number",
        feature_type::Type::StringType(_) => "a string",
        feature_type::Type::DictionaryType(_) => "a dictionary",
        feature_type::Type::SequenceType(_) => "a sequence",
        feature_type::Type::ImageType(image) if color(image.color_space).is_none() => {
            "an image of an unknown color space"
        }
        feature_type::Type::ImageType(_)
        | feature_type::Type::MultiArrayType(_)
        | feature_type::Type::StateType(_) => return None,
    };
    let name = shown(&own.name);
    Some(format!(
        "`{name}` is described as {what}, and is kept as the tensor that the program has"
    ))
}

/// Returns the note on the description of a function other than the default one.
fn of_function(own: &FunctionDescription) -> Option<String> {
    let features = own.input.iter().chain(&own.output);
    let said = features.filter(|own| !feature(own).is_empty());
    let names: Vec<String> = said.map(|own| format!("`{}`", shown(&own.name))).collect();
    let function = shown(&own.name);
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("images and descriptions of the function `{function}` are not kept: {names}")
    })
}
