//! `--verify-diagnostics`: comments that say which diagnostics a file gives.
//!
//! `# expected-error {{text}}` expects an error on its own line whose message, code included, contains
//! `text`. `@+1`, `@-2`, `@above`, `@below` behind the word move the line; `@unknown` expects one for
//! the file as a whole. The words are `expected-error`, `-warning`, `-note`, `-remark`.

use mind_diag::{Diagnostic, Diagnostics, Severity, SourceFile};

struct Expectation {
    severity: Severity,
    /// 0 for the file as a whole.
    line: usize,
    text: String,
    written: usize,
    met: bool,
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
                && shown.contains(&expectation.text)
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
            match expectation(rest, written) {
                Some((line, text, length)) => {
                    let text = text.to_owned();
                    expected.push(Expectation {
                        severity,
                        line,
                        text,
                        written,
                        met: false,
                    });
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

/// The line and text that `rest`, behind the severity, asks for, and how many bytes it takes.
fn expectation(rest: &str, written: usize) -> Option<(usize, &str, usize)> {
    let open = rest.find("{{")?;
    let close = open + rest[open..].find("}}")?;
    let line = match rest[..open].trim() {
        "" => written,
        "@above" => written - 1,
        "@below" => written + 1,
        "@unknown" => 0,
        offset => {
            let offset: isize = offset.strip_prefix('@')?.parse().ok()?;
            written.checked_add_signed(offset)?
        }
    };
    Some((line, &rest[open + 2..close], close + 2))
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
