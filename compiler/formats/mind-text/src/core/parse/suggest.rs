//! Suggestions for lines that are not Core text.

use std::ops::Range;

use mind_ir::opdef::nearest;

use super::source::Source;
use crate::core::error::{Fault, Parsed, SyntaxError};
use crate::core::table::OpSyntax;
use crate::foreign::ForeignType;

/// Reads a part of a line; on an error, `suggest` receives the offset of the part and may add help.
pub(super) fn or_suggest<'s, T>(
    src: &mut Source<'s>,
    read: impl FnOnce(&mut Source<'s>) -> Parsed<T>,
    suggest: impl FnOnce(&Source<'s>, usize, Box<Fault>) -> Box<Fault>,
) -> Parsed<T> {
    src.cursor.peek();
    let start = src.cursor.at();
    read(src).map_err(|fault| suggest(src, start, fault))
}

/// Suggests the Core spelling of the type at `start`, if it is in another tool's spelling.
pub(super) fn ty(src: &Source<'_>, start: usize, fault: Box<Fault>) -> Box<Fault> {
    if matches!(
        fault.error,
        SyntaxError::UnknownDType {
            nearest: Some(_),
            ..
        }
    ) {
        return fault;
    }
    let line = rest_of_line(src, start);
    let known = |end: &usize| ForeignType::parse(&line[..*end]).map(|ty| (*end, ty));
    // Tries the longest text first; an unclosed type extends to the end of the line.
    let brackets = line.rmatch_indices(['>', ']']).map(|(at, _)| at + 1);
    let Some((end, ty)) = brackets.chain([line.len()]).find_map(|end| known(&end)) else {
        return fault;
    };
    let written = format!("tensor<{}[{}]>", ty.dtype.name(), ty.dims(", "));
    fault.suggest_edit(format!("write `{written}`"), start..start + end, written)
}

/// Completes the error for text after the op `op` on its line.
pub(super) fn surplus(src: &Source<'_>, op: &OpSyntax, fault: Box<Fault>) -> Box<Fault> {
    let start = fault.start;
    let rest = rest_of_line(src, start);
    match rest.as_bytes().first() {
        Some(b'%') => {
            let in_list = |c: char| c.is_ascii_alphanumeric() || "%, _".contains(c);
            let end = rest.find(|c| !in_list(c)).unwrap_or(rest.len());
            let list = rest[..end].trim_end().trim_end_matches(',');
            let text = format!("({list})");
            let help = format!("operands go in parentheses: `{} {text}`", op.name);
            fault.suggest_edit(help, start..start + list.len(), text)
        }
        Some(b';') => fault.suggest_edit(
            "an instruction ends with its line: remove `;`",
            start..start + 1,
            "",
        ),
        Some(b'/') => comment(src, start, fault),
        Some(b'-') if rest.starts_with("->") => {
            fault.suggest_edit("the type follows a colon", start..start + 2, ":")
        }
        Some(first) if first.is_ascii_alphabetic() && !op.keys.is_empty() => {
            let (key, word) = (op.keys[0].name, first_word(rest));
            let text = if rest[word.len()..].starts_with(['=', ':']) {
                format!("{{{word}=...}}")
            } else {
                format!("{{{key}={word}}}")
            };
            fault.suggest(format!("attributes go in braces: `{} {text}`", op.name))
        }
        _ => fault,
    }
}

/// Completes the error for a missing op at the start of a line or after `=`.
pub(super) fn not_op(src: &Source<'_>, start: usize, fault: Box<Fault>) -> Box<Fault> {
    let rest = rest_of_line(src, start);
    let word = first_word(rest);
    match rest.as_bytes().first() {
        Some(b'/') => comment(src, start, fault),
        Some(b'%') => fault.suggest(format!(
            "a value has one id: use `{word}` in the lines below"
        )),
        Some(b'-' | b'0'..=b'9') if word.parse::<f64>().is_ok() => {
            let op = if word.parse::<i64>().is_ok() {
                "ConstI64"
            } else {
                "ConstF32"
            };
            let text = format!("{op} {{value={word}}}");
            fault.suggest_edit(
                format!("a number is a constant: `{text}`"),
                start..start + word.len(),
                text,
            )
        }
        _ => fault,
    }
}

/// Completes the error for an unknown op that is followed by `=`: an id without its sign.
pub(super) fn unknown_op(src: &Source<'_>, name: &Range<usize>, fault: Box<Fault>) -> Box<Fault> {
    let after = rest_of_line(src, name.end).trim_start();
    if !after.starts_with('=') {
        return fault;
    }
    fault.suggest("an id is a percent sign and a number, as in `%0 = ...`")
}

/// Completes the error after an id that should be followed by `=`.
pub(super) fn after_result(src: &Source<'_>, fault: Box<Fault>) -> Box<Fault> {
    if rest_of_line(src, fault.start).starts_with(':') {
        fault.suggest("the type ends the line, as in `%0 = Input {name=x} : tensor<f32[4]>`")
    } else {
        fault
    }
}

/// Completes the error for a single number where a list of integers is expected.
pub(super) fn list(src: &Source<'_>, start: usize, fault: Box<Fault>) -> Box<Fault> {
    let rest = rest_of_line(src, start);
    let number = first_word(rest);
    let range = start..start + number.len();
    if number.parse::<i64>().is_ok() && fault.start == start {
        let text = format!("[{number}]");
        return fault.suggest_edit(format!("a list of one is `{text}`"), range, text);
    }
    let tuple = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    match tuple {
        Some((items, _)) if fault.start == start => {
            let text = format!("[{items}]");
            let range = start..start + items.len() + 2;
            fault.suggest_edit(format!("a list goes in brackets: `{text}`"), range, text)
        }
        _ => fault,
    }
}

/// The words of truth values.
pub(super) static BOOLS: [&str; 2] = ["true", "false"];

/// The roles of an input.
pub(super) static ROLES: [&str; 2] = ["param", "input"];

/// Completes the error for a word that is not one of `words`: suggests a similar one, or a truth value for 0 and 1.
pub(super) fn choice(
    src: &Source<'_>,
    start: usize,
    words: &'static [&'static str],
    fault: Box<Fault>,
) -> Box<Fault> {
    let found = first_word(rest_of_line(src, start));
    let is_truth = words == BOOLS || words == ROLES;
    let meant = match found {
        "1" if is_truth => Some(words[0]),
        "0" if is_truth => Some(words[1]),
        _ => nearest(&found.to_ascii_lowercase(), words.iter().copied()),
    };
    match meant {
        Some(word) => {
            let range = start..start + found.len();
            fault.suggest_edit(format!("did you mean `{word}`?"), range, word)
        }
        None => fault,
    }
}

/// Completes the error for a name in curly or single quotes.
pub(super) fn quoted(src: &Source<'_>, start: usize, fault: Box<Fault>) -> Box<Fault> {
    let rest = rest_of_line(src, start);
    let quote = |c: char| "“”„«»‘’'`".contains(c);
    let mut letters = rest.char_indices();
    let (Some((_, first)), Some(close)) = (letters.next(), letters.find(|&(_, c)| quote(c))) else {
        return fault;
    };
    if !quote(first) {
        return fault;
    }
    let text = format!("\"{}\"", &rest[first.len_utf8()..close.0]);
    let range = start..start + close.0 + close.1.len_utf8();
    fault.suggest_edit(
        format!("write straight double quotes: `{text}`"),
        range,
        text,
    )
}

fn comment(src: &Source<'_>, start: usize, fault: Box<Fault>) -> Box<Fault> {
    if rest_of_line(src, start).starts_with("//") {
        fault.suggest_edit("a comment starts with `#`", start..start + 2, "#")
    } else {
        fault
    }
}

/// Returns the text from `start` to the end of its line, without a comment.
fn rest_of_line<'t>(src: &Source<'t>, start: usize) -> &'t str {
    let rest = src.cursor.text().get(start..).unwrap_or_default();
    let end = rest.find(['\n', '#']).unwrap_or(rest.len());
    rest[..end].trim_end()
}

/// Returns the text before the next blank, bracket, comma or colon.
fn first_word(text: &str) -> &str {
    let end = text.find([' ', '\t', ',', ')', ']', '}', '(', '[', '{', ':', '=']);
    &text[..end.unwrap_or(text.len())]
}
