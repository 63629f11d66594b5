//! Pages of the documentation: the sessions that they show, run.
//!
//! A session is a fenced block whose first line begins with `$ `. Each such line is a command, the lines below
//! it are what it prints, standard output and standard error as they come. `$ cat FILE` of a file that is not
//! there makes it of the lines below, so that a reader sees what the next command reads. A line `…` stands for any
//! number of lines that the page leaves out.
//!
//! Only the project's tools are run; `cargo`, `cc` and `ls` are not. A block below a line
//! `<!-- not run: REASON -->` is left alone, and counted.

use std::fs;
use std::path::Path;

use crate::config::Config;
use crate::sandbox::Sandbox;
use crate::shell::{Shell, parse};

/// Commands that a page may show and that are not run.
const FOREIGN: [&str; 3] = ["cargo", "cc", "ls"];

/// A page after its commands ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fresh {
    /// The page with what the commands print now.
    pub text: String,
    /// How many commands ran.
    pub run: usize,
    /// How many commands were not run, because they are another's or said to be left alone.
    pub left: usize,
}

/// Runs the sessions of a page in one folder.
///
/// # Errors
///
/// A command that the shell does not know, a file that can't be made.
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

/// Cuts the first line off, with its end.
fn next_line<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let line = rest.split_inclusive('\n').next()?;
    *rest = &rest[line.len()..];
    Some(line)
}

/// The commands of a session, each with the lines below it.
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

/// Runs a session and adds it, with what its commands print, to the page.
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

/// All that a command prints, as on a terminal, with a line end after the last line.
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

/// Whether a page shows a text, in which a line `…` stands for any number of lines.
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
