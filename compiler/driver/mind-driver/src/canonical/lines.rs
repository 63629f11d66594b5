//! Formats with one statement a line: mic@1, mic@2 and Core text.

use mind_text::is_interface_line;

use crate::formats::Format;

use super::split::{Split, Statement};

/// Splits `text` into statements and comments.
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

/// Returns the offset of the comment of `line`; a `#` in quotes does not start a comment.
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

/// Returns the word that identifies a statement.
///
/// The tables of types and symbols are renumbered when printing, so their entries are identified by their contents.
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
        // Values of mic@2 have no names and are matched by their order.
        Format::Mic2 if first != "O" => "value".to_owned(),
        // In `%0=Input` the value and the op are one word.
        _ if !is_mic && first.starts_with('%') => {
            let digits = first[1..].bytes().take_while(u8::is_ascii_digit).count();
            first[..1 + digits].to_owned()
        }
        Format::Core if is_interface_line(first) => {
            // The first entry of the line, or the name of its input, for example `author` in `metadata author="a"`.
            let end = rest.find(['=', '{']).unwrap_or(rest.len());
            format!("{first} {}", rest[..end].trim())
        }
        _ => first.trim_end_matches([',', ':']).to_owned(),
    }
}

/// Separates the words with single blanks.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether `word` names an entry of `table`, for example `T17` of `T`.
fn is_entry(word: &str, table: char) -> bool {
    let digits = word.strip_prefix(table);
    digits.is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}
