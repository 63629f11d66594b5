//! Mistakes in test files that LLVM's lit and FileCheck ignore.
//!
//! A check with an unused prefix or an unknown keyword would make a test pass without testing anything, so both are
//! errors here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::script::{Directive, KEYWORDS, keyword_on};
use crate::shell::exec::is_filecheck;
use crate::shell::{self, List};
use crate::substitution::Command;

/// Words in capitals that may begin a comment.
const PROSE: [&str; 4] = ["COM", "FIXME", "NOTE", "TODO"];

/// The suffixes of check prefixes, for example in `CHECK-NEXT`.
const SUFFIXES: [&str; 6] = ["NEXT", "SAME", "NOT", "DAG", "LABEL", "EMPTY"];

/// Returns all mistakes in a file's keyword and check lines, in line order.
pub fn lint(text: &str, directives: &[Directive], commands: &[Command]) -> Vec<String> {
    let uses = Uses::collect(directives, commands);
    let mut problems: BTreeMap<usize, String> = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(problem) = lint_line(line, &uses) {
            problems.insert(index + 1, problem);
        }
    }
    if uses.filecheck {
        let prefixes: Vec<String> = uses.prefixes.iter().cloned().collect();
        for error in filecheck::lint(text, &prefixes) {
            problems.entry(error.line).or_insert(error.message);
        }
    }
    problems
        .into_iter()
        .map(|(line, problem)| format!("line {line}: {problem}"))
        .collect()
}

/// Returns the commands that always succeed: `not diff` with the test file, because no output contains its RUN lines.
pub fn always_succeed(commands: &[(Command, List)], path: &Path) -> Vec<String> {
    let is_test = |word: &String| Path::new(word) == path;
    let differs = |run: &shell::parse::Command| {
        let at = run.words.iter().position(|word| word == "diff");
        at.is_some_and(|at| {
            let negations = run.words[..at].iter().filter(|word| *word == "not");
            negations.count() % 2 == 1 && run.words[at..].iter().any(is_test)
        })
    };
    let mistaken = commands.iter().filter(|(_, list)| {
        let rest = list.rest.iter().map(|(_, pipeline)| pipeline);
        let mut runs = std::iter::once(&list.first)
            .chain(rest)
            .flat_map(|own| &own.commands);
        runs.any(differs)
    });
    let help = "no output holds the RUN lines of the test, so that `not diff %s` always succeeds; compare with the \
                output of `mind-opt --verify %s`";
    mistaken
        .map(|(command, _)| format!("line {}: {help}", command.line))
        .collect()
}

/// The check prefixes that the RUN lines of a file use.
#[derive(Debug, Default, PartialEq, Eq)]
struct Uses {
    filecheck: bool,
    prefixes: BTreeSet<String>,
}

impl Uses {
    /// Collects from the lines before substitution, which contain both branches of an `%if`, and after it, when
    /// definitions are resolved.
    fn collect(directives: &[Directive], commands: &[Command]) -> Uses {
        let mut uses = Uses::default();
        for directive in directives {
            match directive {
                Directive::Run { command: text, .. } | Directive::Define { value: text, .. } => {
                    uses.scan(text)
                }
            }
        }
        for command in commands {
            uses.scan(&command.text);
        }
        uses
    }

    fn scan(&mut self, text: &str) {
        for segment in text.split(['|', ';', '&']) {
            let checks = segment.split([' ', '\t', '{']).any(is_filecheck);
            let named = prefixes_in(segment);
            self.filecheck |= checks;
            if checks && (named.is_empty() || segment.contains("%if ")) {
                self.prefixes.insert("CHECK".to_owned());
            }
            self.prefixes.extend(named);
        }
    }

    /// Returns whether `word` is a used prefix, with or without a suffix.
    fn reads(&self, word: &str) -> bool {
        self.prefixes.iter().any(|prefix| {
            word.strip_prefix(prefix.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
    }
}

/// Returns the values of `--check-prefix` and `--check-prefixes`, except those that contain substitutions.
fn prefixes_in(segment: &str) -> Vec<String> {
    let mut prefixes = vec![];
    for (start, flag) in segment.match_indices("-check-prefix") {
        let rest = &segment[start + flag.len()..];
        let rest = rest.strip_prefix("es").unwrap_or(rest);
        let Some(value) = rest.strip_prefix(['=', ' ']) else {
            continue;
        };
        let value = value.trim_start().trim_start_matches(['"', '\'']);
        let end = value
            .find(|c: char| c.is_whitespace() || "'\"%".contains(c))
            .unwrap_or(value.len());
        prefixes.extend(
            value[..end]
                .split(',')
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
        );
    }
    prefixes
}

fn lint_line(line: &str, uses: &Uses) -> Option<String> {
    if let Some((start, keyword, _)) = keyword_on(line) {
        let glued = &line[line[..start].trim_end_matches(is_word).len()..start];
        return (!glued.is_empty())
            .then(|| format!("`{glued}{keyword}` counts as `{keyword}`; put a blank between"));
    }
    for candidate in candidates(line) {
        let Some((word, spaced)) = directive_word(candidate) else {
            continue;
        };
        if PROSE.contains(&word) || (uses.reads(word) && !spaced) {
            return None;
        }
        if let Some(problem) = judge(word, spaced, uses) {
            return Some(problem);
        }
    }
    None
}

/// Returns the texts with which a directive could begin: from the first word of the line, and after each comment sign.
fn candidates(line: &str) -> impl Iterator<Item = &str> {
    let first = line.trim_start();
    let after_sign = move |sign: &'static str| {
        line.match_indices(sign)
            .map(move |(at, sign)| line[at + sign.len()..].trim_start())
    };
    std::iter::once(first)
        .chain(after_sign("#"))
        .chain(after_sign("//"))
}

/// Returns the word before a colon, and whether a space separates them.
fn directive_word(text: &str) -> Option<(&str, bool)> {
    let end = text.find(|c: char| !is_word(c))?;
    let (word, rest) = text.split_at(end);
    if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let rest = match rest.strip_prefix('{') {
        Some(modifier) => modifier.split_once('}')?.1,
        None => rest,
    };
    let colon = rest.trim_start();
    colon
        .starts_with(':')
        .then_some((word, colon.len() != rest.len()))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Returns the error for a word that is neither a keyword nor a used check prefix, if it is one.
fn judge(word: &str, spaced: bool, uses: &Uses) -> Option<String> {
    let capitals = !word.contains(|c: char| c.is_ascii_lowercase());
    let upper = word.to_ascii_uppercase();
    let known = || {
        KEYWORDS
            .iter()
            .map(|keyword| (&keyword[..keyword.len() - 1], *keyword))
    };
    if let Some((_, keyword)) = known().find(|(name, _)| *name == upper) {
        return Some(format!(
            "`{word}{}:` is not a keyword; write `{keyword}`",
            if spaced { " " } else { "" }
        ));
    }
    if uses.reads(&upper) || is_check(&upper) && (!capitals || spaced) {
        return Some(format!(
            "`{word}{}:` is not a check; write `{upper}:`",
            if spaced { " " } else { "" }
        ));
    }
    if !capitals || spaced || word.chars().filter(char::is_ascii_alphabetic).count() < 2 {
        return None;
    }
    if is_check(word) {
        return Some(if uses.filecheck {
            format!("no RUN line checks `{word}:`; add `--check-prefix` or remove the line")
        } else {
            format!("`{word}:` is checked by nothing: no RUN line calls FileCheck on this file")
        });
    }
    let near = known().find(|(name, _)| {
        let extended = word
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(['-', '_']));
        extended || strsim::levenshtein(name, word) <= name.len() / 3
    });
    Some(match near {
        Some((_, keyword)) => format!("unknown keyword `{word}:`; did you mean `{keyword}`?"),
        None => format!(
            "`{word}:` is neither a keyword nor a prefix that a RUN line checks; prose starts with `COM:`"
        ),
    })
}

/// Returns whether a word can only be intended as a check, for example `CHECK-NXT`.
fn is_check(word: &str) -> bool {
    let suffixed = SUFFIXES.iter().any(|suffix| {
        word.strip_suffix(suffix)
            .is_some_and(|rest| rest.ends_with('-'))
    });
    suffixed || word == "CHECK" || word.starts_with("CHECK-") || word.contains("-COUNT-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    /// Returns the mistake in the last line of a file, if any.
    fn problem(text: &str) -> Option<String> {
        let script = Script::parse(text).unwrap();
        let mut problems = lint(text, &script.directives, &[]);
        assert!(problems.len() <= 1, "{problems:?}");
        problems.pop()
    }

    fn check(text: &str, expected: &str) {
        let found = problem(text).expect(text);
        assert!(found.contains(expected), "{found}");
    }

    #[test]
    fn a_difference_from_the_test_itself() {
        let found = |text: &str| {
            let command = Command {
                line: 7,
                text: text.to_owned(),
            };
            let list = shell::parse(text).unwrap();
            always_succeed(&[(command, list)], Path::new("/a/b.core")).len()
        };
        assert_eq!(found("not diff /a/b.core /t/b.opt"), 1);
        assert_eq!(
            found("mind-opt x && not diff -u /t/b.opt /a/b.core | FileCheck y"),
            1
        );
        assert_eq!(found("diff /a/b.core /t/b.opt"), 0);
        assert_eq!(found("not not diff /a/b.core /t/b.opt"), 0);
        assert_eq!(found("not diff /t/a /t/b"), 0);
        assert_eq!(found("not mind-opt /a/b.core"), 0);
    }

    const CHECKED: &str = "RUN: t %s | FileCheck %s\nCHECK: a\n";

    #[test]
    fn unknown_keywords() {
        check(
            "RUN: t\n# REQUIRE: x\n",
            "line 2: unknown keyword `REQUIRE:`; did you mean `REQUIRES:`?",
        );
        check("RUN: t\n# RUNS: x\n", "did you mean `RUN:`?");
        check("RUN: t\n// XFAIL-IF: x\n", "did you mean `XFAIL:`?");
        check(
            "RUN: t\n# RUN : x\n",
            "`RUN :` is not a keyword; write `RUN:`",
        );
        check("RUN: t\n# xfail: *\n", "write `XFAIL:`");
        check("RUN: t\n# END:\n", "write `END.`");
        check("RUN: t\n# MYRUN: x\n", "`MYRUN:` counts as `RUN:`");
        check("RUN: t\n# ABCDEFG: x\n", "neither a keyword nor a prefix");
    }

    #[test]
    fn checks_nothing_reads() {
        check("RUN: t\n# CHECK: a\n", "no RUN line calls FileCheck");
        check("RUN: t\n# OPT-NEXT: a\n", "no RUN line calls FileCheck");
        check(
            &format!("{CHECKED}# OPT-NEXT: a\n"),
            "no RUN line checks `OPT-NEXT:`",
        );
        check(
            &format!("{CHECKED}RUN: t\n# OPT-NEXT: a\n"),
            "no RUN line checks `OPT-NEXT:`",
        );
        check(&format!("{CHECKED}%0 = x # OPT: a\n"), "`OPT:` is neither");
        check(
            "RUN: t | FileCheck %s --check-prefix=A\nA: x\nCHECK: a\n",
            "no RUN line checks `CHECK:`",
        );
        check(
            &format!("{CHECKED}# check-next: a\n"),
            "write `CHECK-NEXT:`",
        );
    }

    #[test]
    fn prefixes_in_use() {
        let same = |lines: &str| assert_eq!(problem(lines), None, "{lines}");
        same(
            "RUN: t | FileCheck %s --check-prefixes=A,B-C -check-prefix D\nA: x\nB-C-NEXT: y\nD: z\n",
        );
        same("RUN: t | FileCheck %s %if x %{--check-prefix=A%}\nA: x\nCHECK: x\n");
        same("DEFINE: %{c} = FileCheck %s --check-prefix=A\nRUN: t | %{c}\nA: x\n");
    }

    #[test]
    fn prose_passes() {
        for line in [
            "# COM: X-NEXT: y",
            "# NOTE: a",
            "# E1003: no quote",
            "# Source: b",
            "# http://x",
            "S0 \"a: B:\"",
        ] {
            assert_eq!(problem(&format!("{CHECKED}{line}\n")), None, "{line}");
        }
    }
}
