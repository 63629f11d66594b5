//! Lowers `classify`, which maps probabilities to labels, to an entry of the module's interface.

use mind_diag::Diagnostic;
use mind_ir::ValueId;
use mind_ir::interface::Classifier;

use super::Builder;
use crate::mil::Parsed;
use crate::mil::syntax::{Arg, Block, Name, Statement, Typed, Value};

/// The name of the operation.
pub(super) const CLASSIFY: &str = "classify";

/// The classifier of a program, and the value of its probabilities.
pub(super) struct Classified {
    label: String,
    probabilities: String,
    value: ValueId,
}

impl<'b> Builder<'b> {
    /// Reads the classifier of the main function.
    ///
    /// # Errors
    ///
    /// A second classifier, labels that are not a list of words or integers, or probabilities that are not a single
    /// value.
    pub(super) fn classify(&mut self, statement: &'b Statement<'b>) -> Parsed<()> {
        let span = statement.op.span;
        let refused =
            |message: &str, help: &str| Box::new(Diagnostic::error(span, message).help(help));
        let [(_, label), (_, probabilities)] = &statement.results[..] else {
            let message = format!(
                "`classify` has 2 results, found {}",
                statement.results.len()
            );
            return Err(refused(
                &message,
                "the label and the probability of each class",
            ));
        };
        if self.classified.is_some() {
            return Err(refused(
                "a second `classify`",
                "a module has one classifier",
            ));
        }
        let argument = |wanted: &str| {
            let mut args = statement.args.iter();
            let found = args
                .find(|(name, _)| name.text == wanted)
                .map(|(_, arg)| single(arg));
            let message = format!("`classify` has no argument `{wanted}`");
            found
                .flatten()
                .ok_or_else(|| refused(&message, "it takes `probabilities` and `classes`"))
        };
        let Arg::Typed(Typed {
            value: Value::Classes(classes),
            ..
        }) = argument("classes")?
        else {
            let message = "`classes` is not a list of words or integers";
            return Err(refused(message, "write the labels in the argument itself"));
        };
        let Arg::Name(read) = argument("probabilities")? else {
            let message = "`probabilities` is not the name of a value";
            return Err(refused(message, "it is a result of the function"));
        };
        let Some(value) = self.read(*read) else {
            let message = format!("`{}` is used before its definition", read.text);
            return Err(refused(
                &message,
                "move the statement that defines it above this one",
            ));
        };
        self.classified = Some(Classified {
            label: label.text.to_owned(),
            probabilities: probabilities.text.to_owned(),
            value,
        });
        self.graph.interface.classifier = Some(Classifier {
            label: label.text.to_owned(),
            description: String::new(),
            classes: classes.clone(),
            probabilities: probabilities.text.to_owned(),
        });
        Ok(())
    }

    /// Returns the outputs of the main function with their names. The label of a classifier is left out.
    pub(super) fn named_outputs(
        &mut self,
        syntax: &'b Block<'b>,
    ) -> Option<Vec<(ValueId, &'b str)>> {
        let mut outputs = Vec::new();
        let mut is_whole = true;
        let mut has_probabilities = self.classified.is_none();
        for name in &syntax.outputs {
            match self.classified.as_ref() {
                Some(own) if own.label == name.text => {}
                Some(own) if own.probabilities == name.text => {
                    has_probabilities = true;
                    outputs.push((own.value, name.text));
                }
                Some(_) | None => match self.output(*name) {
                    Some(value) => outputs.push((value, name.text)),
                    None => is_whole = false,
                },
            }
        }
        if !has_probabilities {
            let message = "the probabilities of `classify` are not an output";
            let found = Diagnostic::error(syntax.end, message);
            self.found
                .push(found.help("give them out: the label is computed of them"));
        }
        (is_whole && has_probabilities).then_some(outputs)
    }

    /// Returns the error for a classifier outside of the main function's own block.
    pub(super) fn inner_classify(name: Name<'_>) -> Box<Diagnostic> {
        let message = "`classify` is kept only for the function that a module is";
        let found = Diagnostic::error(name.span, message);
        Box::new(found.help("write each function as a separate package"))
    }
}

/// Returns the only value of an argument; `None` if there are several.
fn single<'a, 't>(arg: &'a Arg<'t>) -> Option<&'a Arg<'t>> {
    match arg {
        Arg::Tuple(all) => match &all[..] {
            [one] => single(one),
            _ => None,
        },
        Arg::Name(_) | Arg::Typed(_) => Some(arg),
    }
}

/// Returns labels that are all words or all integers; `None` if they are mixed.
#[cfg(feature = "package")]
pub(crate) fn classes(
    words: Vec<String>,
    numbers: Vec<i64>,
) -> Option<mind_ir::interface::Classes> {
    use mind_ir::interface::Classes;

    match (words.is_empty(), numbers.is_empty()) {
        (_, true) => Some(Classes::Words(words)),
        (true, false) => Some(Classes::Numbers(numbers)),
        (false, false) => None,
    }
}
