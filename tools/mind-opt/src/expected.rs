//! Implements `--verify-diagnostics`: expected diagnostics in comments.
//!
//! `# expected-error {{text}}` expects an error on the same line whose message, including its code, contains `text`.
//! The suffixes `@+1`, `@-2`, `@above` and `@below` select another line; `@unknown` selects diagnostics of the file as
//! a whole. The words are `expected-error`, `-warning`, `-note`, `-remark`, and `-help` for the help of a diagnostic on
//! the line; helps may be expected but need not be. With the suffix `-re`, for example `expected-error-re {{found
//! {{[0-9]+}} operands}}`, inner braces contain regular expressions.

use mind_diag::{Diagnostic, Diagnostics, Severity, SourceFile};
use regex_lite::Regex;

/// The kind of an expectation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// A diagnostic of this severity.
    Finding(Severity),
    /// The help of a diagnostic.
    Help,
}

impl Subject {
    const ALL: [Subject; 5] = [
        Subject::Finding(Severity::Error),
        Subject::Finding(Severity::Warning),
        Subject::Finding(Severity::Note),
        Subject::Finding(Severity::Remark),
        Subject::Help,
    ];

    const fn word(self) -> &'static str {
        match self {
            Subject::Finding(severity) => severity.word(),
            Subject::Help => "help",
        }
    }
}

struct Expectation {
    subject: Subject,
    /// The line, or 0 for the file as a whole.
    line: usize,
    text: String,
    /// The regular expression of `text`, if it contains any.
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

/// Compares the diagnostics of a file with the expectations in its comments.
///
/// # Errors
///
/// Returns a line for each unmet expectation, unexpected diagnostic and malformed expectation.
pub(super) fn check(file: &SourceFile, found: &Diagnostics) -> Result<(), Vec<String>> {
    let mut differences = Vec::new();
    let mut expected = expectations(file, &mut differences);
    for diagnostic in found.iter() {
        let line = file.position(diagnostic.span).0;
        let shown = shown(diagnostic);
        let mut meets = |subject, text: &str| {
            let matching = expected.iter_mut().find(|expectation| {
                !expectation.met
                    && expectation.subject == subject
                    && expectation.line == line
                    && expectation.is_met_by(text)
            });
            matching.map(|expectation| expectation.met = true).is_some()
        };
        if let Some(help) = diagnostic.way_out() {
            meets(Subject::Help, help);
        }
        if !meets(Subject::Finding(diagnostic.severity), &shown) {
            let word = diagnostic.severity.word();
            differences.push(format!(
                "{}:{line}: unexpected {word}: {shown}",
                file.name()
            ));
        }
    }
    for expectation in expected.iter().filter(|expectation| !expectation.met) {
        let (word, line) = (expectation.subject.word(), expectation.line);
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

/// Formats a diagnostic with its code, for example `E3001: message`.
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
            let Some(subject) = Subject::ALL
                .into_iter()
                .find(|subject| rest.starts_with(subject.word()))
            else {
                continue;
            };
            rest = &rest[subject.word().len()..];
            match expectation(rest, subject, written) {
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

/// Parses the expectation after its word; also returns its length in bytes.
fn expectation(rest: &str, subject: Subject, written: usize) -> Option<(Expectation, usize)> {
    let open = rest.find("{{")?;
    let place = rest[..open].trim_end();
    let (regular, place) = match place.strip_prefix("-re") {
        Some(place) => (true, place),
        None => (false, place),
    };
    let start = open + 2;
    let (length, pattern) = if regular {
        pattern(&rest[start..])?
    } else {
        (rest[start..].find("}}")?, None)
    };
    let expectation = Expectation {
        subject,
        line: line(place.trim(), written)?,
        text: rest[start..start + length].to_owned(),
        pattern,
        written,
        met: false,
    };
    Some((expectation, start + length + 2))
}

/// Returns the line selected by the suffix `place` in line `written`.
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

/// Parses a text with inner regular expressions up to its closing `}}`; returns its length and the regular expression.
fn pattern(text: &str) -> Option<(usize, Option<Regex>)> {
    let (mut at, mut pattern) = (0, String::new());
    loop {
        let close = at + text[at..].find("}}")?;
        let Some(open) = text[at..close].find("{{") else {
            pattern.push_str(&regex_lite::escape(&text[at..close]));
            return Some((close, Some(Regex::new(&pattern).ok()?)));
        };
        let open = at + open;
        pattern.push_str(&regex_lite::escape(&text[at..open]));
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
    fn helps_may_be_expected_beside_their_diagnostic() {
        let found =
            |text: &str| differences(&format!("x # expected-error {{{{op}}}} {text}"), error(0));
        assert!(found("").is_empty());
        assert!(found("expected-help {{as many operands}}").is_empty());
        assert!(found("expected-help-re {{as {{.*}} takes}}").is_empty());
        let other = ["m:1: expected help at line 1 not found: remove it"];
        assert_eq!(found("expected-help {{remove it}}"), other);
        let alone = differences("x # expected-help {{operands}}", error(0));
        assert_eq!(alone, ["m:1: unexpected error: E2007: no such op"]);
        let twice = "expected-help {{many}} expected-help {{operands}}";
        assert_eq!(found(twice).len(), 1, "one diagnostic has one help");
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
