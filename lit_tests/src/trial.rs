//! Runs test files to their verdicts.

use std::fs;

use thiserror::Error;

use crate::case::{Case, Unreadable};
use crate::config::Config;
use crate::discovery::TestFile;
use crate::features::FeatureError;
use crate::golden::{self, GoldenError};
use crate::report;
use crate::semantics;
use crate::shell::{CommandRun, Shell, ShellError};
use crate::strict;
use crate::verdict::Verdict;

/// The verdict of a test, and further data for the summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The number of transformations that were evaluated and agreed.
    pub compared: usize,
    /// The reason for not evaluating any, if the file gives one.
    pub semantics_skip: Option<String>,
    /// The diff of blessing.
    pub blessed: Option<String>,
}

/// Why a file does not get a regular verdict.
#[derive(Debug, Error)]
enum Unusable {
    #[error(transparent)]
    File(#[from] Unreadable),
    #[error(transparent)]
    Feature(#[from] FeatureError),
    #[error("line {line}: {error}")]
    Shell { line: usize, error: ShellError },
    #[error(transparent)]
    Golden(#[from] GoldenError),
    #[error("{0}")]
    Write(#[from] std::io::Error),
    #[error("{}", .0.join("\n"))]
    Mistakes(Vec<String>),
}

/// Runs a test file and returns its verdict.
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
    let mut mistakes = strict::lint(&case.text, &case.script.directives, &case.substituted());
    mistakes.extend(strict::always_succeed(&case.commands, &test.path));
    if !mistakes.is_empty() {
        return Err(Unusable::Mistakes(mistakes));
    }
    if config.bless && !expected_to_fail && golden::has_blocks(&case.text) {
        outcome.blessed = bless(&case)?;
        case = Case::read(config, test)?;
    }
    let mut attempts = 0;
    let attempt = loop {
        attempts += 1;
        let attempt = attempt(&case)?;
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
            if let Some(difference) = compare(&case, &attempt.trace, outcome) {
                return Ok(Verdict::Fail(difference));
            }
            Ok(stale(&case)?.map_or(Verdict::Pass { attempts }, Verdict::Fail))
        }
    }
}

/// One attempt at a file's commands.
struct Attempt {
    failure: Option<String>,
    trace: Vec<Vec<CommandRun>>,
}

/// Runs the commands up to the first failure.
fn attempt(case: &Case<'_>) -> Result<Attempt, Unusable> {
    let mut shell = Shell::new(case.config, &case.sandbox);
    for (command, list) in &case.commands {
        let result = shell.run(list);
        let success = result.map_err(|error| Unusable::Shell {
            line: command.line,
            error,
        })?;
        if !success {
            let pipeline = shell.trace.last().expect("a list runs a command");
            let mut failure = report::failed_command(&case.test.name, command, pipeline);
            if let Ok(Some(_)) = stale(case) {
                failure.push_str(
                    "\nnote: a generated block is stale; `INSTA_UPDATE=always` rewrites it",
                );
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

/// Evaluates inputs and outputs of the commands and returns the first difference.
fn compare(case: &Case<'_>, trace: &[Vec<CommandRun>], outcome: &mut Outcome) -> Option<String> {
    let semantics = case.config.semantics?;
    if let Some(reason) = &case.script.semantics_skip {
        outcome.semantics_skip = Some(reason.clone());
        return None;
    }
    match semantics::check(semantics, &case.test.path, trace) {
        Ok(compared) => {
            outcome.compared = compared;
            None
        }
        Err(difference) => Some(format!(
            "the output computes something else than the input\n  {difference}\n\
             opt out with `SEMANTICS: skip, <reason>`\n{}",
            report::replay(&case.test.name)
        )),
    }
}

/// Returns the report on generated blocks that differ from the output of their commands.
fn stale(case: &Case<'_>) -> Result<Option<String>, GoldenError> {
    if !golden::has_blocks(&case.text) {
        return Ok(None);
    }
    let fresh = golden::refresh(case, false)?;
    Ok((fresh != case.text).then(|| {
        let change = golden::change(case, &fresh);
        format!(
            "a generated block is stale; `INSTA_UPDATE=always` rewrites it\n{change}{}",
            report::replay(&case.test.name)
        )
    }))
}

/// Rewrites stale blocks in the file and returns the diff.
fn bless(case: &Case<'_>) -> Result<Option<String>, Unusable> {
    let fresh = golden::refresh(case, true)?;
    if fresh == case.text {
        return Ok(None);
    }
    fs::write(&case.test.path, &fresh)?;
    Ok(Some(golden::change(case, &fresh)))
}
