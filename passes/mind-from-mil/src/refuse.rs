//! Why an op is not imported.

use mind_diag::{Code, Diagnostic, Diagnostics, Span};
use mind_ir::eval::EvalError;
use mind_ir::verify::VerifyError;

/// What stopped the import of an op.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) String);

impl Refused {
    pub(crate) fn new(reason: impl Into<String>) -> Box<Refused> {
        Box::new(Refused(reason.into()))
    }
}

/// What was refused, each op once for each reason.
#[derive(Default)]
pub(crate) struct Refusals(Vec<(&'static str, String, Vec<Span>)>);

impl Refusals {
    /// How many ops were refused.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|(.., spans)| spans.len()).sum()
    }

    pub(crate) fn push(&mut self, name: &'static str, reason: &str, span: Span) {
        let mut known = self.0.iter_mut();
        match known.find(|(own, why, _)| *own == name && why == reason) {
            Some((.., spans)) => spans.push(span),
            None => self.0.push((name, reason.to_owned(), vec![span])),
        }
    }

    /// E6003 for each op and reason, at the first place; the last one names all ops at once where there are several.
    pub(crate) fn diagnostics(&self) -> Diagnostics {
        let mut found = Diagnostics::new();
        let mut names: Vec<&str> = Vec::new();
        for (name, ..) in &self.0 {
            if !names.contains(name) {
                names.push(name);
            }
        }
        let all: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        for (at, (name, reason, spans)) in self.0.iter().enumerate() {
            let times = match spans.len() {
                1 => String::new(),
                count => format!(" ({count} times)"),
            };
            let message = format!("`{name}` is not imported{times}: {reason}");
            let error = Diagnostic::error(spans[0], message).code(Code(6003));
            let error =
                error.help("`mind-run --engine=interp` runs what MIL's own evaluation takes");
            let last = at + 1 == self.0.len() && all.len() > 1;
            found.push(if last {
                error.note(format!("not imported in all: {}", all.join(", ")))
            } else {
                error
            });
        }
        found
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
