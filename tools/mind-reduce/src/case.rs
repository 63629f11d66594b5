//! A case of a reduction: runs passes on a module in a separate process.
//!
//! The process reads the case as a JSON document and writes a line before each step, so that the current step is known
//! however the process ends.

use std::io::Write;

use mind_cli::bisect::Bisect;
use mind_cli::{DONE, USAGE};
use mind_diag::SourceFile;
use mind_driver::emit::emit;
use mind_driver::formats::{FormatInfo, LoadOptions};
use mind_driver::history::Record;
use mind_driver::host::{Host, ProcessEnd, Rerun};
use mind_driver::load::parse_and_verify;
use mind_driver::session::Session;
use mind_ir::Graph;
use mind_ir::listener::{Listener, Rewrite};
use mind_ir::verify::{Profile, VerifyConfig};
use mind_irv2::graph::document::Padding;
use mind_pass::{
    Instrument, PassRegistry, Pipeline, PipelineEvent, RewriteOptions, RuleSource, RunCache,
    parse_pipeline,
};
use mind_text::Limits;
use serde_json::{Value, json};

use super::args::EngineKind;
use super::fault::{Optimiser, Phase, Runner, Stop};

/// The argument with which the tool runs the case on standard input.
pub(super) const FLAG: &str = "--case";

/// The task of a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CaseTask {
    /// Run the passes.
    Passes,
    /// Print the module after the passes.
    Output,
    /// Compare the results of the modules before and after the passes.
    Results,
}

const TASKS: [(&str, CaseTask); 3] = [
    ("passes", CaseTask::Passes),
    ("output", CaseTask::Output),
    ("results", CaseTask::Results),
];

/// The common options of a reduction's cases.
pub(super) struct Setup {
    pub(super) pipeline: Pipeline,
    pub(super) rewriting: RewriteOptions,
    pub(super) task: CaseTask,
    pub(super) engine: EngineKind,
    pub(super) profile: Profile,
    pub(super) padding: Padding,
}

/// A module, with the number of rewrites that are made.
pub(super) struct Case<'a> {
    /// The file name for locations in the module.
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    pub(super) from: Option<&'static FormatInfo>,
    /// The maximal number of rewrites; `None` for all.
    pub(super) limit: Option<u64>,
}

/// The result of a case.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Report {
    /// The number of rewrites made, if it was limited.
    pub(super) made: u64,
    /// The last rewrite that the limit allows.
    pub(super) last: Option<String>,
    pub(super) outcome: Outcome,
}

/// How a case ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// The passes finished; with the text of the module if it was requested.
    Done(String),
    /// The results differ.
    Differs,
    /// It stopped early.
    Stopped(Stop),
}

/// Runs the case on standard input and writes its report to standard output.
pub(super) fn run(passes: &PassRegistry, host: &mut dyn Host) -> u8 {
    let document = host.read_stdin(u64::MAX).ok();
    let document = document.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let Some((setup, document)) = document.and_then(|own| Some((Setup::read(&own, passes)?, own)))
    else {
        return USAGE;
    };
    let word = |key: &str| document[key].as_str();
    let case = Case {
        name: word("name").unwrap_or_default(),
        text: word("text").unwrap_or_default(),
        from: word("from").and_then(FormatInfo::named),
        limit: document["limit"].as_u64(),
    };
    let runner = match setup.engine {
        EngineKind::Interp => Ok(Runner::Interpreter),
        EngineKind::Jit => Runner::compiler(),
    };
    // The engine's existence was checked before any case was made.
    let Ok(runner) = runner else { return USAGE };
    evaluate(&setup, &case, &runner, host.stdout());
    DONE
}

/// Runs a case and writes its report to `out`, a line before each step.
pub(super) fn evaluate(setup: &Setup, case: &Case<'_>, runner: &Runner, out: &mut dyn Write) {
    let mut lines = Lines(out);
    match outcome(setup, case, runner, &mut lines) {
        Outcome::Done(text) => lines.say("done", &format!("\n{text}")),
        Outcome::Differs => lines.say("differs", ""),
        Outcome::Stopped(stop) => lines.say(stop.word(), stop.phase()),
    }
}

fn outcome(setup: &Setup, case: &Case<'_>, runner: &Runner, lines: &mut Lines<'_>) -> Outcome {
    let (session, shared) = (Session::default(), RunCache::default());
    let options = LoadOptions {
        from: case.from,
        limits: Limits::none(),
        profile: setup.profile,
        padding: setup.padding,
        ..LoadOptions::default()
    };
    // A candidate that cannot be parsed after it was printed is rejected, because a user could not pass it to the tool.
    let Ok((format, graph)) = parse_and_verify(&session.formats, case.text, 0, &options) else {
        return Outcome::Stopped(Stop::Refused);
    };
    let optimiser = Optimiser {
        session: &session,
        pipeline: &setup.pipeline,
        rewriting: &setup.rewriting,
        shared: &shared,
        verify: VerifyConfig {
            profile: setup.profile,
        },
    };
    let file = SourceFile::new(case.name, case.text);
    let mut watch = Watch {
        file: &file,
        bisect: case.limit.map_or(Bisect::all(), Bisect::first),
        limit: case.limit,
        pass: "",
        made: 0,
        lines,
    };
    let output = match optimiser.run(&graph, &mut watch) {
        Ok(output) => output,
        Err(stop) => return Outcome::Stopped(stop),
    };
    match setup.task {
        CaseTask::Passes => Outcome::Done(String::new()),
        CaseTask::Output => match emit(&session.formats, &output, format, None) {
            Ok(emitted) => Outcome::Done(format!("{}\n{}", emitted.format.name(), emitted.text)),
            Err(_) => Outcome::Stopped(Stop::Refused),
        },
        CaseTask::Results => {
            let mut phase = |phase: Phase| lines.phase(&phase);
            match runner.difference(&graph, &output, &mut phase) {
                Ok(Some(_)) => Outcome::Differs,
                Ok(None) => Outcome::Done(String::new()),
                Err(stop) => Outcome::Stopped(stop),
            }
        }
    }
}

/// The output of a running case.
struct Lines<'o>(&'o mut dyn Write);

impl Lines<'_> {
    /// Write errors are ignored, because a reader that has exited needs no report.
    fn say(&mut self, word: &str, rest: &str) {
        let _ = writeln!(self.0, "{word} {rest}").and_then(|()| self.0.flush());
    }

    fn phase(&mut self, phase: &Phase) {
        self.say("phase", phase.text());
    }
}

/// Allows a limited number of rewrites, and writes the progress.
struct Watch<'f, 'l, 'o> {
    file: &'f SourceFile,
    bisect: Bisect,
    limit: Option<u64>,
    pass: &'static str,
    made: u64,
    lines: &'l mut Lines<'o>,
}

impl Listener for Watch<'_, '_, '_> {
    fn admits(&self, rules: &[&str]) -> bool {
        self.bisect.admits(rules)
    }

    fn admit(&mut self, rules: &[&str]) -> bool {
        self.bisect.admit(rules)
    }

    fn applied(&mut self, g: &Graph, rewrite: &Rewrite<'_>) {
        let Some(limit) = self.limit else { return };
        self.made += 1;
        self.lines.say("made", &self.made.to_string());
        if self.made == limit {
            let line = Record::new(self.pass, g, rewrite).line(self.file);
            self.lines.say("last", &line);
        }
    }
}

impl Instrument for Watch<'_, '_, '_> {
    fn event(&mut self, event: PipelineEvent<'_>, _: &Graph) {
        if let PipelineEvent::Before(pass) = event {
            self.pass = pass.name;
            self.lines.phase(&Phase::Pass(pass.name.to_owned()));
        }
    }
}

impl Report {
    /// Parses the output of a process that ran a case.
    pub(super) fn read(ended: &Rerun) -> Report {
        let text = String::from_utf8_lossy(&ended.stdout);
        let (mut made, mut last, mut phase) = (0, None, Phase::Reading);
        let mut rest = &*text;
        let outcome = loop {
            // A truncated line is not part of the report.
            let Some((line, below)) = rest.split_once('\n') else {
                break None;
            };
            let (word, value) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "phase" => phase = Phase::parse(value),
                "made" => made = value.parse().unwrap_or(made),
                "last" => last = Some(value.to_owned()),
                "done" => {
                    let text = below.strip_suffix('\n').unwrap_or(below);
                    break Some(Outcome::Done(text.to_owned()));
                }
                "differs" => break Some(Outcome::Differs),
                word => break Stop::parse(word, value).map(Outcome::Stopped),
            }
            rest = below;
        };
        let died = || Outcome::Stopped(Stop::Died(phase, ended.end));
        let outcome = match outcome {
            // A crash after the report, for example at the exit of threads, belongs to the last phase.
            Some(outcome) if ended.end == ProcessEnd::Code(i32::from(DONE)) => outcome,
            Some(_) | None => died(),
        };
        Report {
            made,
            last,
            outcome,
        }
    }
}

impl Setup {
    /// Returns a case as the document that [`run`] reads.
    pub(super) fn document(&self, case: &Case<'_>) -> String {
        let RewriteOptions {
            rules,
            fast_math,
            only,
            disabled,
            unchecked,
        } = &self.rewriting;
        let rules = rules
            .iter()
            .map(|RuleSource { name, text }| json!([name, text]));
        let task = TASKS.iter().find(|(_, own)| *own == self.task);
        json!({
            "name": case.name,
            "text": case.text,
            "from": case.from.map(|row| row.word),
            "limit": case.limit,
            "pipeline": self.pipeline.text(),
            "rules": rules.collect::<Vec<_>>(),
            "fast-math": fast_math,
            "only": only,
            "disabled": disabled,
            "unchecked": unchecked,
            "asked": task.map(|(word, _)| word),
            "jit": self.engine == EngineKind::Jit,
            "core-v1": self.profile == Profile::CoreV1,
            "keep-padding": self.padding == Padding::Kept,
        })
        .to_string()
    }

    fn read(document: &Value, passes: &PassRegistry) -> Option<Setup> {
        let names = |key: &str| -> Option<Vec<String>> {
            let names = document[key].as_array()?.iter();
            names.map(|name| Some(name.as_str()?.to_owned())).collect()
        };
        let rule = |source: &Value| {
            Some(RuleSource {
                name: source[0].as_str()?.to_owned(),
                text: source[1].as_str()?.to_owned(),
            })
        };
        let flag = |key: &str| document[key].as_bool();
        let task = document["asked"].as_str()?;
        Some(Setup {
            pipeline: parse_pipeline(document["pipeline"].as_str()?, passes).ok()?,
            rewriting: RewriteOptions {
                rules: document["rules"]
                    .as_array()?
                    .iter()
                    .map(rule)
                    .collect::<Option<_>>()?,
                fast_math: names("fast-math")?,
                only: names("only")?,
                disabled: names("disabled")?,
                unchecked: names("unchecked")?,
            },
            task: TASKS.iter().find(|(word, _)| *word == task)?.1,
            engine: if flag("jit")? {
                EngineKind::Jit
            } else {
                EngineKind::Interp
            },
            profile: if flag("core-v1")? {
                Profile::CoreV1
            } else {
                Profile::default()
            },
            padding: if flag("keep-padding")? {
                Padding::Kept
            } else {
                Padding::Stripped
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(stdout: &str, end: ProcessEnd) -> Report {
        Report::read(&Rerun {
            stdout: stdout.as_bytes().to_vec(),
            end,
        })
    }

    #[test]
    fn a_process_that_dies_names_what_it_was_doing() {
        let died = report("phase cse\nmade 1\nmade 2\nlas", ProcessEnd::Signal(11));
        let stop = Stop::Died(Phase::Pass("cse".to_owned()), ProcessEnd::Signal(11));
        let expected = Report {
            made: 2,
            last: None,
            outcome: Outcome::Stopped(stop),
        };
        assert_eq!(died, expected);
    }

    #[test]
    fn a_report_counts_only_if_its_process_ended_well() {
        let end = ProcessEnd::Code(0);
        assert_eq!(
            report("done \na\nb\n", end).outcome,
            Outcome::Done("a\nb".to_owned())
        );
        assert_eq!(report("differs \n", end).outcome, Outcome::Differs);
        let late = report("phase the engine\ndone \n", ProcessEnd::Signal(6)).outcome;
        let stop = Stop::Died(Phase::Engine, ProcessEnd::Signal(6));
        assert_eq!(late, Outcome::Stopped(stop));
    }
}
