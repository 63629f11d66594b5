//! Models that are not ML programs.

use mind_diag::{Diagnostic, Span};
use prost::Message;
use prost::encoding::{DecodeContext, decode_key, skip_field};

use super::error::shown;

/// The model types by field number.
///
/// Source: Core ML specification, `Model.proto`.
const KINDS: &[(u32, &str)] = &[
    (200, "a pipeline that ends in a classifier"),
    (201, "a pipeline that ends in a regressor"),
    (202, "a pipeline"),
    (300, "a generalized linear regressor"),
    (301, "a support vector regressor"),
    (302, "a tree ensemble regressor"),
    (303, "a neural network that is a regressor"),
    (304, "a Bayesian probit regressor"),
    (400, "a generalized linear classifier"),
    (401, "a support vector classifier"),
    (402, "a tree ensemble classifier"),
    (403, "a neural network that is a classifier"),
    (404, "a nearest neighbors classifier"),
    (500, "a neural network"),
    (501, "an item similarity recommender"),
    (555, "a custom model"),
    (556, "a link to another model"),
    (560, "class confidence thresholding"),
    (600, "a one-hot encoder"),
    (601, "an imputer"),
    (602, "a feature vectorizer"),
    (603, "a dictionary vectorizer"),
    (604, "a scaler"),
    (606, "a categorical mapping"),
    (607, "a normalizer"),
    (609, "an array feature extractor"),
    (610, "a non-maximum suppression"),
    (900, "an identity"),
    (2000, "a text classifier"),
    (2001, "a word tagger"),
    (2002, "a vision feature print"),
    (2003, "sound analysis preprocessing"),
    (2004, "a gazetteer"),
    (2005, "a word embedding"),
    (2006, "an audio feature print"),
    (3000, "a serialized model"),
];

/// Pipelines, which chain several models.
const PIPELINES: [u32; 3] = [200, 201, 202];

/// Neural networks of the format that preceded ML programs.
const NETWORKS: [u32; 3] = [303, 403, 500];

/// Returns the error for a model that is not an ML program, with its type and a way to convert it.
pub(super) fn refused(model: &[u8]) -> Diagnostic {
    let fields = fields(model);
    let kind = KINDS.iter().find(|(number, _)| fields.contains(number));
    let Some(&(number, what)) = kind else {
        let message = "the model is not an ML program";
        let help = "models from specification version 6 on can be";
        return Diagnostic::error(Span::FILE, message).help(help);
    };
    let (parts, help) = if PIPELINES.contains(&number) {
        let help = "read one of its models: `coremltools.models.MLModel(spec.pipeline.models[0], \
                    weights_dir=...).save(...)` writes the first";
        (parts(model), help)
    } else if NETWORKS.contains(&number) {
        let help = "convert the model that it was made of again, with \
                    `coremltools.convert(..., convert_to=\"mlprogram\")`, or write that as ONNX";
        (String::new(), help)
    } else {
        (String::new(), "write the model that it was made of as ONNX")
    };
    let message = format!("this Core ML model is {what}{parts}, not an ML program");
    Diagnostic::error(Span::FILE, message).help(help)
}

/// Returns the field numbers of a message, up to the first malformed field.
fn fields(mut rest: &[u8]) -> Vec<u32> {
    let mut numbers = Vec::new();
    while !rest.is_empty() {
        let Ok((number, wire)) = decode_key(&mut rest) else {
            break;
        };
        if skip_field(wire, number, &mut rest, DecodeContext::default()).is_err() {
            break;
        }
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    numbers
}

/// A model of which only the pipeline is decoded.
#[derive(Clone, PartialEq, Message)]
struct Piped {
    #[prost(message, optional, tag = "200")]
    classifier: Option<Around>,
    #[prost(message, optional, tag = "201")]
    regressor: Option<Around>,
    #[prost(message, optional, tag = "202")]
    pipeline: Option<Pipeline>,
}

#[derive(Clone, PartialEq, Message)]
struct Around {
    #[prost(message, optional, tag = "1")]
    pipeline: Option<Pipeline>,
}

#[derive(Clone, PartialEq, Message)]
struct Pipeline {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    models: Vec<prost::bytes::Bytes>,
    #[prost(string, repeated, tag = "2")]
    names: Vec<String>,
}

/// Returns the number and the names of the models of a pipeline.
fn parts(model: &[u8]) -> String {
    let piped = Piped::decode(model).unwrap_or_default();
    let around = piped.classifier.or(piped.regressor);
    let pipeline = piped.pipeline.or(around.and_then(|own| own.pipeline));
    let Pipeline { models, names } = pipeline.unwrap_or_default();
    let names = names.iter().take(8);
    let names: Vec<String> = names.map(|name| format!("`{}`", shown(name))).collect();
    let listed = match names.is_empty() {
        true => String::new(),
        false => format!(" ({})", names.join(", ")),
    };
    format!(" of {} models{listed}", models.len())
}
