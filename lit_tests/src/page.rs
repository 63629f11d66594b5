//! Runs the shell sessions on documentation pages.
//!
//! A session is a fenced block whose first line begins with `$ `. Each such line is a command, and the lines below it
//! are its output, with standard output and standard error in the order of writing. `$ cat FILE` creates a missing file
//! from the lines below, so that a page can show the input of the next command. A line `…` matches any number of
//! omitted lines.
//!
//! Only the project's tools are run, not `cargo`, `cc` and `ls`. A block below a line `<!-- not run: REASON -->` is
//! skipped and counted.

use std::fs;
use std::path::Path;

use crate::config::Config;
use crate::sandbox::Sandbox;
use crate::shell::{Shell, parse};

/// Commands that pages may show but that are not run.
const FOREIGN: [&str; 3] = ["cargo", "cc", "ls"];

/// A page with refreshed sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fresh {
    /// The page with the current output of its commands.
    pub text: String,
    /// The number of commands that ran.
    pub run: usize,
    /// The number of commands that were skipped, because they are foreign or marked as not run.
    pub left: usize,
}

/// Runs the sessions of a page in one folder.
///
/// # Errors
///
/// A command that the shell does not know, or a file that cannot be written.
pub fn refresh(config: &Config, sandbox: &Sandbox, page: &str) -> Result<Fresh, String> {
    let mut fresh = Fresh {
        text: String::with_capacity(page.len()),
        run: 0,
        left: 0,
    };
    let mut shell = Shell::new(config, sandbox);
    let mut rest = page;
    let mut excused = false;
    while let Some(line) = next_line(&mut rest) {
        fresh.text.push_str(line);
        if !line.starts_with("```") {
            if !line.trim().is_empty() {
                excused = line.starts_with("<!-- not run: ");
            }
            continue;
        }
        let Some(end) = rest.find("\n```").map(|at| at + 1) else {
            return Err(format!("`{}` is never closed", line.trim_end()));
        };
        let (block, after) = rest.split_at(end);
        rest = after;
        if !block.starts_with("$ ") {
            fresh.text.push_str(block);
        } else if excused {
            fresh.left += commands(block).count();
            fresh.text.push_str(block);
        } else {
            session(&mut shell, sandbox, block, &mut fresh)?;
        }
        let fence = next_line(&mut rest);
        fresh.text.push_str(fence.unwrap_or_default());
        excused = false;
    }
    Ok(fresh)
}

/// Splits off the first line including its newline.
fn next_line<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let line = rest.split_inclusive('\n').next()?;
    *rest = &rest[line.len()..];
    Some(line)
}

/// Returns the commands of a session, each with the lines below it.
pub fn commands(block: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = block;
    std::iter::from_fn(move || {
        let line = next_line(&mut rest)?;
        let below = if rest.starts_with("$ ") {
            0
        } else {
            rest.find("\n$ ").map_or(rest.len(), |at| at + 1)
        };
        let (shown, after) = rest.split_at(below);
        rest = after;
        Some((line, shown))
    })
}

/// Runs a session and appends it to the page with the output of its commands.
fn session(
    shell: &mut Shell<'_>,
    sandbox: &Sandbox,
    block: &str,
    fresh: &mut Fresh,
) -> Result<(), String> {
    for (line, shown) in commands(block) {
        fresh.text.push_str(line);
        let command = line.trim_start_matches("$ ").trim_end();
        let mut words = command.split_whitespace();
        match (words.next().unwrap_or_default(), words.next(), words.next()) {
            ("cat", Some(file), None) => {
                let path = sandbox
                    .writable(sandbox.dir(), Path::new(file))
                    .ok_or_else(|| format!("`{command}`: outside the page's own folder"))?;
                if !path.exists() {
                    fs::write(&path, shown).map_err(|error| format!("`{command}`: {error}"))?;
                }
                let contents = fs::read_to_string(&path);
                let contents = contents.map_err(|error| format!("`{command}`: {error}"))?;
                let as_shown = shows(shown, &contents);
                fresh
                    .text
                    .push_str(if as_shown { shown } else { &contents });
            }
            (name, ..) if FOREIGN.contains(&name) => {
                fresh.text.push_str(shown);
                fresh.left += 1;
            }
            _ => {
                let printed = output(shell, sandbox, command)?;
                let as_shown = shows(shown, &printed);
                fresh.text.push_str(if as_shown { shown } else { &printed });
                fresh.run += 1;
            }
        }
    }
    Ok(())
}

/// Returns the output of a command as a terminal shows it, with a newline at the end.
fn output(shell: &mut Shell<'_>, sandbox: &Sandbox, command: &str) -> Result<String, String> {
    let refused = |error| format!("`{command}`: {error}");
    let terminal = sandbox.dir().join(".terminal");
    let list = parse(&format!("{command} > .terminal 2>&1")).map_err(refused)?;
    shell.run(&list).map_err(refused)?;
    let bytes = fs::read(terminal).map_err(|error| format!("`{command}`: {error}"))?;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// Returns whether `shown` matches a text, where a line `…` matches any number of lines.
pub fn shows(shown: &str, text: &str) -> bool {
    let mut parts = shown.split("…\n");
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        let found = match parts.peek() {
            Some(_) => rest.find(part),
            None => return rest.ends_with(part),
        };
        let Some(at) = found else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selftest::{self, scratch};

    fn fresh(name: &str, page: &str) -> Result<Fresh, String> {
        let folder = scratch(name);
        let sandbox = Sandbox::create(&folder, "page").unwrap();
        refresh(&selftest::config(&folder), &sandbox, page)
    }

    #[test]
    fn what_a_command_prints_replaces_what_the_page_shows() {
        let page = "a\n```\n$ cat f\nx\n\ny\n$ cat f | cat\nstale\n```\n\n```\nkept\n```\nb";
        let new = fresh("page-prints", page).unwrap();
        assert_eq!(new.text, page.replace("stale\n", "x\n\ny\n"));
        assert_eq!((new.run, new.left), (1, 0));
    }

    #[test]
    fn lines_left_out_stay_left_out() {
        assert!(shows("a\n…\nd\n", "a\nb\nc\nd\n") && shows("…\nd\n", "d\n"));
        assert!(shows("a\n…\n", "a\nb\n") && shows("a\n…\nc\n…\ne\n", "a\nb\nc\nd\ne\n"));
        assert!(!shows("a\n…\nd\n", "a\nb\n") && !shows("a\n", "a\nb\n"));
        assert!(!shows("b\n…\n", "a\nb\n") && !shows("a\n…\nc\n…\ne\n", "a\nc\nd\n"));
    }

    #[test]
    fn commands_of_others_and_excused_blocks_stay() {
        let page =
            "```\n$ cargo test\nok\n```\n<!-- not run: WHY -->\n```console\n$ unknown\n```\n";
        let new = fresh("page-stays", page).unwrap();
        assert_eq!((new.text.as_str(), new.run, new.left), (page, 0, 2));
    }

    #[test]
    fn what_cannot_be_run_is_an_error() {
        assert!(fresh("page-unknown", "```\n$ unknown\n```\n").is_err());
        assert!(fresh("page-open", "```\n$ cat f\n").is_err());
        assert!(fresh("page-outside", "```\n$ cat ../f\nx\n```\n").is_err());
    }
}
