//! Finding the directives of a check file.

use crate::bytes;
use crate::syntax_error::SyntaxError;

/// The kind of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectiveKind {
    /// `P:`, `P-COUNT-n:`
    Plain,
    /// `P-NEXT:`
    Next,
    /// `P-SAME:`
    Same,
    /// `P-EMPTY:`
    Empty,
    /// `P-LABEL:`
    Label,
    /// `P-NOT:`
    Not,
    /// `P-DAG:`
    Dag,
    /// The end of the input, after the last directive.
    End,
}

/// The suffixes except `COUNT`.
pub const SUFFIXES: [(&str, DirectiveKind); 6] = [
    ("NEXT", DirectiveKind::Next),
    ("SAME", DirectiveKind::Same),
    ("NOT", DirectiveKind::Not),
    ("DAG", DirectiveKind::Dag),
    ("LABEL", DirectiveKind::Label),
    ("EMPTY", DirectiveKind::Empty),
];

const BAD_NOT_COMBINATIONS: [&[u8]; 8] = [
    b"DAG-NOT:",
    b"NOT-DAG:",
    b"NEXT-NOT:",
    b"NOT-NEXT:",
    b"SAME-NOT:",
    b"NOT-SAME:",
    b"EMPTY-NOT:",
    b"NOT-EMPTY:",
];

/// The text between a prefix and its pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suffix {
    /// The kind of the directive.
    pub kind: DirectiveKind,
    /// The number of repetitions.
    pub count: u32,
    /// Whether `{LITERAL}` is given.
    pub literal: bool,
    /// Its length, including the colon.
    pub length: usize,
}

/// Why the text after a prefix is not a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoDirective {
    /// It is other text.
    Ignored,
    /// It is an error, for this reason.
    Refused(&'static str),
}

/// Parses the suffix at the start of `rest`, the text after a check prefix.
pub fn parse_suffix(rest: &[u8]) -> Result<Suffix, NoDirective> {
    let plain = Suffix {
        kind: DirectiveKind::Plain,
        count: 1,
        literal: false,
        length: 0,
    };
    match rest.first() {
        Some(b':' | b'{') => parse_modifiers(rest, plain),
        Some(b'-') => parse_kind(rest, plain),
        Some(b'_') => match parse_kind(rest, plain) {
            Err(NoDirective::Ignored) => Err(NoDirective::Ignored),
            Ok(_) | Err(NoDirective::Refused(_)) => Err(NoDirective::Refused(
                "misspelled directive: `_` in place of `-`",
            )),
        },
        _ => Err(NoDirective::Ignored),
    }
}

fn parse_kind(rest: &[u8], plain: Suffix) -> Result<Suffix, NoDirective> {
    let name = &rest[1..];
    if let Some(behind) = name.strip_prefix(b"COUNT-") {
        let digits = behind
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let count = bytes::display(&behind[..digits])
            .parse()
            .ok()
            .filter(|count| (1..=i32::MAX as u32).contains(count));
        let (Some(count), Some(b':' | b'{')) = (count, behind.get(digits)) else {
            return Err(NoDirective::Refused("invalid count in -COUNT directive"));
        };
        return parse_modifiers(
            rest,
            Suffix {
                count,
                length: 1 + b"COUNT-".len() + digits,
                ..plain
            },
        );
    }
    if BAD_NOT_COMBINATIONS
        .iter()
        .any(|combination| name.starts_with(combination))
    {
        return Err(NoDirective::Refused(
            "-NOT cannot be combined with another suffix",
        ));
    }
    let suffix = SUFFIXES
        .iter()
        .find(|(suffix, _)| name.starts_with(suffix.as_bytes()));
    let &(suffix, kind) = suffix.ok_or(NoDirective::Ignored)?;
    parse_modifiers(
        rest,
        Suffix {
            kind,
            length: 1 + suffix.len(),
            ..plain
        },
    )
}

/// Parses `:` or `{LITERAL}:` after the part of `rest` that `suffix` covers.
fn parse_modifiers(rest: &[u8], suffix: Suffix) -> Result<Suffix, NoDirective> {
    let mut at = suffix.length;
    let mut literal = false;
    if rest.get(at) == Some(&b'{') {
        loop {
            at += 1;
            at += leading_space(&rest[at..]);
            at += if rest[at..].starts_with(b"LITERAL") {
                b"LITERAL".len()
            } else {
                return Err(NoDirective::Ignored);
            };
            at += leading_space(&rest[at..]);
            if rest.get(at) != Some(&b',') {
                break;
            }
        }
        at += if rest.get(at) == Some(&b'}') {
            1
        } else {
            return Err(NoDirective::Ignored);
        };
        literal = true;
    }
    match rest.get(at) {
        Some(b':') => Ok(Suffix {
            literal,
            length: at + 1,
            ..suffix
        }),
        _ => Err(NoDirective::Ignored),
    }
}

/// Returns the length of leading white space. It includes line breaks, because LLVM's modifiers may span lines.
fn leading_space(text: &[u8]) -> usize {
    text.iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r'))
        .count()
}

/// Returns whether `byte` is part of a word.
pub fn is_part_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// A directive of a check file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive<'p> {
    /// Its prefix.
    pub prefix: &'p str,
    /// The rest of its name.
    pub suffix: Suffix,
    /// Its line, from 1.
    pub line: usize,
    /// The offset of its start.
    pub start: usize,
    /// The offset of its pattern, including leading spaces; the pattern extends to the end of the line.
    pub pattern_start: usize,
}

/// Iterator over the directives of a check file, in order.
pub struct Directives<'p, 't> {
    text: &'t [u8],
    at: usize,
    line: usize,
    /// Longest first, each with the offset of its next occurrence at or after `at`.
    prefixes: Vec<Prefix<'p>>,
}

struct Prefix<'p> {
    name: &'p str,
    is_comment: bool,
    next: Option<usize>,
}

impl<'p, 't> Directives<'p, 't> {
    /// Returns the directives of `text` with a prefix of `check`. A prefix of `comment` with a colon hides the rest of
    /// its line.
    pub fn new(text: &'t [u8], check: &'p [String], comment: &'p [String]) -> Directives<'p, 't> {
        let entry = |is_comment| {
            move |name: &'p String| Prefix {
                name,
                is_comment,
                next: bytes::find(text, name.as_bytes()),
            }
        };
        let mut prefixes: Vec<Prefix> = check
            .iter()
            .map(entry(false))
            .chain(comment.iter().map(entry(true)))
            .collect();
        prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.name.len()));
        Directives {
            text,
            at: 0,
            line: 1,
            prefixes,
        }
    }

    /// Returns the nearest prefix, and the longest of several at the same offset.
    fn nearest(&mut self) -> Option<(&'p str, bool, usize)> {
        let mut nearest: Option<(&str, bool, usize)> = None;
        for prefix in &mut self.prefixes {
            if prefix.next.is_some_and(|next| next < self.at) {
                let found = bytes::find(&self.text[self.at..], prefix.name.as_bytes());
                prefix.next = found.map(|found| self.at + found);
            }
            if let Some(next) = prefix
                .next
                .filter(|&next| nearest.is_none_or(|(.., place)| next < place))
            {
                nearest = Some((prefix.name, prefix.is_comment, next));
            }
        }
        nearest
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r'))
            .unwrap_or(rest.len());
    }
}

impl<'p> Iterator for Directives<'p, '_> {
    type Item = Result<Directive<'p>, SyntaxError>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some((prefix, is_comment, start)) = self.nearest() {
            let skipped = &self.text[self.at..start];
            let continues_word = skipped.last().copied().is_some_and(is_part_of_word);
            self.line += skipped.iter().filter(|&&byte| byte == b'\n').count();
            self.at = start + prefix.len();
            let rest = &self.text[self.at..];
            if is_comment && !continues_word && rest.first() == Some(&b':') {
                self.skip_line();
                continue;
            }
            let suffix = if continues_word || is_comment {
                Err(NoDirective::Ignored)
            } else {
                parse_suffix(rest)
            };
            match suffix {
                Ok(suffix) => {
                    let pattern_start = self.at + suffix.length;
                    self.at = pattern_start;
                    self.skip_line();
                    return Some(Ok(Directive {
                        prefix,
                        suffix,
                        line: self.line,
                        start,
                        pattern_start,
                    }));
                }
                Err(NoDirective::Refused(reason)) => {
                    return Some(Err(SyntaxError::new(start, reason)));
                }
                Err(NoDirective::Ignored) => {
                    self.at += rest
                        .iter()
                        .take_while(|&&byte| is_part_of_word(byte))
                        .count();
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, DirectiveKind, u32, bool, &str)> {
        let (check, comment) = (["P".to_owned(), "P-X".to_owned()], ["COM".to_owned()]);
        let directives = Directives::new(text.as_bytes(), &check, &comment).map(|directive| {
            let directive = directive.expect("valid");
            let pattern = text[directive.pattern_start..]
                .lines()
                .next()
                .unwrap_or_default();
            (
                directive.line,
                directive.suffix.kind,
                directive.suffix.count,
                directive.suffix.literal,
                pattern,
            )
        });
        directives.collect()
    }

    #[test]
    fn directives_are_listed() {
        assert_eq!(
            found("// P: a\n\nP-COUNT-3{LITERAL}: b\n"),
            [
                (1, DirectiveKind::Plain, 1, false, " a"),
                (3, DirectiveKind::Plain, 3, true, " b")
            ]
        );
        assert_eq!(
            found("P-X-NEXT: a\nP-NOT:b"),
            [
                (1, DirectiveKind::Next, 1, false, " a"),
                (2, DirectiveKind::Not, 1, false, "b")
            ]
        );
        assert_eq!(
            found("COM: P: a\nCOM-NEXT: P: b"),
            [(2, DirectiveKind::Plain, 1, false, " b")]
        );
    }

    #[test]
    fn others_are_not() {
        let ignored = "MY-P: a\nP :\nP-FOO: a\nP-LABEL-NOT: a\nP-LITERAL: a\nP{literal}: a\nP{LITERAL}-NEXT: a\np: a\nPP: a\n";
        assert_eq!(found(ignored), []);
    }

    #[test]
    fn refusals() {
        for suffix in [
            "_NEXT:",
            "-COUNT-0:",
            "-COUNT-x:",
            "-COUNT-2 :",
            "-NOT-DAG:",
            "_COUNT-0:",
            "-COUNT-9999999999:",
        ] {
            assert!(
                matches!(
                    parse_suffix(suffix.as_bytes()),
                    Err(NoDirective::Refused(_))
                ),
                "{suffix}"
            );
        }
        assert_eq!(parse_suffix(b"_FOO:"), Err(NoDirective::Ignored));
    }
}
