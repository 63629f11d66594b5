//! How a test ended.

/// The outcome of one test file, in the classes of LLVM's lit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Every command succeeded, after this many attempts (more than one needs `ALLOW_RETRIES:`).
    Pass {
        /// Attempts made, the successful one included.
        attempts: u32,
    },
    /// A command failed, as `XFAIL:` says it must.
    ExpectedFailure,
    /// Not run here: the features exclude it, for the reason given.
    Unsupported(String),
    /// A command failed, or what it printed does not hold.
    Fail(String),
    /// Everything succeeded although `XFAIL:` says otherwise.
    UnexpectedPass(String),
    /// The file itself is wrong, which no `XFAIL:` excuses.
    Invalid(String),
}

impl Verdict {
    /// The name LLVM's lit prints for this class.
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

    /// What there is to say about it; empty for a plain success.
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
