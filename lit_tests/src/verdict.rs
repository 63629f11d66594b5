//! Verdicts of tests.

/// The outcome of one test file, in the classes of LLVM's lit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Every command succeeded after this number of attempts; more than one requires `ALLOW_RETRIES:`.
    Pass {
        /// The number of attempts, including the successful one.
        attempts: u32,
    },
    /// A command failed, as `XFAIL:` requires.
    ExpectedFailure,
    /// Not run, because the features exclude it; with the reason.
    Unsupported(String),
    /// A command failed, or its output violates a check of the runner.
    Fail(String),
    /// All commands succeeded despite `XFAIL:`.
    UnexpectedPass(String),
    /// The file itself has an error, which `XFAIL:` does not excuse.
    Invalid(String),
}

impl Verdict {
    /// Returns the name that LLVM's lit prints for this verdict.
    pub fn code(&self) -> &'static str {
        match self {
            Verdict::Pass { attempts: 1 } => "PASS",
            Verdict::Pass { .. } => "FLAKYPASS",
            Verdict::ExpectedFailure => "XFAIL",
            Verdict::Unsupported(_) => "UNSUPPORTED",
            Verdict::Fail(_) => "FAIL",
            Verdict::UnexpectedPass(_) => "XPASS",
            Verdict::Invalid(_) => "UNRESOLVED",
        }
    }

    /// Returns the message of the verdict; empty for a plain success.
    pub fn message(&self) -> &str {
        match self {
            Verdict::Pass { .. } | Verdict::ExpectedFailure => "",
            Verdict::Unsupported(text)
            | Verdict::Fail(text)
            | Verdict::UnexpectedPass(text)
            | Verdict::Invalid(text) => text,
        }
    }
}
