//! The header line of the mic formats.

use mind_diag::{Diagnostic, Span};

use crate::scan::{Cursor, Parsed};

/// Skips to the first line that is neither blank nor a comment, reads the header `expected` on it, and leaves the
/// cursor at the end of that line.
///
/// # Errors
///
/// Errors if the header is missing, has another version, or is followed by other text.
pub(crate) fn read_header(cursor: &mut Cursor<'_>, expected: &str) -> Parsed<()> {
    if cursor.eat_line(expected) {
        return Ok(());
    }

    loop {
        cursor.blanks();
        if !cursor.at_line_end() {
            break;
        }
        if !cursor.next_line() {
            let message = format!("expected the header '{expected}', found the end of the text");
            let error = Diagnostic::error(Span::FILE, message);
            return Err(Box::new(
                error.help(format!("the first line is `{expected}`")),
            ));
        }
    }
    let start = cursor.at();
    let word = cursor.word();
    if word != expected.as_bytes() {
        return Err(Box::new(wrong_header(cursor, start, expected)));
    }
    end_of_line(cursor)
}

#[cold]
fn wrong_header(cursor: &Cursor<'_>, start: usize, expected: &str) -> Diagnostic {
    let word = cursor.found_at(start);
    if cursor.word_at(start).starts_with("mic@") {
        let message = format!("unsupported version {word}, expected '{expected}'");
        return cursor
            .error_at(start, message)
            .help("the versions are mic@1 and mic@2");
    }
    let message = format!("expected the header '{expected}', found {word}");
    cursor
        .error_at(start, message)
        .help(format!("the first line is `{expected}`"))
}

/// Skips blanks up to the end of the line.
///
/// # Errors
///
/// Errors if the line holds anything else.
#[inline]
pub(crate) fn end_of_line(cursor: &mut Cursor<'_>) -> Parsed<()> {
    cursor.blanks();
    if cursor.at_line_end() {
        Ok(())
    } else {
        Err(Box::new(surplus(cursor)))
    }
}

#[cold]
fn surplus(cursor: &Cursor<'_>) -> Diagnostic {
    let found = cursor.found_at(cursor.at());
    let message = format!("expected the end of the line, found {found}");
    let error = cursor.error_at(cursor.at(), message);
    if cursor.word_at(cursor.at()).starts_with("//") {
        return error.help("a comment starts with '#'");
    }
    error.help("remove it, or start a new line")
}
