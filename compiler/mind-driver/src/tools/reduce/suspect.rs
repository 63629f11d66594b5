//! `--bisect`: the first rewrite that makes the passes' output interesting.

use mind_diag::SourceFile;
use mind_ir::Graph;
use mind_ir::listener::{Listener, Rewrite};
use mind_pass::{Instrument, Stage};

use super::fault::Stop;
use super::oracle::{Oracle, Trouble};
use crate::host::Host;
use crate::tools::opt::bisect::Bisect;
use crate::tools::opt::history::Record;

/// A rewrite that is to blame.
pub(super) struct Suspect {
    /// Its number, from 1.
    number: u64,
    /// How many there are.
    of: u64,
    /// What it did; none where it crashed before it was made.
    line: Option<String>,
}

impl Suspect {
    /// The report, with the command that replays it.
    ///
    /// `rewriting` is what was asked of rewriting, as flags.
    pub(super) fn text(&self, pipeline: &str, rewriting: &str, file: &str) -> String {
        let Suspect { number, of, line } = self;
        let line = line
            .as_deref()
            .unwrap_or("the pass that makes it crashes meanwhile");
        format!(
            "rewrite {number} of {of} is the first bad one\n  {line}\n\
             replay: mind-opt --pass-pipeline='{pipeline}'{rewriting} --opt-bisect-limit={number} {file}\n"
        )
    }
}

/// The first rewrite after which the passes' output is interesting and before which it is not.
///
/// Errors: the output is not interesting, or is without any rewrite; the command cannot be run.
pub(super) fn first_bad(
    g: &Graph,
    file: &SourceFile,
    oracle: &Oracle<'_>,
    host: &mut dyn Host,
) -> Result<Suspect, Trouble> {
    let mut limited = |limit: u64| {
        let (output, watch) = run(g, file, oracle, limit);
        Ok((
            oracle.output_holds(g, &output, host)?,
            watch.made,
            watch.last,
        ))
    };
    let (holds, of, _) = limited(u64::MAX)?;
    if !holds {
        return Err(Trouble::NotInteresting(oracle.describe()));
    }
    if limited(0)?.0 {
        return Err(Trouble::NoRewrite);
    }
    // `good` rewrites do no harm, `bad` ones do. One that crashes is not counted.
    let (mut good, mut bad) = (0, of + 1);
    while good + 1 < bad {
        let middle = good + (bad - good) / 2;
        match limited(middle)?.0 {
            true => bad = middle,
            false => good = middle,
        }
    }
    let (_, made, line) = limited(bad)?;
    let line = line.filter(|_| made == bad);
    Ok(Suspect {
        number: bad,
        of: of.max(bad),
        line,
    })
}

fn run<'f>(
    g: &Graph,
    file: &'f SourceFile,
    oracle: &Oracle<'_>,
    limit: u64,
) -> (Result<Graph, Stop>, Limited<'f>) {
    let mut watch = Limited {
        file,
        bisect: Bisect::first(limit),
        pass: "",
        limit,
        made: 0,
        last: None,
    };
    (oracle.optimiser.run(g, &mut watch), watch)
}

/// Lets the first rewrites pass, and keeps the last of them.
struct Limited<'f> {
    file: &'f SourceFile,
    bisect: Bisect,
    pass: &'static str,
    limit: u64,
    made: u64,
    last: Option<String>,
}

impl Listener for Limited<'_> {
    fn admits(&self, rules: &[&str]) -> bool {
        self.bisect.admits(rules)
    }

    fn admit(&mut self, rules: &[&str]) -> bool {
        self.bisect.admit(rules)
    }

    fn applied(&mut self, g: &Graph, rewrite: &Rewrite<'_>) {
        self.made += 1;
        if self.made == self.limit {
            self.last = Some(Record::new(self.pass, g, rewrite).line(self.file));
        }
    }
}

impl Instrument for Limited<'_> {
    fn stage(&mut self, stage: Stage<'_>, _: &Graph) {
        if let Stage::Before(pass) = stage {
            self.pass = pass.name;
        }
    }
}
