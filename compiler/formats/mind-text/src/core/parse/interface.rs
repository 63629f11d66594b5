//! Interface lines, which precede the instructions.

use mind_ir::interface::{Classes, Classifier, Color, Feature, MetadataKey, Output};

use super::Parser;
use super::body::BodyProgress;
use super::source::Source;
use super::value::read_word;
use crate::core::cursor::excerpt;
use crate::core::error::{Parsed, SyntaxError};

/// The keys of a feature.
static FEATURE_KEYS: [&str; 2] = ["description", "image"];

/// The keys of an output.
static OUTPUT_KEYS: [&str; 3] = ["description", "image", "name"];

/// The keys of a classifier.
static CLASSIFIER_KEYS: [&str; 3] = ["classes", "description", "probabilities"];

/// The color layouts of images.
static COLORS: [&str; 4] = [
    Color::Rgb.name(),
    Color::Bgr.name(),
    Color::Gray.name(),
    Color::Gray16.name(),
];

/// The predefined metadata keys.
static METADATA_KEYS: &[&str] = MetadataKey::WORDS;

impl Parser<'_> {
    /// Reads `metadata: author="Jane", "com.example.key"="value"`. The cursor is after the keyword, which starts at
    /// `start`.
    pub(super) fn metadata(&mut self, start: usize) -> Parsed<()> {
        self.before_instructions("metadata", start)?;
        loop {
            self.src.cursor.peek();
            let at = self.src.cursor.at();
            let key = metadata_key(&mut self.src)?;
            let end = self.src.cursor.at();
            self.src.cursor.expect(b'=', "`=`")?;
            let value = name(&mut self.src)?;
            let entries = &mut self.src.graph.interface.metadata;
            if entries.contains_key(&key) {
                return Err(repeated(key.text(), at, end));
            }
            entries.insert(key, value);
            if !self.src.cursor.eat(b',') || self.src.cursor.at_line_end() {
                return self.end_line();
            }
        }
    }

    /// Reads `input: x {description="a photo", image=rgb}`. The cursor is after the keyword, which starts at `start`.
    pub(super) fn input_feature(&mut self, start: usize) -> Parsed<()> {
        self.before_instructions("input", start)?;
        self.src.cursor.peek();
        let at = self.src.cursor.at();
        let input = name(&mut self.src)?;
        let end = self.src.cursor.at();
        let mut feature = Feature::default();
        braces(&mut self.src, &FEATURE_KEYS, |src, key| {
            read_feature(src, key, &mut feature)
        })?;
        let inputs = &mut self.src.graph.interface.inputs;
        if inputs.contains_key(&input) {
            return Err(repeated(&input, at, end));
        }
        inputs.insert(input, feature);
        self.end_line()
    }

    /// Reads `classifier: label {classes=["cat", "dog"], probabilities=odds}`. The cursor is after the keyword, which
    /// starts at `start`.
    pub(super) fn classifier(&mut self, start: usize) -> Parsed<()> {
        self.before_instructions("classifier", start)?;
        self.src.cursor.peek();
        let at = self.src.cursor.at();
        let label = name(&mut self.src)?;
        let end = self.src.cursor.at();
        if self.src.graph.interface.classifier.is_some() {
            return Err(repeated("classifier", start, end));
        }
        let (mut classes, mut probabilities) = (None, None);
        let mut description = String::new();
        braces(&mut self.src, &CLASSIFIER_KEYS, |src, key| {
            match key {
                "classes" => classes = Some(read_classes(src)?),
                "probabilities" => probabilities = Some(name(src)?),
                _ => description = name(src)?,
            }
            Ok(())
        })?;
        let missing = |key| SyntaxError::MissingPart { key }.at(at, end);
        self.src.graph.interface.classifier = Some(Classifier {
            label,
            description,
            classes: classes.ok_or_else(|| missing("classes"))?,
            probabilities: probabilities.ok_or_else(|| missing("probabilities"))?,
        });
        self.end_line()
    }

    /// Checks that the line `keyword` at `start` precedes the first instruction of the module.
    ///
    /// # Errors
    ///
    /// Errors if it does not.
    fn before_instructions(&mut self, keyword: &'static str, start: usize) -> Parsed<()> {
        if self.bodies.len() == 1 && self.body().progress == BodyProgress::Start {
            return Ok(());
        }
        let rule = "is allowed only before the first instruction of the module";
        Err(SyntaxError::Misplaced { keyword, rule }.at(start, self.src.cursor.at()))
    }

    /// Reads the optional braces after the id of output `at`.
    pub(super) fn output_entry(&mut self, at: usize) -> Parsed<()> {
        if self.src.cursor.peek() != b'{' {
            return Ok(());
        }
        let mut output = Output::default();
        braces(&mut self.src, &OUTPUT_KEYS, |src, key| {
            if key == "name" {
                output.name = Some(name(src)?);
                return Ok(());
            }
            read_feature(src, key, &mut output.feature)
        })?;
        *self.src.graph.interface.output_mut(at) = output;
        Ok(())
    }
}

fn repeated(key: &str, start: usize, end: usize) -> Box<crate::core::error::Fault> {
    let key = excerpt(key);
    SyntaxError::RepeatedKey { key }.at(start, end)
}

/// Reads `{key=value, ...}` with keys among `keys`, each at most once; `value` reads the text after `=`.
fn braces(
    src: &mut Source<'_>,
    keys: &'static [&'static str],
    mut value: impl FnMut(&mut Source<'_>, &'static str) -> Parsed<()>,
) -> Parsed<()> {
    let mut seen: Vec<&str> = Vec::new();
    src.cursor.expect(b'{', "`{`")?;
    src.list(b'}', "`,` or `}`", |src| {
        src.cursor.peek();
        let start = src.cursor.at();
        let key = read_word(src, keys)?;
        if seen.contains(&key) {
            return Err(repeated(key, start, src.cursor.at()));
        }
        seen.push(key);
        src.cursor.expect(b'=', "`=`")?;
        value(src, key)
    })
}

fn read_feature(src: &mut Source<'_>, key: &str, feature: &mut Feature) -> Parsed<()> {
    if key == "image" {
        feature.image = Color::parse(read_word(src, &COLORS)?);
    } else {
        feature.description = name(src)?;
    }
    Ok(())
}

/// Reads a metadata key: a predefined word, or a user-defined key in quotes.
fn metadata_key(src: &mut Source<'_>) -> Parsed<MetadataKey> {
    if src.cursor.peek() == b'"' {
        return Ok(MetadataKey::User(src.cursor.string()?.into_owned()));
    }
    let word = read_word(src, METADATA_KEYS)?;
    Ok(MetadataKey::of_word(word).unwrap_or_else(|| MetadataKey::User(word.to_owned())))
}

/// Reads a name or other text, which is in quotes unless it is an identifier.
fn name(src: &mut Source<'_>) -> Parsed<String> {
    if src.cursor.peek() == b'"' {
        return Ok(src.cursor.string()?.into_owned());
    }
    match src.cursor.word()? {
        Some(word) => Ok(word.to_owned()),
        None => Err(src
            .cursor
            .unexpected("a name or text, in quotes unless it is an identifier")),
    }
}

/// Reads a list of words or of integers.
fn read_classes(src: &mut Source<'_>) -> Parsed<Classes> {
    src.cursor.expect(b'[', "`[` and labels")?;
    let is_number = matches!(src.cursor.peek(), b'0'..=b'9' | b'-');
    let (mut words, mut numbers) = (Vec::new(), Vec::new());
    src.list(b']', "`,` or `]`", |src| {
        if is_number {
            numbers.push(src.int()?);
        } else {
            words.push(name(src)?);
        }
        Ok(())
    })?;
    Ok(if is_number {
        Classes::Numbers(numbers)
    } else {
        Classes::Words(words)
    })
}
