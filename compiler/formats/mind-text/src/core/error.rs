//! Syntax errors of Core text.

use std::borrow::Cow;
use std::ops::Range;

use mind_diag::{Code, Diagnostic, Span};
use mind_ir::opdef::Results;
use mind_ir::types::DType;
use thiserror::Error;

use crate::foreign::DTYPES;

/// An error and the bytes of the text that it refers to.
#[derive(Debug)]
pub(super) struct Fault {
    /// Offset of the first byte.
    pub(super) start: usize,
    /// Offset after the last byte.
    pub(super) end: usize,
    /// The violated rule.
    pub(super) error: SyntaxError,
    /// Start and end of the definition that the error refers to.
    pub(super) earlier: Option<(usize, usize)>,
    /// Help derived from the text at this position; replaces the help of the rule.
    pub(super) suggestion: Option<Suggestion>,
}

/// Help derived from the text at an error.
#[derive(Debug)]
pub(super) struct Suggestion {
    pub(super) help: String,
    /// The bytes to replace and their replacement, if the fix is a single edit.
    pub(super) edit: Option<(Range<usize>, String)>,
}

impl Fault {
    /// Returns the error with `help`.
    pub(super) fn suggest(mut self: Box<Fault>, help: impl Into<String>) -> Box<Fault> {
        let help = help.into();
        self.suggestion = Some(Suggestion { help, edit: None });
        self
    }

    /// Returns the error with `help` and a fix that replaces the bytes `range` by `text`.
    pub(super) fn suggest_edit(
        mut self: Box<Fault>,
        help: impl Into<String>,
        range: Range<usize>,
        text: impl Into<String>,
    ) -> Box<Fault> {
        self.suggestion = Some(Suggestion {
            help: help.into(),
            edit: Some((range, text.into())),
        });
        self
    }

    /// Returns the error with a reference to the definition at `start..end`.
    pub(super) fn about(mut self: Box<Fault>, (start, end): (usize, usize)) -> Box<Fault> {
        self.earlier = Some((start, end));
        self
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
}

/// Result of a parsing step.
pub(super) type Parsed<T> = Result<T, Box<Fault>>;

/// Maximum nesting depth of bodies and of lists in constant data.
pub(super) const MAX_NESTING: usize = 32;

/// Describes the values that a line defines.
fn values(results: Results) -> String {
    match results {
        Results::None => "no value".to_owned(),
        Results::One => "one value".to_owned(),
        Results::Named(names) => format!("{} values ({})", names.len(), names.join(", ")),
        Results::Many => "as many values as its body yields".to_owned(),
    }
}

/// A syntax rule that a line violates. The message of each rule explains its fields. Ids and names are as the user
/// wrote them.
#[derive(Debug, Error)]
pub(super) enum SyntaxError {
    #[error("expected {expected}, found {found}")]
    Expected {
        expected: Cow<'static, str>,
        found: String,
    },
    #[error("illegal character `{0}` in an identifier")]
    IllegalCharacter(char),
    #[error("string without closing quote")]
    OpenString,
    #[error("unknown escape `\\{0}`")]
    Escape(String),
    #[error("`{literal}` is not {expected}")]
    Number {
        literal: String,
        expected: &'static str,
    },
    #[error("expected an id such as `%0`, found {found}")]
    Label { found: String },
    #[error("this is MLIR, not Core text")]
    Mlir,
    #[error("`{literal}` does not fit {dtype}")]
    Element { literal: String, dtype: DType },
    #[error("unknown op `{name}`")]
    UnknownOp {
        name: String,
        nearest: Option<&'static str>,
    },
    #[error("`{name}` is not an op of two operands")]
    UnknownBinOp {
        name: String,
        nearest: Option<&'static str>,
    },
    #[error("unknown dtype `{name}`")]
    UnknownDType {
        name: String,
        nearest: Option<&'static str>,
    },
    #[error("`{op}` has no attribute `{key}`")]
    UnknownKey {
        op: &'static str,
        key: String,
        nearest: Option<&'static str>,
        keys: String,
    },
    #[error("attribute `{key}` is given twice")]
    RepeatedKey { key: String },
    #[error("`{op}` needs the attribute `{key}`")]
    MissingKey {
        op: &'static str,
        key: &'static str,
        interface: bool,
    },
    #[error("a classifier needs `{key}`")]
    MissingPart { key: &'static str },
    #[error("`{op}` takes {attributes} in parentheses besides its operands")]
    SurplusArgument {
        op: &'static str,
        attributes: String,
        found: String,
    },
    #[error("expected an operand of `{op}` such as `%0`, found `{found}`")]
    NumberOperand { op: &'static str, found: String },
    #[error("operand %{label} follows an attribute")]
    LateOperand { label: u64 },
    #[error("`{op}` defines {}, found {found} before `=`", values(*.expected))]
    ResultCount {
        op: &'static str,
        expected: Results,
        found: usize,
    },
    #[error("types are declared for {found} values, but the line defines {expected}")]
    TypeCount { expected: usize, found: usize },
    #[error("{user} uses %{label}, which no line above defines")]
    Undefined { user: String, label: u64 },
    #[error("{user} uses %{label}, which is defined outside this body")]
    Captured { user: String, label: u64 },
    #[error("{user} uses %{label}, which is defined inside a body")]
    Inner { user: String, label: u64 },
    #[error("`{op}` takes {expected}, found {found}")]
    Arity {
        op: &'static str,
        expected: String,
        found: usize,
    },
    #[error("%{label} is defined twice")]
    DefinedTwice { label: u64 },
    #[error("output {index} is %{label}, which no line above defines")]
    UndefinedOutput { index: usize, label: u64 },
    #[error("a constant needs a dtype")]
    UntypedConstant,
    #[error("attribute `{key}` says {found}, the declared type {declared}")]
    ConstantType {
        key: &'static str,
        declared: String,
        found: String,
    },
    #[error("a constant has either `{data}` or `fill`, not both")]
    DataAndFill { data: &'static str },
    #[error("the data is ragged: {problem}")]
    Ragged { problem: String, declared: String },
    #[error("the data has shape {found}, the constant {declared}")]
    Nesting { declared: String, found: String },
    #[error("{what} are nested deeper than {MAX_NESTING} levels")]
    Depth { what: &'static str },
    #[error("a shape of {found} dimensions; at most {limit} are allowed")]
    Rank { found: usize, limit: usize },
    #[error("the text has more than {limit} {what}")]
    Limit { limit: usize, what: &'static str },
    #[error("`{op}` has {expected}, found {found}")]
    Bodies {
        op: &'static str,
        expected: String,
        found: usize,
    },
    #[error("a body is not closed")]
    OpenBody,
    #[error("`}}` closes no body")]
    StrayBrace,
    #[error("`{keyword}:` {rule}")]
    Misplaced {
        keyword: &'static str,
        rule: &'static str,
    },
    #[error("nothing may follow `{keyword}:`")]
    AfterEnd { keyword: &'static str },
}

impl SyntaxError {
    /// Returns the error for an op with `found` bodies instead of `expected`.
    pub(super) fn bodies(op: &'static str, expected: usize, found: usize) -> SyntaxError {
        let expected = match expected {
            0 => "no body".to_owned(),
            1 => "one body in braces".to_owned(),
            several => format!("{several} bodies in braces"),
        };
        SyntaxError::Bodies {
            op,
            expected,
            found,
        }
    }

    /// Returns this error about the bytes `start..end`.
    pub(super) fn at(self, start: usize, end: usize) -> Box<Fault> {
        Box::new(Fault {
            start,
            end,
            error: self,
            earlier: None,
            suggestion: None,
        })
    }

    /// Returns whether parsing ends after this error.
    pub(super) fn is_fatal(&self) -> bool {
        matches!(self, SyntaxError::Limit { .. })
    }

    /// Returns the code of the catalogue; `None` for plain syntax errors.
    fn code(&self) -> Option<Code> {
        use SyntaxError::*;
        Some(Code(match self {
            IllegalCharacter(_) => 1002,
            OpenString => 1003,
            Escape(_) => 1004,
            Number { .. } => 1005,
            ConstantType { .. } => 2001,
            Arity { .. } => 2007,
            Ragged { .. } | Nesting { .. } => 3010,
            Undefined { .. } | Captured { .. } | Inner { .. } => 4001,
            DefinedTwice { .. } => 4002,
            UndefinedOutput { .. } => 4003,
            UntypedConstant
            | MissingKey {
                interface: true, ..
            } => 4004,
            Element { .. } => 4005,
            _ => return None,
        }))
    }

    /// Returns the help.
    fn help(&self) -> Option<String> {
        use SyntaxError::*;
        Some(match self {
            Escape(_) => r#"the escapes are \n, \r, \t, \\ and \""#.into(),
            UnknownOp { name, .. } if ["outputs", "yield", "args"].contains(&name.as_str()) => {
                format!("a colon follows it, as in `{name}: %0`")
            }
            UnknownOp { name, .. } if ["return", "ret", "output"].contains(&name.as_str()) => {
                "a module ends with its outputs, as in `outputs: %0`".into()
            }
            UnknownOp { nearest: None, .. } => "`mind-opt --show-dialects` lists the ops".into(),
            UnknownBinOp { nearest: None, .. } => {
                "as in `BinOp(Add, %0, %1)`; other ops are written by their own name".into()
            }
            UnknownDType { nearest: None, .. } => DTYPES.into(),
            Label { .. } => "an id is a percent sign and a number; a name is given to an input, \
                             as in `%0 = Input {name=x} : tensor<f32[4]>`"
                .into(),
            Mlir => {
                "Core text has one instruction on each line, as in `%1 = Add (%0, %0)`, and ends \
                     with `outputs: %1`; types are written `tensor<f32[4, 8]>`"
                    .into()
            }
            IllegalCharacter(_) => {
                "an identifier is a letter or `_`, then letters, digits and `_`".into()
            }
            OpenString => "a string ends with `\"` on its line".into(),
            Number { expected, .. } if expected.contains("integer") => {
                "an integer has digits alone, and a minus sign where it is negative".into()
            }
            Number { expected, .. } if expected.contains("number") => {
                "a number has digits, a point, an exponent and a sign, and no suffix".into()
            }
            Number { .. } => "number the values from 0".into(),
            RepeatedKey { .. } => "keep one of them".into(),
            MissingKey { op, key, .. } => {
                format!("attributes go in braces, as in `{op} {{{key}=...}}`")
            }
            MissingPart { .. } => {
                "as in `classifier: label {classes=[cat, dog], probabilities=odds}`".into()
            }
            DefinedTwice { .. } => "each instruction has an id that no other has".into(),
            ConstantType { key, declared, .. } => {
                format!("write `{key}={declared}`, or leave `{key}` out")
            }
            DataAndFill { data } => format!(
                "`{data}` lists all elements, `fill` is the one that all of them are: keep one of both"
            ),
            ResultCount { expected, .. } => match expected.count() {
                Some(0) => "leave out the ids and `=`".into(),
                Some(1) => "write one id before `=`".into(),
                _ => "write an id for each before `=`, as in `%1, %2 = ...`".into(),
            },
            TypeCount { expected, .. } => {
                let types = if *expected == 1 { "type" } else { "types" };
                format!("declare {expected} {types}, with `_` for one that is left out, or none")
            }
            Rank { limit, .. } => format!("merge dimensions until at most {limit} are left"),
            StrayBrace => "remove it, or write the op that the body belongs to".into(),
            UnknownKey {
                nearest: Some(_), ..
            } => return None,
            UnknownKey { keys, .. } if keys.is_empty() => "it has no attributes".into(),
            UnknownKey { keys, .. } => format!("it has {keys}"),
            NumberOperand { found, .. } if found.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!(
                    "value {found} is written `%{found}`; the number {found} is a constant that a line above \
                     defines, as in `%9 = ConstI64 {{value={found}}}`"
                )
            }
            NumberOperand { found, .. } => format!(
                "define the number on a line above, as in `%9 = ConstF32 {{value={found}}}`, and write `%9` \
                 here"
            ),
            SurplusArgument { found, .. } if is_name(found) => {
                format!("named attributes go in braces, as in `{{{found}=...}}`")
            }
            SurplusArgument { .. } => "remove it".into(),
            LateOperand { .. } => "operands come first, as in `Sum (%0, [1])`".into(),
            Undefined { .. } => "a value can be used only below the line that defines it".into(),
            Captured { .. } => {
                "a body reads only its own values; pass it as an operand and name it in `args:`"
                    .into()
            }
            Inner { .. } => "a body returns what its `yield:` names".into(),
            Arity { .. } => "operands are values that lines above define".into(),
            UndefinedOutput { .. } => "an output is a value of the module's own lines".into(),
            UntypedConstant => {
                "write a type after `:`, or `dtype=f32, shape=[2, 1]` in the braces".into()
            }
            Nesting { .. } => {
                "nest the data as its shape says, or write all elements in one list".into()
            }
            Ragged { .. } => "lists at the same level have the same length".into(),
            AfterEnd { .. } => "it is the last line of its block".into(),
            OpenBody => "close it with `}` on a separate line".into(),
            Element { .. } => "write a value that the dtype holds, or declare another dtype".into(),
            // A similar name is suggested instead; the messages of the others state the expected text.
            UnknownOp { .. }
            | UnknownBinOp { .. }
            | UnknownDType { .. }
            | Expected { .. }
            | Depth { .. }
            | Limit { .. }
            | Bodies { .. }
            | Misplaced { .. } => return None,
        })
    }

    /// Returns the context entries that the catalogue requires.
    fn context(&self) -> Vec<(&'static str, String)> {
        use SyntaxError::*;
        match self {
            IllegalCharacter(found) => vec![("character", found.to_string())],
            Escape(found) => vec![("escape", found.clone())],
            Number { literal, .. } => vec![("literal", literal.clone())],
            Element { literal, dtype } => {
                vec![("literal", literal.clone()), ("dtype", dtype.to_string())]
            }
            ConstantType {
                declared, found, ..
            } => {
                vec![("expected", declared.clone()), ("found", found.clone())]
            }
            Ragged { problem, declared } => {
                vec![("declared", declared.clone()), ("found", problem.clone())]
            }
            Nesting { declared, found } => {
                vec![("declared", declared.clone()), ("found", found.clone())]
            }
            Arity {
                op,
                expected,
                found,
            } => vec![
                ("op", op.to_string()),
                ("expected", expected.clone()),
                ("found", found.to_string()),
            ],
            Undefined { user, label } | Captured { user, label } | Inner { user, label } => {
                vec![
                    ("instruction", user.clone()),
                    ("operand", format!("%{label}")),
                ]
            }
            DefinedTwice { label } => vec![("id", format!("%{label}"))],
            UndefinedOutput { index, label } => {
                vec![("index", index.to_string()), ("id", format!("%{label}"))]
            }
            _ => Vec::new(),
        }
    }

    /// Returns the diagnostic for this error at `span`.
    pub(super) fn diagnostic(&self, span: Span) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(span, self.to_string());
        diagnostic.code = self.code();
        diagnostic.context = self.context();
        match (self.help(), self.nearest()) {
            (Some(help), _) => diagnostic.help(help),
            (None, Some(word)) => diagnostic.did_you_mean(word),
            (None, None) => diagnostic,
        }
    }

    /// Returns the known word that is most similar to an unknown one.
    fn nearest(&self) -> Option<&'static str> {
        match self {
            SyntaxError::UnknownOp { nearest, .. }
            | SyntaxError::UnknownBinOp { nearest, .. }
            | SyntaxError::UnknownDType { nearest, .. }
            | SyntaxError::UnknownKey { nearest, .. } => *nearest,
            _ => None,
        }
    }
}
