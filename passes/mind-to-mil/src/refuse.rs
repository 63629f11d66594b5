//! Reasons why ops are not lowered.

use mind_diag::{Code, Diagnostic, Span};
use mind_ir::verify::VerifyError;

/// The reason why an op cannot be lowered.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) reason: String,
    pub(crate) help: Option<String>,
}

impl Refused {
    pub(crate) fn new(reason: impl Into<String>) -> Box<Refused> {
        Box::new(Refused {
            reason: reason.into(),
            help: None,
        })
    }

    pub(crate) fn help(reason: impl Into<String>, help: impl Into<String>) -> Box<Refused> {
        Box::new(Refused {
            reason: reason.into(),
            help: Some(help.into()),
        })
    }

    /// Returns the diagnostic for the op called `name`, at `span`.
    pub(crate) fn at(&self, name: &str, span: Span) -> Diagnostic {
        let message = format!("`{name}` cannot be lowered to MIL: {}", self.reason);
        let mut found = Diagnostic::error(span, message).code(Code(6003));
        found.help.clone_from(&self.help);
        found
    }
}

/// An emitted op that violates a rule of MIL, for example a shape that MIL does not take.
impl From<Box<VerifyError>> for Box<Refused> {
    fn from(error: Box<VerifyError>) -> Box<Refused> {
        Refused::new(error.to_string())
    }
}

/// A violated rule of a core op.
impl From<VerifyError> for Box<Refused> {
    fn from(error: VerifyError) -> Box<Refused> {
        Refused::new(error.to_string())
    }
}
