//! Lines of a check file that look like directives but are not.
//!
//! FileCheck silently ignores these lines; test suites should not contain them.

use crate::bytes;
use crate::directive::{Directives, NoDirective, SUFFIXES, is_part_of_word, parse_suffix};

/// The default comment prefixes, which hide the rest of a line.
const COMMENT_PREFIXES: [&str; 2] = ["COM", "RUN"];

/// A directive of a check file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectiveLine {
    /// Its line, from 1.
    pub line: usize,
    /// Its prefix.
    pub prefix: String,
    /// Its name, for example `CHECK-NEXT`.
    pub name: String,
    /// Its pattern, without surrounding spaces.
    pub pattern: String,
}

/// Text that looks like a directive but is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintError {
    /// The line, from 1.
    pub line: usize,
    /// The error, with the probable intention.
    pub message: String,
}

/// Returns the directives of `text` with one of `prefixes`, up to the first invalid one.
pub fn directives(text: &str, prefixes: &[String]) -> Vec<DirectiveLine> {
    let comments = COMMENT_PREFIXES.map(str::to_owned);
    let found = Directives::new(text.as_bytes(), prefixes, &comments)
        .map_while(Result::ok)
        .map(|directive| {
            let pattern = &text.as_bytes()[directive.pattern_start..];
            let pattern = pattern
                .split(|byte| matches!(byte, b'\n' | b'\r'))
                .next()
                .unwrap_or_default();
            DirectiveLine {
                line: directive.line,
                prefix: directive.prefix.to_owned(),
                name: bytes::display(
                    &text.as_bytes()[directive.start..directive.pattern_start - 1],
                ),
                pattern: bytes::display(bytes::trim_start(bytes::trim_end(pattern))),
            }
        });
    found.collect()
}

/// Returns the lines of `text` that look like directives, but not to FileCheck.
///
/// `prefixes` are all prefixes in use for `text`. Reported are unknown suffixes and modifiers, a space before the
/// colon, a missing colon, lower case, and directives with a prefix that is not in use. Directives that FileCheck
/// itself rejects are not reported.
pub fn lint(text: &str, prefixes: &[String]) -> Vec<LintError> {
    let lines = text.lines().enumerate();
    let errors = lines.filter_map(|(i, line)| {
        let message = lint_line(line.as_bytes(), prefixes)?;
        Some(LintError {
            line: i + 1,
            message,
        })
    });
    errors.collect()
}

/// Returns the error of the first lookalike of `line`, unless a directive or comment comes first.
fn lint_line(line: &[u8], prefixes: &[String]) -> Option<String> {
    let mut at = 0;
    let mut is_first = true;
    while let Some(start) = line[at..]
        .iter()
        .position(|&byte| is_part_of_word(byte))
        .map(|start| at + start)
    {
        let length = line[start..]
            .iter()
            .take_while(|&&byte| is_part_of_word(byte))
            .count();
        at = start + length;
        let word = std::str::from_utf8(&line[start..at]).ok()?;
        let behind = &line[at..];
        if COMMENT_PREFIXES.contains(&word) && behind.first() == Some(&b':') {
            return None;
        }
        let prefix = prefixes
            .iter()
            .filter(|prefix| word.starts_with(prefix.as_str()))
            .max_by_key(|prefix| prefix.len());
        let message = match prefix {
            Some(prefix) => match parse_suffix(&line[start + prefix.len()..]) {
                Ok(_) | Err(NoDirective::Refused(_)) => return None,
                Err(NoDirective::Ignored) => lint_known_prefix(prefix, word, behind, is_first),
            },
            None => lint_unknown_prefix(prefixes, word, behind, is_first),
        };
        if message.is_some() {
            return message;
        }
        is_first &= word.bytes().all(|byte| byte == b'-');
    }
    None
}

fn lint_known_prefix(prefix: &str, word: &str, behind: &[u8], is_first: bool) -> Option<String> {
    let suffix = &word[prefix.len()..];
    let is_known = suffix.is_empty() || suffix.strip_prefix('-').is_some_and(is_known_suffix);
    let colon_follows = bytes::trim_start(behind).first() == Some(&b':');
    match behind.first() {
        Some(b'{') if is_known => Some(format!(
            "`{word}` has malformed modifiers: only `{{LITERAL}}:` may follow"
        )),
        Some(b'{') => Some(unknown_suffix(prefix, suffix)),
        _ if colon_follows && is_known => {
            Some(format!("`{word}` must be directly followed by a colon"))
        }
        _ if colon_follows => Some(unknown_suffix(prefix, suffix)),
        _ if is_first && is_known && !suffix.is_empty() => {
            Some(format!("`{word}` lacks its colon"))
        }
        _ => None,
    }
}

fn unknown_suffix(prefix: &str, suffix: &str) -> String {
    let Some(name) = suffix.strip_prefix(['-', '_']) else {
        return format!("`{prefix}{suffix}` is not a prefix in use, so its line is ignored");
    };
    let upper = name.to_ascii_uppercase();
    let nearest = SUFFIXES
        .iter()
        .map(|(known, _)| (strsim::levenshtein(&upper, known), *known))
        .min_by_key(|(distance, _)| *distance);
    let meant = nearest.filter(|(distance, _)| *distance <= 2);
    let hint = meant.map_or(String::new(), |(_, known)| {
        format!("; did you mean `{prefix}-{known}`?")
    });
    format!("`{prefix}{suffix}` is not a directive, so its line is ignored{hint}")
}

fn lint_unknown_prefix(
    prefixes: &[String],
    word: &str,
    behind: &[u8],
    is_first: bool,
) -> Option<String> {
    if bytes::trim_start(behind).first() != Some(&b':') {
        return None;
    }
    let upper = word.to_ascii_uppercase();
    let upper_prefix = prefixes.iter().find(|prefix| {
        let prefix = prefix.to_ascii_uppercase();
        let suffix = upper.strip_prefix(prefix.as_str());
        suffix.is_some_and(|suffix| {
            suffix.is_empty() || suffix.strip_prefix('-').is_some_and(is_known_suffix)
        })
    });
    if let Some(prefix) = upper_prefix.filter(|_| is_first) {
        return Some(format!(
            "`{word}` differs in case from the prefix `{prefix}`, so its line is ignored"
        ));
    }
    let has_suffix = word
        .char_indices()
        .any(|(i, c)| c == '-' && i > 0 && is_known_suffix(&word[i + 1..]));
    let looks_meant =
        word == upper && behind.first() == Some(&b':') && (has_suffix || word.contains("CHECK"));
    looks_meant.then(|| format!("the prefix of `{word}` is not in use, so its line is ignored"))
}

fn is_known_suffix(suffix: &str) -> bool {
    let is_count =
        |count: &str| !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
    SUFFIXES.iter().any(|(known, _)| *known == suffix)
        || suffix.strip_prefix("COUNT-").is_some_and(is_count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<LintError> {
        lint(text, &["CHECK".to_owned(), "CHECK-O2".to_owned()])
    }

    #[test]
    fn what_is_ignored_is_reported() {
        let lookalikes = [
            "CHECK-FOO: a",
            "// CHECK : a",
            "CHECK-NEXT : a",
            "CHECK-LABEL-NOT: a",
            "CHECK-NOT-LABEL: a",
            "CHECK-LITERAL: a",
            "CHECK{literal}: a",
            "CHECK{LITERAL}-NEXT: a",
            "CHECK-NEXT{FOO}: a",
            "check: a",
            "  # check-next: a",
            "CHECK-next: a",
            "CHECK_FOO: a",
            "CHECKNEXT: a",
            "// CHECK-NEXT a",
            "MY-CHECK: a",
            "OTHER-LABEL: a",
            "CHECK-O2-NXT: a",
            "CHECK2: a",
            "CHECK-COUNT2: a",
            "OTHER-COUNT-3: a",
        ];
        for line in lookalikes {
            assert_eq!(
                messages(&format!("\n{line}\n"))
                    .iter()
                    .map(|error| error.line)
                    .collect::<Vec<_>>(),
                [2],
                "{line}"
            );
        }
    }

    #[test]
    fn others_are_not() {
        let fine = [
            "CHECK: a",
            "// CHECK-O2-NEXT: CHECK-FOO: b",
            "CHECK-COUNT-3: a",
            "CHECK{LITERAL}: a",
            "CHECK that this is so",
            "the CHECK-NEXT line",
            "COM: CHECK-FOO: a",
            "RUN: filecheck --check-prefix=CHECK-FOO: %s",
            "NOTE: a",
            "CHECK_NEXT: LLVM refuses this itself",
            "we check: that",
            "a CHECK and a colon: here",
            "x-y: NEXT",
            "",
        ];
        for line in fine {
            assert_eq!(messages(line), [], "{line}");
        }
    }

    #[test]
    fn hints() {
        assert!(
            messages("CHECK-NXT: a")[0]
                .message
                .contains("`CHECK-NEXT`?")
        );
    }

    #[test]
    fn directives_are_listed_with_names() {
        let listed = directives(
            "// CHECK-NEXT:  a b \nCOM: CHECK: c\nCHECK-O2{LITERAL}:d",
            &["CHECK".to_owned(), "CHECK-O2".to_owned()],
        );
        let listed: Vec<_> = listed
            .iter()
            .map(|line| (line.line, line.name.as_str(), line.pattern.as_str()))
            .collect();
        assert_eq!(
            listed,
            [(1, "CHECK-NEXT", "a b"), (3, "CHECK-O2{LITERAL}", "d")]
        );
    }
}
