//! `--bisect`: the first rewrite that makes the passes' output interesting.

use mind_diag::SourceFile;
use mind_driver::formats::FormatInfo;
use mind_driver::host::Host;

use super::case::Case;
use super::oracle::{Oracle, Trouble};

/// The first bad rewrite.
pub(super) struct Suspect {
    /// Its number, from 1.
    number: u64,
    /// The number of rewrites.
    of: u64,
    /// Its description; `None` if the pass crashed before it was made.
    line: Option<String>,
}

impl Suspect {
    /// Returns the report, with the command that replays the rewrite.
    pub(super) fn text(&self, replay: &str) -> String {
        let Suspect { number, of, line } = self;
        let line = line
            .as_deref()
            .unwrap_or("the pass that makes it crashes meanwhile");
        format!("rewrite {number} of {of} is the first bad one\n  {line}\nreplay: {replay}\n")
    }

    /// Returns the number of the rewrite.
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

/// Returns the first rewrite after which the output of the passes is interesting and before which it is not.
///
/// # Errors
///
/// The output is not interesting, or is interesting without any rewrite; the command or a case cannot be run.
pub(super) fn first_bad(
    file: &SourceFile,
    from: Option<&'static FormatInfo>,
    oracle: &Oracle<'_>,
    host: &mut dyn Host,
) -> Result<Suspect, Trouble> {
    let mut limited = |limit: u64| {
        let case = Case {
            name: file.name(),
            text: file.text(),
            from,
            limit: Some(limit),
        };
        let report = (oracle.evaluate)(&case, host).map_err(Trouble::Process)?;
        let kind = oracle.output_kind(&report, host)?;
        Ok((kind, report))
    };
    let (kind, report) = limited(u64::MAX)?;
    if kind.is_none() {
        return Err(Trouble::NotInteresting {
            test: oracle.describe(),
            instead: oracle.stopped(&report.outcome),
        });
    }
    if limited(0)?.0 == kind {
        return Err(Trouble::NoRewrite);
    }
    // `good` rewrites are fine, `bad` ones are not. A rewrite that crashes is not counted as made.
    let (of, mut good, mut bad) = (report.made, 0, report.made + 1);
    while good + 1 < bad {
        let middle = good + (bad - good) / 2;
        if limited(middle)?.0 == kind {
            bad = middle
        } else {
            good = middle
        }
    }
    let report = limited(bad)?.1;
    Ok(Suspect {
        number: bad,
        of: of.max(bad),
        line: report.last.filter(|_| report.made == bad),
    })
}
