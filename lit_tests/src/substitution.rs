//! Substitution of directives to commands.
//!
//! As in LLVM's lit without a recursion limit: `%if` is expanded first, followed by one pass over an ordered table with
//! the latest definition first. A value may therefore only use names defined before it.

use std::collections::BTreeSet;
use std::path::Path;

use thiserror::Error;

use crate::features::{FeatureError, evaluate};
use crate::script::Directive;

/// A substituted command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The line of its `RUN:`.
    pub line: usize,
    /// The text; empty if an `%if` removed everything.
    pub text: String,
}

/// Why a line cannot be substituted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each message says it")]
pub enum SubstitutionError {
    #[error("line {line}: unknown substitution `{name}`")]
    Unknown { line: usize, name: String },
    #[error("line {line}: `{name}` is already defined; `REDEFINE:` changes it")]
    Defined { line: usize, name: String },
    #[error("line {line}: `{name}` is not defined; `DEFINE:` does it")]
    Undefined { line: usize, name: String },
    #[error("line {line}: `{token}` is missing after `%if` or `%else`")]
    Conditional { line: usize, token: &'static str },
    #[error("line {line}: {error}")]
    Feature { line: usize, error: FeatureError },
}

/// An ordered list of patterns with their values.
#[derive(Debug, Clone)]
pub struct Substitutions {
    rows: Vec<(String, String)>,
    features: BTreeSet<String>,
}

/// The commands of `%{round-trip}`: the output of `mind-opt` matches the checks and is read back to the same text.
/// `lit.cfg.py` defines the same substitution for LLVM's lit.
const ROUND_TRIP: &str = "mind-opt %s -o %t.once && FileCheck %s < %t.once \
    && mind-opt %t.once -o %t.twice && diff %t.once %t.twice";

/// Placeholder for `%%` during the other substitutions.
const PERCENT: &str = "\u{0}";

impl Substitutions {
    /// Returns the predefined substitutions of a test.
    pub fn new(source: &Path, scratch: &Path, features: &BTreeSet<String>) -> Substitutions {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let base = source
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let stem = source
            .file_stem()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let folder = source.parent().map_or_else(String::new, text);
        let temporary = text(&scratch.join(format!("{base}.tmp")));
        // The value of the first row uses the rows after it.
        let rows = [
            ("%{round-trip}", &ROUND_TRIP.to_owned()),
            ("%basename_t", &base),
            ("%{s:basename}", &base),
            ("%{s:stem}", &stem),
            ("%{t:stem}", &base),
            ("%s", &text(source)),
            ("%S", &folder),
            ("%p", &folder),
            ("%t", &temporary),
            ("%T", &text(scratch)),
        ];
        let rows = rows.map(|(pattern, value)| (pattern.to_owned(), value.clone()));
        Substitutions {
            rows: rows.into(),
            features: features.clone(),
        }
    }

    /// Returns the commands of directives in file order.
    ///
    /// # Errors
    ///
    /// A definition or substitution that is repeated, unknown or malformed.
    pub fn commands(
        &mut self,
        directives: &[Directive],
    ) -> Result<Vec<Command>, SubstitutionError> {
        let mut commands = vec![];
        for directive in directives {
            match directive {
                Directive::Run { line, command } => {
                    commands.push(Command {
                        line: *line,
                        text: self.apply(*line, command)?,
                    });
                }
                Directive::Define {
                    line,
                    redefine,
                    name,
                    value,
                } => {
                    self.define(*line, *redefine, name, value)?;
                }
            }
        }
        Ok(commands)
    }

    /// Substitutes in one command, with the definitions so far.
    ///
    /// # Errors
    ///
    /// A substitution that is unknown or malformed.
    pub fn apply(&self, line: usize, command: &str) -> Result<String, SubstitutionError> {
        let hide = |text: &str| text.replace("%%", PERCENT);
        let mut text = Conditional {
            line,
            features: &self.features,
            rest: &hide(command),
        }
        .expand(false)?;
        for (pattern, value) in &self.rows {
            text = hide(&text).replace(pattern, value);
        }
        let text = hide(&text);
        match unknown_name(&text) {
            Some(name) => Err(SubstitutionError::Unknown {
                line,
                name: name.to_owned(),
            }),
            None => Ok(text.replace(PERCENT, "%").trim().to_owned()),
        }
    }

    fn define(
        &mut self,
        line: usize,
        redefine: bool,
        name: &str,
        value: &str,
    ) -> Result<(), SubstitutionError> {
        let name = name.to_owned();
        match self.rows.iter_mut().find(|(pattern, _)| *pattern == name) {
            Some(row) if redefine => row.1 = value.to_owned(),
            Some(_) => return Err(SubstitutionError::Defined { line, name }),
            None if redefine => return Err(SubstitutionError::Undefined { line, name }),
            None => self.rows.insert(0, (name, value.to_owned())),
        }
        Ok(())
    }
}

/// Returns the first `%{name}` that was not replaced.
fn unknown_name(text: &str) -> Option<&str> {
    text.match_indices("%{").find_map(|(start, _)| {
        let inner = &text[start + 2..];
        let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:/".contains(c)))?;
        let named = end > 0 && !inner.starts_with(|c: char| c.is_ascii_digit());
        (named && inner[end..].starts_with('}')).then(|| &text[start..start + 2 + end + 1])
    })
}

/// Parser of `%if feature %{ then %} %else %{ otherwise %}`.
struct Conditional<'a> {
    line: usize,
    features: &'a BTreeSet<String>,
    rest: &'a str,
}

impl Conditional<'_> {
    /// Expands up to the end, or up to `%}` inside of a branch.
    fn expand(&mut self, in_branch: bool) -> Result<String, SubstitutionError> {
        let mut out = String::new();
        let ends = |rest: &str| rest.is_empty() || in_branch && rest.starts_with("%}");
        while !ends(self.rest) {
            if self.accept("%if ") {
                out.push_str(&self.choice()?);
                continue;
            }
            let next = self.rest.match_indices('%').map(|(at, _)| at).find(|&at| {
                let tail = &self.rest[at..];
                tail.starts_with("%if ") || (in_branch && tail.starts_with("%}"))
            });
            let (text, rest) = self.rest.split_at(next.unwrap_or(self.rest.len()));
            out.push_str(text);
            self.rest = rest;
        }
        Ok(out)
    }

    fn choice(&mut self) -> Result<String, SubstitutionError> {
        let line = self.line;
        let (condition, rest) = self.rest.split_once("%{").ok_or(self.missing("%{"))?;
        self.rest = rest;
        let holds = evaluate(condition, self.features);
        let holds = holds.map_err(|error| SubstitutionError::Feature { line, error })?;
        let then = self.branch()?;
        let before = self.rest;
        self.rest = self.rest.trim_start();
        let otherwise = if self.accept("%else") {
            self.rest = self.rest.trim_start();
            if !self.accept("%{") {
                return Err(self.missing("%{"));
            }
            self.branch()?
        } else {
            self.rest = before;
            String::new()
        };
        Ok(if holds { then } else { otherwise })
    }

    fn branch(&mut self) -> Result<String, SubstitutionError> {
        let text = self.expand(true)?;
        if self.accept("%}") {
            Ok(text)
        } else {
            Err(self.missing("%}"))
        }
    }

    fn accept(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn missing(&self, token: &'static str) -> SubstitutionError {
        SubstitutionError::Conditional {
            line: self.line,
            token,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    fn table() -> Substitutions {
        let features = ["x86".to_owned()].into();
        Substitutions::new(Path::new("/s/dir/a.mic"), Path::new("/tmp/w"), &features)
    }

    fn check(command: &str, expected: &str) {
        assert_eq!(
            table().apply(1, command).as_deref(),
            Ok(expected),
            "{command}"
        );
    }

    #[test]
    fn default_table() {
        check("t %s %S %p", "t /s/dir/a.mic /s/dir /s/dir");
        check("t %t %T", "t /tmp/w/a.mic.tmp /tmp/w");
        check("t %{s:stem} %basename_t", "t a a.mic");
        check(
            "%{round-trip}",
            "mind-opt /s/dir/a.mic -o /tmp/w/a.mic.tmp.once && FileCheck /s/dir/a.mic < /tmp/w/a.mic.tmp.once \
             && mind-opt /tmp/w/a.mic.tmp.once -o /tmp/w/a.mic.tmp.twice \
             && diff /tmp/w/a.mic.tmp.once /tmp/w/a.mic.tmp.twice",
        );
        check("t %%s %%%s %0", "t %s %/s/dir/a.mic %0");
    }

    #[test]
    fn conditionals() {
        check("a %if x86 %{b%} %else %{c%} d", "a b d");
        check("a %if !x86 %{b%} %else %{c%} d", "a c d");
        check("%if arm %{b%}", "");
        check(
            "%if x86 %{a %if arm %{b%} %else %{c %s%} d%}",
            "a c /s/dir/a.mic d",
        );
        check("100%iffy %}", "100%iffy %}");
        for bad in [
            "%if x86",
            "%if x86 %{a",
            "%if x86 %{a%} %else b",
            "%if x86 arm %{a%}",
        ] {
            assert!(table().apply(1, bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn definitions_use_earlier_ones() {
        let text = "DEFINE: %{a} = x %s\nDEFINE: %{b} = %{a} y\nRUN: %{b}\n\
                    REDEFINE: %{a} = z\nRUN: %{b} %%{a}\n";
        let commands = table()
            .commands(&Script::parse(text).unwrap().directives)
            .unwrap();
        let texts: Vec<_> = commands
            .iter()
            .map(|command| (command.line, &*command.text))
            .collect();
        assert_eq!(texts, [(3, "x /s/dir/a.mic y"), (5, "z y %{a}")]);
    }

    #[test]
    fn unknown_and_doubly_defined_names() {
        let problem = |text: &str| {
            let script = Script::parse(text).unwrap();
            table()
                .commands(&script.directives)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            problem("RUN: a %{nope}\n"),
            "line 1: unknown substitution `%{nope}`"
        );
        assert!(
            problem("DEFINE: %{a}=1\nDEFINE: %{a}=2\nRUN: a\n")
                .contains("line 2: `%{a}` is already")
        );
        assert!(problem("REDEFINE: %{a}=2\nRUN: a\n").contains("line 1: `%{a}` is not defined"));
        // The value may not use a name that is defined later.
        assert!(problem("DEFINE: %{a}=%{b}\nDEFINE: %{b}=1\nRUN: %{a}\n").contains("unknown"));
    }
}
