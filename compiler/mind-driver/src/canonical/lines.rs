//! Texts whose statements are lines: mic@1, mic@2 and Core text.

use mind_text::is_interface_line;

use crate::formats::Format;

use super::split::{Split, Statement};

/// The lines of `text` that say something, and its comments.
pub(super) fn split(text: &str) -> Split {
    let (mut split, mut at) = (Split::default(), 0);
    for line in text.split_inclusive('\n') {
        let column = comment(line).unwrap_or(line.len());
        let (code, comment) = line.split_at(column);
        let begun = code.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let (start, code) = (at + code.len() - begun.len(), begun.trim_end());
        if !code.is_empty() {
            split.statements.push(Statement {
                code: code.to_owned(),
                place: start..start + code.len(),
            });
        }
        if !comment.is_empty() {
            let start = at + column;
            split.comments.push(start..start + comment.trim_end().len());
        }
        at += line.len();
    }
    split
}

/// Where the comment of `line` starts, quoted text aside.
fn comment(line: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '#' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

/// What tells a statement from most others.
///
/// Tables of types and symbols are made anew, so that their entries are known by what they say.
pub(super) fn word(statement: &str, format: Format) -> String {
    let (first, rest) = statement
        .split_once(char::is_whitespace)
        .unwrap_or((statement, ""));
    let is_mic = matches!(format, Format::Mic1 | Format::Mic2);
    match format {
        _ if first.starts_with("mic@") => "mic".to_owned(),
        Format::Mic2 if first == "S" => format!("S {}", rest.trim()),
        Format::Mic2 if is_entry(first, 'T') => format!("T {}", spaced(rest)),
        Format::Mic1 if is_entry(first, 'T') => format!("T {}", spaced(rest).replace(' ', "")),
        Format::Mic1 if is_entry(first, 'S') => format!("S {}", rest.trim()),
        // Values of mic@2 have no names, so that they are known by their order.
        Format::Mic2 if first != "O" => "value".to_owned(),
        // `%0=Input` without a blank is one word.
        _ if !is_mic && first.starts_with('%') => {
            let digits = first[1..].bytes().take_while(u8::is_ascii_digit).count();
            first[..1 + digits].to_owned()
        }
        Format::Core if is_interface_line(first) => {
            // The first entry of the line, or the name of its input.
            let end = rest.find(['=', '{']).unwrap_or(rest.len());
            format!("{first} {}", rest[..end].trim())
        }
        _ => first.trim_end_matches([',', ':']).to_owned(),
    }
}

/// The words with one blank between them.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `T0`, `T17`.
fn is_entry(word: &str, table: char) -> bool {
    let digits = word.strip_prefix(table);
    digits.is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}
