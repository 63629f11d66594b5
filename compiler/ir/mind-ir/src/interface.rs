//! The public interface of a module, except for its ops.
//!
//! Names of outputs, descriptions, images and class labels belong to the module, not to a format: passes keep them,
//! Core text prints them, and each format that can represent them reads and writes them. The names of inputs are
//! attributes of their ops.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

crate::words! {
    /// The channels of an image, in their order along the channel axis of its tensor.
    pub enum Color {
        /// Red, green, blue.
        Rgb = "rgb",
        /// Blue, green, red.
        Bgr = "bgr",
        /// One channel of 8 bits.
        Gray = "gray",
        /// One channel of `f16`.
        Gray16 = "gray16",
    }
}

impl Color {
    /// Returns the number of channels.
    pub const fn channels(self) -> i64 {
        match self {
            Color::Rgb | Color::Bgr => 3,
            Color::Gray | Color::Gray16 => 1,
        }
    }
}

/// The key of an entry of [`Interface::metadata`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MetadataKey {
    /// The author.
    Author,
    /// A description of the module.
    Description,
    /// The license.
    License,
    /// The version.
    Version,
    /// An entry with a user-defined key.
    User(String),
}

impl MetadataKey {
    /// The names of the predefined keys, in order.
    pub const WORDS: &'static [&'static str] = &["author", "description", "license", "version"];

    /// Returns the predefined key of a name in [`WORDS`](MetadataKey::WORDS).
    pub fn of_word(word: &str) -> Option<MetadataKey> {
        Some(match word {
            "author" => MetadataKey::Author,
            "description" => MetadataKey::Description,
            "license" => MetadataKey::License,
            "version" => MetadataKey::Version,
            _ => return None,
        })
    }

    /// Returns the name of the key, or the user-defined key.
    pub fn text(&self) -> &str {
        match self {
            MetadataKey::Author => "author",
            MetadataKey::Description => "description",
            MetadataKey::License => "license",
            MetadataKey::Version => "version",
            MetadataKey::User(key) => key,
        }
    }
}

/// Properties of an input or output other than its name and type.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Feature {
    /// A description for users; may be empty.
    pub description: String,
    /// The channels, if callers pass or receive an image. Its tensor is `[1, channels, height, width]`.
    pub image: Option<Color>,
}

impl Feature {
    /// Whether there is neither a description nor an image.
    pub fn is_empty(&self) -> bool {
        self.description.is_empty() && self.image.is_none()
    }
}

/// An output.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Output {
    /// Its name. An output without a name is called `%` and the number of its value in text.
    pub name: Option<String>,
    /// Its other properties.
    pub feature: Feature,
}

/// Class labels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Classes {
    /// Strings.
    Words(Vec<String>),
    /// Integers.
    Numbers(Vec<i64>),
}

impl Classes {
    /// Returns the number of classes.
    pub fn len(&self) -> usize {
        match self {
            Classes::Words(all) => all.len(),
            Classes::Numbers(all) => all.len(),
        }
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A classifier, which returns the label of the most probable class from an output of one probability per class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Classifier {
    /// The name of the label for callers.
    pub label: String,
    /// A description of the label for users; may be empty.
    pub description: String,
    /// The labels, in the order of the probabilities.
    pub classes: Classes,
    /// The name of the output with the probabilities.
    pub probabilities: String,
}

/// The public interface of a module, except for its ops and the names of its inputs.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Author, description, license, version and user-defined entries.
    pub metadata: BTreeMap<MetadataKey, String>,
    /// The properties of inputs that have some, by name.
    pub inputs: BTreeMap<String, Feature>,
    /// The outputs in order; outputs after the last entry have neither a name nor properties.
    pub outputs: Vec<Output>,
    /// The classifier, if the module is one.
    pub classifier: Option<Classifier>,
}

impl Interface {
    /// Whether it has no metadata, names or properties.
    pub fn is_empty(&self) -> bool {
        self.metadata.is_empty()
            && self.inputs.is_empty()
            && self.classifier.is_none()
            && self.outputs.iter().all(|own| *own == Output::default())
    }

    /// Returns the name of the output at a position, if it has one.
    pub fn output_name(&self, at: usize) -> Option<&str> {
        self.outputs.get(at)?.name.as_deref()
    }

    /// Returns the properties of the output at a position.
    pub fn output_feature(&self, at: usize) -> Option<&Feature> {
        self.outputs.get(at).map(|own| &own.feature)
    }

    /// Returns the entry of the output at a position, which is created if it is missing.
    pub fn output_mut(&mut self, at: usize) -> &mut Output {
        if self.outputs.len() <= at {
            self.outputs.resize(at + 1, Output::default());
        }
        &mut self.outputs[at]
    }

    /// Sets the names of the outputs, in order.
    pub fn name_outputs<N: Into<String>>(&mut self, names: impl IntoIterator<Item = N>) {
        for (at, name) in names.into_iter().enumerate() {
            self.output_mut(at).name = Some(name.into());
        }
    }

    /// Returns the position of the output with this name.
    pub fn output_position(&self, name: &str) -> Option<usize> {
        let is_own = |own: &Output| own.name.as_deref() == Some(name);
        self.outputs.iter().position(is_own)
    }

    /// Returns a description of the first rule that the interface of a module with `outputs` outputs breaks.
    pub(crate) fn problem(&self, outputs: usize) -> Option<String> {
        let known = self.outputs.len();
        if known > outputs {
            return Some(format!(
                "the interface names {known} outputs, but the module has {outputs}"
            ));
        }
        let mut names = BTreeSet::new();
        for name in self.outputs.iter().filter_map(|own| own.name.as_deref()) {
            if name.is_empty() {
                return Some("the name of an output is empty".to_owned());
            }
            if !names.insert(name) {
                return Some(format!("two outputs are called `{name}`"));
            }
        }
        let Classifier {
            label,
            probabilities,
            ..
        } = self.classifier.as_ref()?;
        if !names.contains(&probabilities[..]) {
            return Some(format!(
                "the probabilities of the classifier are `{probabilities}`, which is not the name of an output"
            ));
        }
        names
            .contains(&label[..])
            .then(|| format!("the label of the classifier and an output are both called `{label}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_metadata_read_back() {
        for &word in MetadataKey::WORDS {
            let key = MetadataKey::of_word(word).expect("a key");
            assert_eq!(key.text(), word);
        }
        assert_eq!(MetadataKey::of_word("licence"), None);
    }

    #[test]
    fn names_must_be_distinct_and_belong_to_outputs() {
        let mut own = Interface::default();
        own.name_outputs(["a", "b"]);
        assert_eq!(own.problem(2), None);
        assert_eq!(own.output_position("b"), Some(1));
        assert!(
            own.problem(1)
                .is_some_and(|found| found.contains("names 2 outputs"))
        );
        own.name_outputs(["a", "a"]);
        assert_eq!(
            own.problem(2).as_deref(),
            Some("two outputs are called `a`")
        );
        own.name_outputs(["a", ""]);
        assert_eq!(
            own.problem(2).as_deref(),
            Some("the name of an output is empty")
        );
    }

    #[test]
    fn a_classifier_reads_an_output() {
        let mut own = Interface::default();
        own.name_outputs(["odds"]);
        own.classifier = Some(Classifier {
            label: "label".to_owned(),
            description: String::new(),
            classes: Classes::Numbers(vec![1, 2]),
            probabilities: "odds".to_owned(),
        });
        assert_eq!(own.problem(1), None);
        own.name_outputs(["label"]);
        assert!(own.problem(1).is_some_and(|found| found.contains("`odds`")));
    }
}
