//! The suite as a libtest-compatible cargo test.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::config::Config;
use crate::discovery::{self, TestFile};
use crate::report;
use crate::trial::{self, Outcome};
use crate::verdict::Verdict;

/// The stack size of a test's thread. It is that of a main thread, so that tools behave as in their own process.
const STACK: usize = 8 << 20;

/// Runs the suite with the arguments of the process, which are those of libtest.
pub fn main(config: Config) -> ExitCode {
    let args = Arguments::from_args();
    let config = Arc::new(config);
    let summary = Arc::new(Mutex::new(Summary::default()));
    let trials = match trials(&config, &summary) {
        Ok(trials) => trials,
        Err(error) => {
            eprintln!("error: {}: {error}", config.root.display());
            return ExitCode::FAILURE;
        }
    };
    let conclusion = libtest_mimic::run(&args, trials);
    if !args.list && args.format.is_none() {
        let summary = summary
            .lock()
            .expect("no test panics while it holds the lock");
        summary.print().expect("standard output is writable");
    }
    // A test that exceeded its time limit is still running, and only leaving the process ends it.
    conclusion.exit()
}

/// Counts that libtest's summary line does not have.
#[derive(Debug, Default)]
struct Summary {
    compared: usize,
    skipped: Vec<(String, String)>,
    flaky: Vec<(String, u32)>,
}

impl Summary {
    fn add(&mut self, name: &str, outcome: &Outcome) {
        self.compared += outcome.compared;
        if let Some(reason) = &outcome.semantics_skip {
            self.skipped.push((name.to_owned(), reason.clone()));
        }
        if let Verdict::Pass {
            attempts: attempts @ 2..,
        } = outcome.verdict
        {
            self.flaky.push((name.to_owned(), attempts));
        }
    }

    fn print(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let (compared, skipped) = (self.compared, self.skipped.len());
        if compared + skipped > 0 {
            writeln!(
                out,
                "semantics: {compared} transformations evaluated, {skipped} tests skipped"
            )?;
        }
        let mut lines: Vec<String> = vec![];
        lines.extend(
            self.skipped
                .iter()
                .map(|(name, reason)| format!("    {name}: {reason}")),
        );
        lines.sort();
        lines.extend(
            self.flaky
                .iter()
                .map(|(name, attempts)| format!("    {name}: passed at attempt {attempts}")),
        );
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

fn trials(config: &Arc<Config>, summary: &Arc<Mutex<Summary>>) -> io::Result<Vec<Trial>> {
    let found = discovery::find(&config.root)?;
    let tests = found.tests.into_iter().map(|test| {
        let (config, summary) = (Arc::clone(config), Arc::clone(summary));
        Trial::ignorable_test(test.name.clone(), move || {
            let outcome = run_limited(&config, &test)?;
            summary
                .lock()
                .expect("no test panics while it holds the lock")
                .add(&test.name, &outcome);
            if let Some(diff) = &outcome.blessed {
                eprint!("blessed:\n{diff}");
            }
            completion(outcome.verdict)
        })
    });
    let strays = found.strays.into_iter().map(|stray| {
        Trial::test(stray.name, || {
            let suffixes = discovery::SUFFIXES.join(" ");
            Err(Failed::from(format!(
                "no test: tests end in {suffixes}, what they read is in `inputs`"
            )))
        })
    });
    Ok(tests.chain(strays).collect())
}

fn completion(verdict: Verdict) -> Result<Completion, Failed> {
    match &verdict {
        Verdict::Pass { .. } | Verdict::ExpectedFailure => Ok(Completion::Completed),
        Verdict::Unsupported(reason) => Ok(Completion::ignored_with(reason)),
        _ => Err(Failed::from(format!(
            "{}: {}",
            verdict.code(),
            verdict.message()
        ))),
    }
}

/// Runs a test on its own thread, up to the time limit.
///
/// A thread cannot be stopped, so it keeps running after the time limit, and the test is reported as failed.
fn run_limited(config: &Arc<Config>, test: &TestFile) -> Result<Outcome, Failed> {
    let (sender, receiver) = mpsc::channel();
    let body = {
        let (config, test) = (Arc::clone(config), test.clone());
        move || {
            // The receiver is dropped at the time limit.
            let _ = sender.send(trial::run(&config, &test));
        }
    };
    // A named thread, because the message of a stack overflow contains the thread's name.
    let spawned = thread::Builder::new()
        .name(test.name.clone())
        .stack_size(STACK)
        .spawn(body);
    spawned.map_err(|error| Failed::from(format!("no thread: {error}")))?;
    receiver
        .recv_timeout(config.time_limit)
        .map_err(|error| match error {
            mpsc::RecvTimeoutError::Timeout => timeout(config.time_limit, test),
            mpsc::RecvTimeoutError::Disconnected => {
                Failed::from("the runner itself panicked, see standard error")
            }
        })
}

fn timeout(limit: Duration, test: &TestFile) -> Failed {
    let (seconds, replay) = (limit.as_secs_f64(), report::replay(&test.name));
    Failed::from(format!(
        "TIMEOUT: still running after {seconds} s\n{replay}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selftest;

    #[test]
    fn a_hanging_tool_is_reported() {
        let folder = selftest::scratch("hang");
        let path = folder.join("a.test");
        std::fs::write(&path, "RUN: mind-opt --hang %s\n").unwrap();
        let limit = Duration::from_millis(50);
        let config = Arc::new(Config {
            time_limit: limit,
            ..selftest::config(&folder)
        });
        let test = TestFile {
            name: "a.test".to_owned(),
            path,
        };
        let failed = run_limited(&config, &test).unwrap_err();
        let message = failed.message().unwrap_or_default();
        assert!(
            message.starts_with("TIMEOUT: still running after 0.05 s\n"),
            "{message}"
        );
    }
}
