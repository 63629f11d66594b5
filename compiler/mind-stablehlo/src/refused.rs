//! Why a part of a module cannot be imported.

use std::fmt;

use mind_ir::verify::VerifyError;

/// Why an operation, a type or an input cannot be imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refused(pub String);

impl Refused {
    pub fn new(reason: impl Into<String>) -> Refused {
        Refused(reason.into())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Box<VerifyError>> for Refused {
    fn from(error: Box<VerifyError>) -> Refused {
        Refused(error.to_string())
    }
}
