//! Running one test file.

use std::fs;

use thiserror::Error;

use crate::config::Config;
use crate::discovery::TestFile;
use crate::features::{FeatureError, evaluate};
use crate::golden::{self, GoldenError};
use crate::report;
use crate::sandbox::Sandbox;
use crate::script::{Script, ScriptError};
use crate::semantics;
use crate::shell::{CommandRun, List, Shell, ShellError, parse};
use crate::strict;
use crate::substitution::{Command, SubstitutionError, Substitutions};
use crate::verdict::Verdict;

/// A test file, read.
#[derive(Debug)]
pub struct Case<'a> {
    /// The run's settings.
    pub config: &'a Config,
    /// Which test this is.
    pub test: &'a TestFile,
    /// The file's text; bytes that are no UTF-8 matter only to the tools.
    pub text: String,
    /// Its keyword lines.
    pub script: Script,
    /// Its own folder.
    pub sandbox: Sandbox,
    /// The table after all definitions.
    pub substitutions: Substitutions,
    commands: Vec<(Command, List)>,
}

/// A verdict and what else the run's summary tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How the test ended.
    pub verdict: Verdict,
    /// How many transformations were evaluated and agreed.
    pub compared: usize,
    /// Why none was, if the file says so.
    pub semantics_skip: Option<String>,
    /// The diff of a blessing.
    pub blessed: Option<String>,
}

/// What is wrong with a file before any command runs.
#[derive(Debug, Error)]
enum Unusable {
    #[error("{0}")]
    File(#[from] std::io::Error),
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error(transparent)]
    Substitution(#[from] SubstitutionError),
    #[error("line {line}: {error}")]
    Shell { line: usize, error: ShellError },
    #[error(transparent)]
    Feature(#[from] FeatureError),
    #[error(transparent)]
    Golden(#[from] GoldenError),
    #[error("{}", .0.join("\n"))]
    Mistakes(Vec<String>),
}

/// Runs a test file to its verdict.
pub fn run(config: &Config, test: &TestFile) -> Outcome {
    let mut outcome = Outcome {
        verdict: Verdict::Pass { attempts: 1 },
        compared: 0,
        semantics_skip: None,
        blessed: None,
    };
    outcome.verdict = judge(config, test, &mut outcome).unwrap_or_else(|problem| {
        Verdict::Invalid(format!(
            "{problem}\n  {}\n{}",
            test.path.display(),
            report::replay(&test.name)
        ))
    });
    outcome
}

fn judge(config: &Config, test: &TestFile, outcome: &mut Outcome) -> Result<Verdict, Unusable> {
    let mut case = Case::read(config, test)?;
    if let Some(reason) = case.unsupported()? {
        return Ok(Verdict::Unsupported(reason));
    }
    let expected_to_fail = case.expected_to_fail()?;
    let mistakes = strict::lint(&case.text, &case.script.directives, &case.substituted());
    if !mistakes.is_empty() {
        return Err(Unusable::Mistakes(mistakes));
    }
    if config.bless && !expected_to_fail && golden::has_blocks(&case.text) {
        outcome.blessed = case.bless()?;
        case = Case::read(config, test)?;
    }
    let mut attempts = 0;
    let attempt = loop {
        attempts += 1;
        let attempt = case.attempt()?;
        if attempt.failure.is_none() || attempts > case.script.retries {
            break attempt;
        }
    };
    match (attempt.failure, expected_to_fail) {
        (Some(_), true) => Ok(Verdict::ExpectedFailure),
        (None, true) => {
            let hint = "every command succeeded: remove `XFAIL:`";
            Ok(Verdict::UnexpectedPass(format!(
                "{hint}\n{}",
                report::replay(&test.name)
            )))
        }
        (Some(report), false) => Ok(Verdict::Fail(report)),
        (None, false) => {
            if let Some(difference) = case.compare(&attempt.trace, outcome) {
                return Ok(Verdict::Fail(difference));
            }
            Ok(case
                .stale()?
                .map_or(Verdict::Pass { attempts }, Verdict::Fail))
        }
    }
}

/// One run through a file's commands.
struct Attempt {
    failure: Option<String>,
    trace: Vec<Vec<CommandRun>>,
}

impl<'a> Case<'a> {
    fn read(config: &'a Config, test: &'a TestFile) -> Result<Case<'a>, Unusable> {
        let text = String::from_utf8_lossy(&fs::read(&test.path)?).into_owned();
        let script = Script::parse(&text)?;
        let sandbox = Sandbox::create(&config.scratch, &test.name)?;
        let mut substitutions = Substitutions::new(&test.path, sandbox.dir(), &config.features);
        let mut commands = vec![];
        for command in substitutions.commands(&script.directives)? {
            // An `%if` may leave nothing to run.
            if !command.text.is_empty() {
                let list = parse(&command.text);
                let list = list.map_err(|error| Unusable::Shell {
                    line: command.line,
                    error,
                })?;
                commands.push((command, list));
            }
        }
        Ok(Case {
            config,
            test,
            text,
            script,
            sandbox,
            substitutions,
            commands,
        })
    }

    fn substituted(&self) -> Vec<Command> {
        self.commands
            .iter()
            .map(|(command, _)| command.clone())
            .collect()
    }

    fn unsupported(&self) -> Result<Option<String>, FeatureError> {
        for expression in &self.script.requires {
            if !evaluate(expression, &self.config.features)? {
                return Ok(Some(format!("requires {expression}")));
            }
        }
        for expression in &self.script.unsupported {
            if evaluate(expression, &self.config.features)? {
                return Ok(Some(format!("unsupported with {expression}")));
            }
        }
        Ok(None)
    }

    fn expected_to_fail(&self) -> Result<bool, FeatureError> {
        let mut expected = false;
        for expression in &self.script.xfail {
            expected |= expression == "*" || evaluate(expression, &self.config.features)?;
        }
        Ok(expected)
    }

    /// Runs the commands up to the first failure.
    fn attempt(&self) -> Result<Attempt, Unusable> {
        let mut shell = Shell::new(self.config, &self.sandbox);
        for (command, list) in &self.commands {
            let result = shell.run(list);
            let success = result.map_err(|error| Unusable::Shell {
                line: command.line,
                error,
            })?;
            if !success {
                let pipeline = shell.trace.last().expect("a list runs a command");
                let mut failure = report::failed_command(&self.test.name, command, pipeline);
                if let Ok(Some(_)) = self.stale() {
                    failure
                        .push_str("\nnote: a generated block is stale; `MIND_BLESS=1` rewrites it");
                }
                return Ok(Attempt {
                    failure: Some(failure),
                    trace: shell.trace,
                });
            }
        }
        Ok(Attempt {
            failure: None,
            trace: shell.trace,
        })
    }

    /// Evaluates inputs and outputs of the commands that ran; the first difference is returned.
    fn compare(&self, trace: &[Vec<CommandRun>], outcome: &mut Outcome) -> Option<String> {
        let semantics = self.config.semantics?;
        if let Some(reason) = &self.script.semantics_skip {
            outcome.semantics_skip = Some(reason.clone());
            return None;
        }
        match semantics::check(semantics, &self.test.path, trace) {
            Ok(compared) => {
                outcome.compared = compared;
                None
            }
            Err(difference) => Some(format!(
                "the output computes something else than the input\n  {difference}\n\
                 opt out with `SEMANTICS: skip, <reason>`\n{}",
                report::replay(&self.test.name)
            )),
        }
    }

    /// The report on generated blocks that differ from what their commands print.
    fn stale(&self) -> Result<Option<String>, GoldenError> {
        if !golden::has_blocks(&self.text) {
            return Ok(None);
        }
        let fresh = golden::refresh(self, false)?;
        Ok((fresh != self.text).then(|| {
            let change = golden::change(self, &fresh);
            format!(
                "a generated block is stale; `MIND_BLESS=1` rewrites it\n{change}{}",
                report::replay(&self.test.name)
            )
        }))
    }

    /// Rewrites stale blocks in the file and returns the diff.
    fn bless(&self) -> Result<Option<String>, Unusable> {
        let fresh = golden::refresh(self, true)?;
        if fresh == self.text {
            return Ok(None);
        }
        fs::write(&self.test.path, &fresh)?;
        Ok(Some(golden::change(self, &fresh)))
    }
}
