//! Why an op of a module cannot be written.

use std::fmt;

/// Why an op cannot be written in ONNX.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refused {
    pub reason: String,
}

impl Refused {
    pub fn new(reason: impl Into<String>) -> Refused {
        Refused {
            reason: reason.into(),
        }
    }

    /// A part of the op that ONNX has no form for: its value and the values that have one.
    pub fn value(
        what: impl fmt::Display,
        found: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Refused {
        Refused::new(format!("{what} is {found}, expected {expected}"))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}
