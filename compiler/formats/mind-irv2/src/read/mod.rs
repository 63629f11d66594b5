//! Parses documents of both dialects, strictly.
//!
//! Dimensions, buffers and nodes are not read into the document, but checked against the tables of
//! [`layout`](crate::layout). An accepted document therefore means the same as its configuration.

mod buffers;
mod config;
pub(crate) mod dims;
pub(crate) mod field;
mod meta;
mod nodes;
mod plan;

use mind_diag::Diagnostics;
use mind_json::{Limits, Value};

use self::field::Reader;
use crate::codes;
use crate::condition::Mode;
use crate::config::Parameters;
use crate::family::{Families, Family};
use crate::schema::Document;

/// Options for reading a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadOptions {
    /// Whether unknown members are kept; otherwise they are errors.
    pub allow_unknown: bool,
    /// The flag of the calling tool that allows unknown members, if it has one.
    pub unknown_flag: Option<&'static str>,
    /// The known families.
    pub families: Families,
}

/// The keys of a document. Members that lowering adds are ignored.
const KEYS: &[&str] = &[
    "version",
    "notes",
    "config",
    "dimensions",
    "buffers",
    "nodes",
    "meta",
    "lowering",
    "memory_plan",
];

/// Returns whether `text` looks like a document and not like other JSON: an object with keys of a document.
pub fn is_document(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    let keys = ["\"buffers\"", "\"nodes\"", "\"dimensions\""];
    text.starts_with('{') && keys.iter().any(|key| text.contains(key))
}

/// Reads a document. Warnings are returned with it.
///
/// # Errors
///
/// Returns all errors, each with the JSON pointer of its location: E4201 if the text is not JSON, and E4202 to E4211.
pub fn read(text: &str, options: &ReadOptions) -> Result<(Document, Diagnostics), Diagnostics> {
    let root = mind_json::parse(text, &Limits::default()).map_err(|found| *found)?;
    let mut reader = Reader::new(options);
    let document = document(&root, options.families, &mut reader);
    let mut found = reader.found;
    found.sort_by_place();
    let found = mind_json::locate(&root, found);
    match document {
        Some(document) if !found.has_errors() => Ok((document, found)),
        _ => Err(found),
    }
}

/// The family that a document is of; `None` if its text is not JSON or names a family that `families` lack.
pub fn family(text: &str, families: Families) -> Option<Family> {
    let root = mind_json::parse(text, &Limits::default()).ok()?;
    let mut reader = Reader::new(&ReadOptions::default());
    let named = meta::family(&root, families, &mut reader);
    match reader.found.has_errors() {
        true => None,
        false => named.or_else(|| nodes::family_of(&root, families)),
    }
}

/// Returns the document if its configuration can be read; reports all errors.
fn document(root: &Value, families: Families, r: &mut Reader) -> Option<Document> {
    if root.members().is_none() {
        let message = format!("a document is an object, found {}", root.describe());
        r.push(codes::KIND, root.span, message);
        return None;
    }
    version(root, r);
    if of_gradients(root, r) {
        return None;
    }
    let foreign = r.foreign(root, KEYS);
    let notes = notes(root, r);
    let said = meta::family(root, families, r);
    let family = match said {
        Some(family) => family,
        None => nodes::family_of(root, families)?,
    };
    let nodes = nodes::read(root, family, r);
    let buffers = buffers::read(root, family, r);
    let raw_meta = meta::read(root, family, r);
    let (parameters, foreign_config) = config::read(root, family, &buffers.forward, r)?;
    let parameters = Parameters {
        biases: raw_meta.biases.unwrap_or_else(|| nodes.biases(family)),
        ..parameters
    };
    let config = config::checked(root, parameters, r)?;
    let dims = dims::check(root, &config, r);
    let dtypes = buffers::check(&buffers, &config, &dims, &raw_meta, r);
    plan::check(&nodes, &buffers.forward, &config, root, r);
    meta::check(&raw_meta, &config, r);
    Some(Document {
        config,
        dtypes,
        fused_qkv: raw_meta.fused_qkv,
        notes,
        foreign: crate::schema::Foreign {
            document: foreign,
            config: foreign_config,
            meta: raw_meta.foreign,
        },
    })
}

/// Returns whether the document is lowered for the backward pass, which is reported.
fn of_gradients(root: &Value, r: &mut Reader) -> bool {
    let lowered = root.get("lowering").and_then(|own| own.get("mode"));
    let modes = [root.get("mode"), lowered].into_iter().flatten();
    let backward = modes.filter(|own| own.text() == Some(Mode::Backward.name()));
    for value in backward.clone().take(1) {
        let message = "the document is lowered to `mode` \"backward\", which is not supported: models are run forward";
        r.push(codes::UNSUPPORTED, value.span, message);
    }
    backward.count() > 0
}

fn version(root: &Value, r: &mut Reader) {
    let Some(version) = r.required(root, "version") else {
        return;
    };
    if version.integer() != Some(2) {
        let message = format!("`version` is {}, expected 2", version.describe());
        r.push(codes::KIND, version.span, message);
    }
}

fn notes(root: &Value, r: &mut Reader) -> Vec<String> {
    let Some(notes) = root.get("notes") else {
        return Vec::new();
    };
    let texts = notes.elements().map(|all| all.iter().map(Value::text));
    let texts: Option<Vec<&str>> = texts.and_then(Iterator::collect);
    match (texts, notes.text()) {
        (Some(texts), _) => texts.into_iter().map(str::to_owned).collect(),
        (None, Some(text)) => vec![text.to_owned()],
        (None, None) => {
            let message = format!("`notes` is {}, expected a list of texts", notes.describe());
            r.push(codes::KIND, notes.span, message);
            Vec::new()
        }
    }
}
