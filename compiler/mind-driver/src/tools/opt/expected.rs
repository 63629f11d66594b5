//! `--verify-diagnostics`: comments that say which diagnostics a file gives.
//!
//! `# expected-error {{text}}` expects an error on its own line whose message, code included, contains
//! `text`. `@+1`, `@-2`, `@above`, `@below` behind the word move the line; `@unknown` expects one for
//! the file as a whole. The words are `expected-error`, `-warning`, `-note`, `-remark`. With `-re` behind
//! the word, as in `expected-error-re {{found {{[0-9]+}} operands}}`, the inner braces hold regular
//! expressions.

use mind_diag::{Diagnostic, Diagnostics, Severity, SourceFile};
use regex::Regex;

struct Expectation {
    severity: Severity,
    /// 0 for the file as a whole.
    line: usize,
    text: String,
    /// What `text` stands for where it holds regular expressions.
    pattern: Option<Regex>,
    written: usize,
    met: bool,
}

impl Expectation {
    fn is_met_by(&self, shown: &str) -> bool {
        match &self.pattern {
            Some(pattern) => pattern.is_match(shown),
            None => shown.contains(&self.text),
        }
    }
}

/// Compares what was found with what the file's comments expect: one line per difference.
///
/// Errors: expectations that were not met, diagnostics that none expects, broken expectations.
pub(super) fn check(file: &SourceFile, found: &Diagnostics) -> Result<(), Vec<String>> {
    let mut differences = Vec::new();
    let mut expected = expectations(file, &mut differences);
    for diagnostic in found.iter() {
        let line = file.position(diagnostic.span).0;
        let shown = shown(diagnostic);
        let matching = expected.iter_mut().find(|expectation| {
            !expectation.met
                && expectation.severity == diagnostic.severity
                && expectation.line == line
                && expectation.is_met_by(&shown)
        });
        match matching {
            Some(expectation) => expectation.met = true,
            None => {
                let word = diagnostic.severity.word();
                differences.push(format!(
                    "{}:{line}: unexpected {word}: {shown}",
                    file.name()
                ));
            }
        }
    }
    for expectation in expected.iter().filter(|expectation| !expectation.met) {
        let (word, line) = (expectation.severity.word(), expectation.line);
        let (name, written, text) = (file.name(), expectation.written, &expectation.text);
        differences.push(format!(
            "{name}:{written}: expected {word} at line {line} not found: {text}"
        ));
    }
    if differences.is_empty() {
        Ok(())
    } else {
        Err(differences)
    }
}

/// `E3001: message`, or the message alone.
fn shown(diagnostic: &Diagnostic) -> String {
    match diagnostic.code {
        Some(code) => format!("{code}: {}", diagnostic.message),
        None => diagnostic.message.clone(),
    }
}

fn expectations(file: &SourceFile, broken: &mut Vec<String>) -> Vec<Expectation> {
    let mut expected = Vec::new();
    for (index, line) in file.text().lines().enumerate() {
        let written = index + 1;
        let mut rest = line;
        while let Some(at) = rest.find("expected-") {
            rest = &rest[at + "expected-".len()..];
            let severities = [
                Severity::Error,
                Severity::Warning,
                Severity::Note,
                Severity::Remark,
            ];
            let Some(severity) = severities
                .into_iter()
                .find(|severity| rest.starts_with(severity.word()))
            else {
                continue;
            };
            rest = &rest[severity.word().len()..];
            match expectation(rest, severity, written) {
                Some((expectation, length)) => {
                    expected.push(expectation);
                    rest = &rest[length..];
                }
                None => broken.push(format!(
                    "{}:{written}: broken expectation; write `expected-error@+1 {{{{text}}}}`",
                    file.name()
                )),
            }
        }
    }
    expected
}

/// The expectation that `rest`, behind the severity, says, and how many bytes it takes.
fn expectation(rest: &str, severity: Severity, written: usize) -> Option<(Expectation, usize)> {
    let open = rest.find("{{")?;
    let place = rest[..open].trim_end();
    let (regular, place) = match place.strip_prefix("-re") {
        Some(place) => (true, place),
        None => (false, place),
    };
    let start = open + 2;
    let (length, pattern) = match regular {
        true => pattern(&rest[start..])?,
        false => (rest[start..].find("}}")?, None),
    };
    let expectation = Expectation {
        severity,
        line: line(place.trim(), written)?,
        text: rest[start..start + length].to_owned(),
        pattern,
        written,
        met: false,
    };
    Some((expectation, start + length + 2))
}

/// The line that `place` names, seen from line `written`.
fn line(place: &str, written: usize) -> Option<usize> {
    match place {
        "" => Some(written),
        "@above" => Some(written - 1),
        "@below" => Some(written + 1),
        "@unknown" => Some(0),
        offset => {
            let offset: isize = offset.strip_prefix('@')?.parse().ok()?;
            written.checked_add_signed(offset)
        }
    }
}

/// The text up to the `}}` that no `{{` inside opened: its length, and what it matches.
fn pattern(text: &str) -> Option<(usize, Option<Regex>)> {
    let (mut at, mut pattern) = (0, String::new());
    loop {
        let close = at + text[at..].find("}}")?;
        let Some(open) = text[at..close].find("{{") else {
            pattern.push_str(&regex::escape(&text[at..close]));
            return Some((close, Some(Regex::new(&pattern).ok()?)));
        };
        let open = at + open;
        pattern.push_str(&regex::escape(&text[at..open]));
        pattern.push_str("(?:");
        pattern.push_str(&text[open + 2..close]);
        pattern.push(')');
        at = close + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mind_diag::{Code, Span};

    fn differences(text: &str, found: Option<Diagnostic>) -> Vec<String> {
        let mut all = Diagnostics::new();
        found
            .into_iter()
            .for_each(|diagnostic| all.push(diagnostic));
        check(&SourceFile::new("m", text), &all)
            .err()
            .unwrap_or_default()
    }

    fn error(start: u32) -> Option<Diagnostic> {
        Some(Diagnostic::error(Span::new(start, start + 1), "no such op").code(Code(2007)))
    }

    #[test]
    fn offsets_name_the_line() {
        assert!(differences("x # expected-error {{no such}}", error(0)).is_empty());
        assert!(differences("# expected-error@+1 {{E2007: no}}\nx", error(34)).is_empty());
        assert!(differences("x\n# expected-error@above {{op}}", error(0)).is_empty());
    }

    #[test]
    fn inner_braces_hold_regular_expressions() {
        let found = |text: &str| differences(&format!("x # expected-error{text}"), error(0));
        assert!(found("-re {{E{{[0-9]+}}: no {{such|much}} op}}").is_empty());
        assert_eq!(found("-re {{E{{[a-z]+}}: no}}").len(), 2);
        assert_eq!(found("-re {{no.such}}").len(), 2);
        assert_eq!(found("-re {{E{{(}}}}").len(), 2);
        assert_eq!(found("-re {{open {{x}}").len(), 2);
        assert_eq!(found(" {{E{{[0-9]+}}").len(), 2);
    }

    #[test]
    fn missing_unexpected_and_broken_ones_are_reported() {
        assert_eq!(
            differences("x # expected-error {{other}}", error(0)),
            [
                "m:1: unexpected error: E2007: no such op",
                "m:1: expected error at line 1 not found: other"
            ]
        );
        assert_eq!(differences("# expected-warning {{w}}", None).len(), 1);
        assert_eq!(differences("# expected-error@x {{w}}", None).len(), 1);
    }
}
