//! Why a part of a model cannot be converted from or to a foreign format.

use std::fmt::{self, Display};

use mind_diag::{Code, Diagnostic, Span};
use mind_ir::eval::EvalError;
use mind_ir::verify::VerifyError;

/// The name of an attribute or an operand in messages.
///
/// A `&str` is the name of an attribute and gets backticks; a `String` is used as it is, for example ``input 1
/// (`scales`)``.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument(String);

impl From<&str> for Argument {
    fn from(name: &str) -> Argument {
        Argument(format!("`{name}`"))
    }
}

impl From<String> for Argument {
    fn from(text: String) -> Argument {
        Argument(text)
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why an op, a tensor or an input of a model cannot be converted from or to a foreign format.
///
/// Each has a code of the catalogue, which has a default way out. The constructors other than [`Refusal::new`] put the
/// argument, the found and the expected value both in the message and in the context.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Refusal(Box<Content>);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Content {
    code: Code,
    message: String,
    /// A detail of the finding, for example both shapes.
    label: Option<String>,
    context: Vec<(&'static str, String)>,
    /// A way out that is more specific than that of the code.
    help: Option<String>,
    follows: bool,
}

impl Refusal {
    /// Returns a refusal with a message that no other constructor has.
    pub fn new(code: Code, message: impl Into<String>) -> Refusal {
        Refusal(Box::new(Content {
            code,
            message: message.into(),
            label: None,
            context: Vec::new(),
            help: None,
            follows: false,
        }))
    }

    /// Returns E4108 for a value that the argument does not take.
    pub fn value(
        argument: impl Into<Argument>,
        found: impl Display,
        expected: impl Display,
    ) -> Refusal {
        let argument = argument.into();
        Refusal::new(
            Code(4108),
            format!("{argument} is {found}, expected {expected}"),
        )
        .argument(argument)
        .compared(found, expected)
    }

    /// Returns E4108 for a word that the attribute does not take.
    pub fn word(attribute: &str, found: &str, expected: &[&str]) -> Refusal {
        let expected = format!("\"{}\"", expected.join("\", \""));
        Refusal::value(attribute, format_args!("\"{found}\""), expected)
    }

    /// Returns E4109 for a list of another length; `reason` says where the expected length comes from.
    pub fn length(
        argument: impl Into<Argument>,
        found: usize,
        expected: usize,
        reason: impl Display,
    ) -> Refusal {
        let argument = argument.into();
        let entries = if found == 1 { "entry" } else { "entries" };
        Refusal::new(
            Code(4109),
            format!("{argument} has {found} {entries}, expected {expected} ({reason})"),
        )
        .argument(argument)
        .compared(found, expected)
    }

    /// Returns E4104 for an argument that is required and missing.
    pub fn missing(argument: impl Into<Argument>) -> Refusal {
        let argument = argument.into();
        Refusal::new(Code(4104), format!("{argument} is missing")).argument(argument)
    }

    /// Returns E4102 for an attribute that the op does not have, or whose meaning is not supported.
    pub fn unknown(attribute: &str) -> Refusal {
        let message = format!("attribute `{attribute}` is not supported");
        Refusal::new(Code(4102), message).argument(attribute.into())
    }

    /// Returns E4105 for an argument that must be known when the model is imported; `why` says where it comes from, for
    /// example "is computed at run time".
    pub fn not_constant(argument: impl Into<Argument>, why: impl Display) -> Refusal {
        let argument = argument.into();
        let refusal = Refusal::new(Code(4105), format!("{argument} {why}"));
        refusal.argument(argument).help(
            "store it in the model as a constant, or bind it to an array: `--bind NAME=FILE.npz`",
        )
    }

    /// Returns E4106 for an element type that the argument does not take.
    pub fn dtype(
        argument: impl Into<Argument>,
        found: impl Display,
        expected: impl Display,
    ) -> Refusal {
        let argument = argument.into();
        Refusal::new(
            Code(4106),
            format!("{argument} has elements of type {found}, expected {expected}"),
        )
        .argument(argument)
        .compared(found, expected)
        .help("convert the elements in the model, for example by a cast before the op")
    }

    /// Returns E3002 for a tensor of another rank. `found` is its type.
    pub fn rank(
        argument: impl Into<Argument>,
        found: impl Display,
        expected: impl Display,
    ) -> Refusal {
        let argument = argument.into();
        Refusal::new(
            Code(3002),
            format!("{argument} is {found}, expected rank {expected}"),
        )
        .argument(argument)
        .compared(found, expected)
    }

    /// Returns E3003 for an extent, or a number of things, that must agree with another one.
    pub fn extent(what: impl Display, found: impl Display, expected: impl Display) -> Refusal {
        let message = format!("{what} is {found}, expected {expected}");
        Refusal::new(Code(3003), message).compared(found, expected)
    }

    /// Returns E3004 for an axis that a tensor of rank `rank` does not have.
    pub fn axis(axis: i64, rank: usize) -> Refusal {
        let refusal = Refusal::new(Code(3004), format!("axis {axis} is outside rank {rank}"));
        let refusal = refusal
            .context("axis", axis.to_string())
            .context("rank", rank.to_string());
        match rank {
            0 => refusal.help("a scalar has no axes"),
            _ => refusal.help(format!(
                "axes run from 0 to {}, or from -{rank} to -1 counted from the end",
                rank - 1
            )),
        }
    }

    /// Returns E2001 for a type that differs from the expected one.
    pub fn declared(what: impl Display, found: impl Display, expected: impl Display) -> Refusal {
        let message = format!("{what} is {found}, declared as {expected}");
        Refusal::new(Code(2001), message).compared(found, expected)
    }

    /// Returns E2007 for another number of operands.
    pub fn operands(found: usize, expected: impl Display) -> Refusal {
        let message = format!("found {found} operands, expected {expected}");
        Refusal::new(Code(2007), message).compared(found, expected)
    }

    /// Returns E4116 for parts of a model that do not fit together, for example a region and the op that it belongs to.
    pub fn parts(what: impl Display, found: impl Display, expected: impl Display) -> Refusal {
        let message = format!("{what} has {found}, expected {expected}");
        Refusal::new(Code(4116), message).compared(found, expected)
    }

    /// Returns E4001 for a name that is not defined.
    pub fn undefined(name: &str) -> Refusal {
        let message = format!("nothing defines `{name}`");
        Refusal::new(Code(4001), message)
            .context("operand", name)
            .help("an input, a constant or an earlier op must define each name that is read")
    }

    /// Returns E6004 for a part of a model that is too large to import.
    pub fn too_large(what: impl Display, found: impl Display, limit: impl Display) -> Refusal {
        let message = format!("{what} is {found}, the limit is {limit}");
        Refusal::new(Code(6004), message).compared(found, limit)
    }

    /// Returns E4005 for elements that do not fit the type of their tensor.
    pub fn elements(found: impl Display, expected: impl Display) -> Refusal {
        let message = format!("found {found}, expected {expected}");
        Refusal::new(Code(4005), message).compared(found, expected)
    }

    /// Returns E6003 for an op, or a form of it, that is not supported, with a way out.
    pub fn unsupported(reason: impl Into<String>, help: impl Into<String>) -> Refusal {
        Refusal::new(Code(6003), reason).help(help)
    }

    /// Returns E6003 for an op, or a form of it, without a counterpart in the other format. The way out is that of the
    /// code.
    pub fn no_counterpart(reason: impl Into<String>) -> Refusal {
        Refusal::new(Code(6003), reason)
    }

    /// Returns E6003 for a form of an op without a counterpart in the other format: a property of the op, its value,
    /// and the values that have a counterpart.
    pub fn form(property: impl Display, found: impl Display, expected: impl Display) -> Refusal {
        let message = format!("{property} is {found}, expected {expected}");
        Refusal::no_counterpart(message).compared(found, expected)
    }

    /// Returns the refusal of an op with refused ops in its regions. It is not reported, because these are.
    pub fn inside() -> Refusal {
        let mut refusal = Refusal::unsupported(
            "ops in its regions are refused",
            "the errors of these ops say what to change",
        );
        refusal.0.follows = true;
        refusal
    }

    /// Returns the refusal of an op that uses a result of another refused op. It is not reported, because the first one
    /// is.
    pub fn following(name: &str) -> Refusal {
        let mut refusal = Refusal::undefined(name);
        refusal.0.follows = true;
        refusal
    }

    /// Sets the way out.
    pub fn help(mut self, help: impl Into<String>) -> Refusal {
        self.0.help = Some(help.into());
        self
    }

    /// Sets the way out unless it is set already.
    pub fn or_help(self, help: &str) -> Refusal {
        match self.0.help {
            Some(_) => self,
            None => self.help(help),
        }
    }

    /// Sets the way out if `help` is given.
    pub fn with_help(self, help: Option<String>) -> Refusal {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }

    /// Prefixes the message with a part of the model, for example ``input `x` ``.
    pub fn within(mut self, part: impl Display) -> Refusal {
        self.0.message.insert_str(0, &format!("{part}: "));
        self
    }

    fn context(mut self, key: &'static str, value: impl Into<String>) -> Refusal {
        self.0.context.push((key, value.into()));
        self
    }

    fn argument(self, argument: Argument) -> Refusal {
        self.context("argument", argument.0.replace('`', ""))
    }

    fn compared(self, found: impl Display, expected: impl Display) -> Refusal {
        self.context("found", found.to_string())
            .context("expected", expected.to_string())
    }

    /// Returns its code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the message, with the found and the expected value.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns whether the reason is another refusal, which is reported separately.
    pub fn follows(&self) -> bool {
        self.0.follows
    }

    /// Returns whether the types of the operands are worth showing.
    pub(crate) fn concerns_operands(&self) -> bool {
        matches!(self.0.code.0, 2001..=2007 | 3001..=3011 | 4006..=4011 | 4106..=4109)
    }

    /// Returns the error for this refusal at `span`, whose message is `message`.
    pub fn error(&self, span: Span, message: String) -> Diagnostic {
        let Content {
            code,
            label,
            context,
            help,
            ..
        } = &*self.0;
        let mut error = Diagnostic::error(span, message).code(*code);
        error.context.clone_from(context);
        match label {
            // A label needs a line of text to be under.
            Some(label) if span.is_file() => error.notes.push(label.clone()),
            Some(label) => error.label = Some(label.clone()),
            None => {}
        }
        match help {
            Some(help) => error.help(help.clone()),
            None => error,
        }
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

/// A rule that an emitted op breaks: with the code, the shapes and the way out of the verifier.
impl From<Box<VerifyError>> for Refusal {
    fn from(error: Box<VerifyError>) -> Refusal {
        Refusal::from(*error)
    }
}

impl From<VerifyError> for Refusal {
    fn from(error: VerifyError) -> Refusal {
        let found = error.at(Span::FILE);
        let mut refusal = Refusal::new(found.code.unwrap_or(Code(4116)), found.message);
        refusal.0.label = found.label;
        refusal.0.context = found.context;
        refusal.with_help(found.help)
    }
}

/// A constant that could not be computed.
impl From<EvalError> for Refusal {
    fn from(error: EvalError) -> Refusal {
        let code = error.code().unwrap_or(Code(6003));
        Refusal::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constructor_has_a_code_of_the_catalogue() {
        let all = [
            Refusal::value("mode", 3, 4),
            Refusal::word("mode", "x", &["a", "b"]),
            Refusal::length("pads", 3, 4, "2 per dimension"),
            Refusal::missing("axis"),
            Refusal::unknown("speed"),
            Refusal::not_constant("input 1 (`k`)".to_owned(), "is computed at run time"),
            Refusal::dtype("input 0 (`x`)".to_owned(), "f32", "integers"),
            Refusal::rank("input 0 (`x`)".to_owned(), "f32[2]", 3),
            Refusal::extent("the number of heads", 3, 4),
            Refusal::axis(4, 2),
            Refusal::axis(4, 0),
            Refusal::declared("the result", "f32[2]", "f32[3]"),
            Refusal::operands(1, 2),
            Refusal::parts("the region", "1 argument", "2"),
            Refusal::undefined("x"),
            Refusal::too_large("the list", 3, 2),
            Refusal::elements("4 bytes", "8"),
            Refusal::unsupported("reason", "help"),
            Refusal::no_counterpart("reason"),
            Refusal::form("the dtype", "u4", "u8"),
            Refusal::inside(),
            Refusal::following("x"),
        ];
        for refusal in all {
            assert!(refusal.code().info().is_some(), "{refusal}");
            let error = refusal.error(Span::FILE, refusal.to_string());
            assert!(error.way_out().is_some(), "{refusal}");
        }
    }

    #[test]
    fn a_broken_rule_keeps_its_code_its_shapes_and_its_help() {
        let error = Box::new(VerifyError::Broadcast {
            dimension: 0,
            lhs: "2".to_owned(),
            rhs: "4".to_owned(),
            lhs_shape: "[2, 3]".to_owned(),
            rhs_shape: "[4, 3]".to_owned(),
        });
        let refusal = Refusal::from(error);
        assert_eq!(refusal.code(), Code(3001));
        let error = refusal.error(Span::FILE, refusal.to_string());
        assert_eq!(error.notes, ["shapes [2, 3] and [4, 3]"]);
        assert!(error.help.is_some_and(|help| help.contains("dimension 0")));
        let shapes = ("lhs", "[2, 3]".to_owned());
        assert!(error.context.contains(&shapes), "{:?}", error.context);
    }

    #[test]
    fn a_length_is_worded_as_found_and_expected() {
        let reason = "begin and end for each of 2 spatial dimensions";
        let found = Refusal::length("pads", 3, 4, reason);
        assert_eq!(
            found.message(),
            "`pads` has 3 entries, expected 4 (begin and end for each of 2 spatial dimensions)"
        );
    }
}
