//! Why a part of a model cannot be imported.

use std::fmt;

use mind_ir::verify::VerifyError;

/// Why a node, an initialiser or an input cannot be imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refused {
    pub reason: String,
    /// The way out, where there is one that the reason does not name.
    pub help: Option<String>,
    /// Whether the reason is that something else was refused, which is reported by itself.
    pub follows: bool,
}

impl Refused {
    pub fn new(reason: impl Into<String>) -> Refused {
        Refused {
            reason: reason.into(),
            help: None,
            follows: false,
        }
    }

    /// The refusal of a node that reads what another refused node would have made.
    pub fn following(reason: impl Into<String>) -> Refused {
        Refused {
            follows: true,
            ..Refused::new(reason)
        }
    }

    /// The same with a way out, unless it has one.
    pub fn or_help(mut self, help: Option<String>) -> Refused {
        self.help = self.help.or(help);
        self
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl From<Box<VerifyError>> for Refused {
    fn from(error: Box<VerifyError>) -> Refused {
        Refused::new(error.to_string())
    }
}
