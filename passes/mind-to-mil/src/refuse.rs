//! Why an op is not lowered.

use mind_diag::{Code, Diagnostic, Span};
use mind_ir::verify::VerifyError;

/// What stopped the lowering of an op.
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

    /// The diagnostic for the op called `name`, at `span`.
    pub(crate) fn at(&self, name: &str, span: Span) -> Diagnostic {
        let message = format!("`{name}` cannot be lowered to MIL: {}", self.reason);
        let mut found = Diagnostic::error(span, message).code(Code(6003));
        found.help.clone_from(&self.help);
        found
    }
}

/// A rule of an op that the lowering itself emitted: a shape that MIL does not take.
impl From<Box<VerifyError>> for Box<Refused> {
    fn from(error: Box<VerifyError>) -> Box<Refused> {
        Refused::new(error.to_string())
    }
}

/// A rule that an op of core breaks.
impl From<VerifyError> for Box<Refused> {
    fn from(error: VerifyError) -> Box<Refused> {
        Refused::new(error.to_string())
    }
}
