//! Why an op is not imported.

use mind_diag::{Code, Diagnostic, Span};
use mind_ir::eval::EvalError;
use mind_ir::verify::VerifyError;

/// What stopped the import of an op.
#[derive(Debug)]
pub(crate) struct Refused(String);

impl Refused {
    pub(crate) fn new(reason: impl Into<String>) -> Box<Refused> {
        Box::new(Refused(reason.into()))
    }

    /// The diagnostic for the op called `name`, at `span`.
    pub(crate) fn at(&self, name: &str, span: Span) -> Diagnostic {
        let message = format!("`{name}` is not imported: {}", self.0);
        let found = Diagnostic::error(span, message).code(Code(6003));
        found.help("`mind-run --engine=interp` runs what MIL's own evaluation takes")
    }
}

/// A rule of an op that the import itself emitted: a shape that core does not take.
impl From<Box<VerifyError>> for Box<Refused> {
    fn from(error: Box<VerifyError>) -> Box<Refused> {
        Refused::new(error.to_string())
    }
}

/// A constant that could not be computed.
impl From<EvalError> for Box<Refused> {
    fn from(error: EvalError) -> Box<Refused> {
        Refused::new(error.to_string())
    }
}
