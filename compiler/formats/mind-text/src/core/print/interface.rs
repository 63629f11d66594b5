//! Printing the interface.

use mind_ir::interface::{Classes, Classifier, Feature, MetadataKey, Output};

use super::attrs::write_name;
use super::{Printer, write_list};
use crate::number::write_int;
use crate::quoted::write_quoted;

impl Printer<'_> {
    /// Prints the lines that precede the instructions.
    pub(super) fn interface(&mut self) {
        let interface = &self.g.interface;
        for (key, value) in &interface.metadata {
            self.line(0);
            self.out.push_str("metadata: ");
            match key {
                MetadataKey::User(key) => write_quoted(&mut self.out, key),
                word => self.out.push_str(word.text()),
            }
            self.out.push('=');
            write_quoted(&mut self.out, value);
        }
        for (name, feature) in &interface.inputs {
            if feature.is_empty() {
                continue;
            }
            self.line(0);
            self.out.push_str("input: ");
            write_name(&mut self.out, name);
            write_entries(&mut self.out, &feature_entries(feature));
        }
        if let Some(classifier) = &interface.classifier {
            self.line(0);
            self.out.push_str("classifier: ");
            write_classifier(&mut self.out, classifier);
        }
    }

    /// Prints the properties of output `at`, after its id.
    pub(super) fn output_entry(&mut self, at: usize) {
        if let Some(Output { name, feature }) = self.g.interface.outputs.get(at) {
            let mut entries = feature_entries(feature);
            if let Some(name) = name {
                entries.push(("name", Value::Name(name)));
            }
            write_entries(&mut self.out, &entries);
        }
    }
}

/// The value of an entry in braces.
enum Value<'a> {
    Name(&'a str),
    Text(&'a str),
    Word(&'static str),
}

/// Returns the entries of a feature, in the order of their keys.
fn feature_entries(feature: &Feature) -> Vec<(&'static str, Value<'_>)> {
    let mut entries = Vec::new();
    if !feature.description.is_empty() {
        entries.push(("description", Value::Text(&feature.description)));
    }
    if let Some(color) = feature.image {
        entries.push(("image", Value::Word(color.name())));
    }
    entries
}

/// Writes ` {key=value, ...}`, or nothing if `entries` is empty.
fn write_entries(out: &mut String, entries: &[(&str, Value<'_>)]) {
    for (at, (key, value)) in entries.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { " {" });
        out.push_str(key);
        out.push('=');
        match value {
            Value::Name(name) => write_name(out, name),
            Value::Text(text) => write_quoted(out, text),
            Value::Word(word) => out.push_str(word),
        }
    }
    if !entries.is_empty() {
        out.push('}');
    }
}

fn write_classifier(out: &mut String, classifier: &Classifier) {
    let Classifier {
        label,
        description,
        classes,
        probabilities,
    } = classifier;
    write_name(out, label);
    out.push_str(" {classes=");
    match classes {
        Classes::Words(all) => write_list(out, all, |out, word| write_quoted(out, word)),
        Classes::Numbers(all) => write_list(out, all, |out, &number| write_int(out, number)),
    }
    if !description.is_empty() {
        out.push_str(", description=");
        write_quoted(out, description);
    }
    out.push_str(", probabilities=");
    write_name(out, probabilities);
    out.push('}');
}
