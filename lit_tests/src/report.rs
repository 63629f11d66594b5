//! Reports on failing tests.

use crate::shell::CommandRun;
use crate::substitution::Command;
use crate::tool::Exit;

/// Maximum number of lines of a command's standard error in a report.
const SHOWN: usize = 60;

/// Returns the report on a RUN line whose last pipeline failed.
pub fn failed_command(test: &str, command: &Command, pipeline: &[CommandRun]) -> String {
    let mut report = format!("RUN line {} failed: {}\n", command.line, blame(pipeline));
    report.push_str(&format!("  {}\n", written(pipeline)));
    for run in pipeline {
        let stderr = String::from_utf8_lossy(&run.stderr);
        if !stderr.trim().is_empty() {
            report.push_str(&format!("{} says:\n{}", run.argv[0], shorten(&stderr)));
        }
    }
    report + &replay(test)
}

/// Returns the command that runs a single test again.
pub fn replay(test: &str) -> String {
    format!(
        "again: cargo test -p lit-tests --test lit -- --exact {}",
        quote(test)
    )
}

/// Returns the first failed command and its outcome.
fn blame(pipeline: &[CommandRun]) -> String {
    let Some(run) = pipeline.iter().find(|run| !run.success) else {
        return "no command ran".to_owned();
    };
    let name = &run.argv[0];
    match run.exit {
        Exit::Crash => format!("`{name}` crashed"),
        Exit::Code(0) => format!("`{name}` succeeded, expected otherwise"),
        Exit::Code(code) if run.negated => format!("`{name}` exited with {code}, expected a crash"),
        Exit::Code(code) => format!("`{name}` exited with {code}"),
    }
}

fn written(pipeline: &[CommandRun]) -> String {
    let commands = pipeline.iter().map(|run| {
        let words: Vec<String> = run.written.iter().map(|word| quote(word)).collect();
        words.join(" ")
    });
    commands.collect::<Vec<_>>().join(" | ")
}

/// Returns a word quoted for a shell.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./,:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn shorten(text: &str) -> String {
    let count = text.lines().count();
    let mut shown: String = text
        .lines()
        .take(SHOWN)
        .map(|line| format!("{line}\n"))
        .collect();
    if count > SHOWN {
        shown.push_str(&format!("… and {} more lines\n", count - SHOWN));
    }
    shown
}
