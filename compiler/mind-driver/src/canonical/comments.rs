//! Comments, carried from a text to its canonical form.
//!
//! A comment belongs to a statement: the one on its line, or the next one below it. Statements are found again
//! by what they define: a value, a type, a symbol; where nothing else tells them apart, by their order.

use std::collections::HashMap;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_text::Format;

/// What a statement is found again by.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    word: String,
    /// How many statements with this word come before it.
    repeat: usize,
}

/// The comments of one statement.
#[derive(Default, Debug)]
struct Comments {
    /// Lines above it, with the offset of each in the text.
    above: Vec<(String, usize)>,
    /// Behind it, with its offset.
    behind: Option<(String, usize)>,
}

impl Comments {
    fn first_offset(&self) -> Option<usize> {
        let above = self.above.iter().map(|&(_, at)| at);
        above.chain(self.behind.iter().map(|&(_, at)| at)).min()
    }
}

/// `printed`, which is what `source` says, with the comments of `source`.
///
/// Errors: a comment at a statement that is not in `printed`, or one in a format whose statements are not
/// lines.
pub(super) fn carry_over(
    source: &str,
    printed: &str,
    format: Format,
) -> Result<String, Diagnostics> {
    if matches!(format, Format::Mil | Format::MilPrimer) {
        let first = source.split_inclusive('\n').scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some(find(line, "//").map(|column| start + column))
        });
        return match first.flatten().next() {
            Some(at) => Err(refusal(source, at, "statements of MIL may span lines")),
            None => Ok(printed.to_owned()),
        };
    }
    let (mut found, rest) = collect(source, format);
    let mut text = String::with_capacity(source.len());
    let mut keys = Keys::new(format);
    for (number, line) in printed.lines().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        let comments = found.remove(&keys.next(line)).unwrap_or_default();
        for (comment, _) in &comments.above {
            text.push_str(comment);
            text.push('\n');
        }
        text.push_str(line);
        if let Some((comment, _)) = &comments.behind {
            text.push_str("  ");
            text.push_str(comment);
        }
    }
    if let Some(at) = found.values().filter_map(Comments::first_offset).min() {
        return Err(refusal(source, at, "the canonical form has no such line"));
    }
    for comment in rest {
        text.push('\n');
        text.push_str(&comment);
    }
    Ok(text)
}

fn refusal(source: &str, at: usize, reason: &str) -> Diagnostics {
    let end = source[at..]
        .find('\n')
        .map_or(source.len(), |length| at + length);
    let span = Span::new(at as u32, end as u32);
    let error = Diagnostic::error(span, "this comment cannot be kept").label(reason);
    error
        .help("`--drop-comments` formats without comments")
        .into()
}

/// The comments of every statement, and those behind the last one.
fn collect(source: &str, format: Format) -> (HashMap<Key, Comments>, Vec<String>) {
    let (mut found, mut keys) = (HashMap::new(), Keys::new(format));
    let (mut above, mut at) = (Vec::new(), 0);
    for line in source.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        let (code, comment) = match find(line, "#") {
            Some(column) => (
                &line[..column],
                Some((line[column..].trim_end().to_owned(), start + column)),
            ),
            None => (line, None),
        };
        if code.trim().is_empty() {
            above.extend(comment);
            continue;
        }
        let comments = Comments {
            above: std::mem::take(&mut above),
            behind: comment,
        };
        let key = keys.next(code);
        if comments.first_offset().is_some() {
            found.insert(key, comments);
        }
    }
    (
        found,
        above.into_iter().map(|(comment, _)| comment).collect(),
    )
}

/// Where a comment that begins with `mark` starts in `line`, quoted text aside.
fn find(line: &str, mark: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if !quoted && line[at..].starts_with(mark) => return Some(at),
            _ => {}
        }
    }
    None
}

/// Names statements in the order of their text.
struct Keys {
    format: Format,
    seen: HashMap<String, usize>,
}

impl Keys {
    fn new(format: Format) -> Keys {
        Keys {
            format,
            seen: HashMap::new(),
        }
    }

    fn next(&mut self, line: &str) -> Key {
        let word = word(line, self.format);
        let count = self.seen.entry(word.clone()).or_default();
        let repeat = *count;
        *count += 1;
        Key { word, repeat }
    }
}

/// What tells a statement from most others.
///
/// Tables of types and symbols are made anew, so that their entries are known by what they say.
fn word(line: &str, format: Format) -> String {
    let line = line.trim();
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn carried(source: &str, printed: &str, format: Format) -> String {
        carry_over(source, printed, format).unwrap_or_else(|found| panic!("{found:?}"))
    }

    #[test]
    fn comments_stay_with_what_they_stand_at() {
        let source =
            "# top\nmic@2 # two\nT0 f32   2\n# a\n# b\na X  T0\n\n r 0   # relu\nO 1\n# end\n";
        let printed = "mic@2\nT0 f32 2\na X T0\nr 0\nO 1";
        let expected = "# top\nmic@2  # two\nT0 f32 2\n# a\n# b\na X T0\nr 0  # relu\nO 1\n# end";
        assert_eq!(carried(source, printed, Format::Mic2), expected);
        assert_eq!(carried(expected, printed, Format::Mic2), expected);
    }

    #[test]
    fn what_moved_is_found_by_its_name() {
        let source = "mic@1\nN0 input S0 T0 # x\nT0 f32 # t\nS0 \"a # b\"  # s\nO N0\n";
        let printed = "mic@1\nS0 \"a # b\"\nT0 f32\nN0 input S0 T0\nO N0";
        let expected = "mic@1\nS0 \"a # b\"  # s\nT0 f32  # t\nN0 input S0 T0  # x\nO N0";
        assert_eq!(carried(source, printed, Format::Mic1), expected);
    }

    #[test]
    fn entries_of_tables_are_known_by_what_they_say() {
        let source = "mic@1\nT0 f64\nT1 [f32; 2,3]  # used\nN0 input S0 T1\n";
        let printed = "mic@1\nT0 [f32;2,3]\nN0 input S0 T0";
        let expected = "mic@1\nT0 [f32;2,3]  # used\nN0 input S0 T0";
        assert_eq!(carried(source, printed, Format::Mic1), expected);
    }

    #[test]
    fn what_went_takes_no_comment_along() {
        let source = "mic@1\nT0 f32\nT1 f64 # unused\nN0 input S0 T0\n";
        let printed = "mic@1\nT0 f32\nN0 input S0 T0";
        let found = carry_over(source, printed, Format::Mic1).unwrap_err();
        let spans: Vec<Span> = found.iter().map(|error| error.span).collect();
        assert_eq!(spans, [Span::new(20, 28)]);
        assert!(carry_over("program(1.3) // x\n", "program(1.3)", Format::Mil).is_err());
    }
}
