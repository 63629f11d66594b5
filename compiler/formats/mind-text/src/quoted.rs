//! Quoted strings.

use std::borrow::Cow;

use mind_diag::{Code, Diagnostic};

use crate::line::plain_until;
use crate::scan::{Cursor, Parsed, excerpt};

/// Reads the quoted string at the cursor, which is at a `"`. The string ends on the same line.
///
/// # Errors
///
/// Returns E1003 if the closing quote is missing and E1004 for an escape other than `\\ \"
///  \t \r`.
pub(crate) fn read_quoted<'t>(cursor: &mut Cursor<'t>) -> Parsed<Cow<'t, str>> {
    let open = cursor.at();
    cursor.bump();
    if let Some(plain) = plain_until(cursor, b'"') {
        return Ok(Cow::Borrowed(plain));
    }
    let mut text = Cow::Borrowed("");
    loop {
        let start = cursor.at();
        cursor.skip_to(|byte| matches!(byte, b'"' | b'\\' | b'\n'));
        match &mut text {
            Cow::Borrowed("") => text = Cow::Borrowed(cursor.since(start)),
            text => text.to_mut().push_str(cursor.since(start)),
        }
        if cursor.eat(b'"') {
            return Ok(text);
        }
        if !cursor.eat(b'\\') {
            let error = Diagnostic::error(
                cursor.span_of(open, open + 1),
                "string without closing quote",
            );
            return Err(Box::new(
                error
                    .code(Code(1003))
                    .help("a string ends with '\"' on its line"),
            ));
        }
        text.to_mut().push(escaped(cursor)?);
    }
}

/// Reads the part of an escape after the backslash.
fn escaped(cursor: &mut Cursor<'_>) -> Parsed<char> {
    let c = match cursor.peek() {
        b'\\' => '\\',
        b'"' => '"',
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        _ => return Err(Box::new(unknown_escape(cursor))),
    };
    cursor.bump();
    Ok(c)
}

#[cold]
fn unknown_escape(cursor: &Cursor<'_>) -> Diagnostic {
    let at = cursor.at();
    let (escape, end) = match cursor.char() {
        Some(c) if c != '\n' => (format!("\\{c}"), at + c.len_utf8()),
        _ => ("\\".to_owned(), at),
    };
    Diagnostic::error(
        cursor.span_of(at - 1, end),
        format!("unknown escape {}", excerpt(&escape)),
    )
    .code(Code(1004))
    .context("escape", escape)
    .help("the escapes are \\\\ \\\" \\n \\t \\r")
}

/// Appends `text` in quotes, so that it parses to the same text.
pub(crate) fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn read(text: &str) -> Result<String, (u16, String)> {
        let mut cursor = Cursor::new(text, 0, &Limits::none()).unwrap();
        let read = read_quoted(&mut cursor);
        read.map(Cow::into_owned)
            .map_err(|error| (error.code.unwrap().0, error.message))
    }

    #[test]
    fn strings_of_any_characters_read_back() {
        for text in [
            "",
            "x",
            "a\"b\\c\nd\te\rf",
            "\\",
            "# no comment",
            "日本\u{0}",
        ] {
            let mut out = String::new();
            write_quoted(&mut out, text);
            assert_eq!(read(&out).as_deref(), Ok(text));
        }
    }

    #[test]
    fn unclosed_strings_and_unknown_escapes_are_errors() {
        let unclosed = Err((1003, "string without closing quote".to_owned()));
        for text in ["\"", "\"abc", "\"abc\n\"", "\"\\\\"] {
            assert_eq!(read(text), unclosed, "{text:?}");
        }
        assert_eq!(
            read("\"a\\x\""),
            Err((1004, "unknown escape '\\x'".to_owned()))
        );
        assert_eq!(
            read("\"a\\é\""),
            Err((1004, "unknown escape '\\é'".to_owned()))
        );
        assert_eq!(read("\"a\\"), Err((1004, "unknown escape '\\'".to_owned())));
        assert_eq!(
            read("\"a\\\n"),
            Err((1004, "unknown escape '\\'".to_owned()))
        );
    }
}
