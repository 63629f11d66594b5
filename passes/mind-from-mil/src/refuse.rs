//! Why an op is not imported.

use mind_diag::{Code, Diagnostic, Diagnostics, Span};
use mind_ir::eval::EvalError;
use mind_ir::verify::VerifyError;

/// Why the import of an op stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refused {
    pub(crate) code: Code,
    pub(crate) reason: String,
    /// A way out that is nearer than that of the import.
    help: Option<String>,
}

impl Refused {
    /// E6003: an op that is not imported.
    pub(crate) fn new(reason: impl Into<String>) -> Box<Refused> {
        Box::new(Refused {
            code: Code(6003),
            reason: reason.into(),
            help: None,
        })
    }
}

/// What was refused, each op once for each reason.
#[derive(Default)]
pub(crate) struct Refusals(Vec<(&'static str, Refused, Vec<Span>)>);

impl Refusals {
    /// How many ops were refused.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|(.., spans)| spans.len()).sum()
    }

    pub(crate) fn push(&mut self, name: &'static str, refused: Refused, span: Span) {
        let mut known = self.0.iter_mut();
        match known.find(|(own, why, _)| *own == name && *why == refused) {
            Some((.., spans)) => spans.push(span),
            None => self.0.push((name, refused, vec![span])),
        }
    }

    /// An error for each op and reason, at the first place; the last one names all ops at once where there are several.
    pub(crate) fn diagnostics(&self) -> Diagnostics {
        let mut found = Diagnostics::new();
        let mut names: Vec<&str> = Vec::new();
        for (name, ..) in &self.0 {
            if !names.contains(name) {
                names.push(name);
            }
        }
        let all: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        for (at, (name, refused, spans)) in self.0.iter().enumerate() {
            let times = match spans.len() {
                1 => String::new(),
                count => format!(" ({count} times)"),
            };
            let reason = &refused.reason;
            let message = format!("`{name}` is not imported{times}: {reason}");
            let error = Diagnostic::error(spans[0], message).code(refused.code);
            let interpreted = "`mind-run --engine=interp` runs what MIL's own evaluation takes";
            let error = error.help(refused.help.as_deref().unwrap_or(interpreted));
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

/// A rule of an op that the import itself emitted, for example for shapes: with its own code and way out.
impl From<Box<VerifyError>> for Box<Refused> {
    fn from(error: Box<VerifyError>) -> Box<Refused> {
        let found = error.at(Span::FILE);
        let shapes = found.label.map(|label| format!(" ({label})"));
        Box::new(Refused {
            code: found.code.unwrap_or(Code(6003)),
            reason: found.message + &shapes.unwrap_or_default(),
            help: found.help,
        })
    }
}

/// A constant that could not be computed.
impl From<EvalError> for Box<Refused> {
    fn from(error: EvalError) -> Box<Refused> {
        Refused::new(error.to_string())
    }
}
