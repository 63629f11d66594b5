//! Messages about searches and their outcomes.

use crate::bytes;
use crate::check::Outcome;
use crate::options::{DumpInput, Options};
use crate::pattern::{Origin, Pattern};
use crate::source::Source;
use crate::variables::Variables;
use std::ops::Range;

/// The maximal number of lines compared to find the most similar one.
const LINES_COMPARED: usize = 400;
/// The number of bytes compared per line.
const BYTES_COMPARED: usize = 120;
/// The maximal number of bytes shown of a line.
const BYTES_SHOWN: usize = 160;
/// The number of context lines of a dump.
const DUMP_CONTEXT: usize = 5;

/// Collects the messages of a run.
pub struct Report<'a> {
    check_file: &'a Source,
    input: &'a Source,
    options: &'a Options,
    messages: String,
    /// Notes for lines of a dumped input.
    notes: Vec<(usize, String)>,
}

impl<'a> Report<'a> {
    /// Creates an empty report.
    pub fn new(check_file: &'a Source, input: &'a Source, options: &'a Options) -> Report<'a> {
        Report {
            check_file,
            input,
            options,
            messages: String::new(),
            notes: Vec::new(),
        }
    }

    /// Adds the messages of one search.
    pub fn add(&mut self, pattern: &Pattern, outcome: &Outcome, variables: &Variables) {
        match outcome {
            Outcome::Matched(found) if self.options.verbose => {
                let place = self.input.place(found.start);
                self.headline(pattern, "remark", &format!("found at {place}"));
                self.list("defining", &pattern.defined_values(variables));
            }
            Outcome::Matched(_) => {}
            Outcome::Missing { searched, nth } => {
                let times = if pattern.count > 1 {
                    format!(" ({nth} out of {})", pattern.count)
                } else {
                    String::new()
                };
                self.error(pattern, &format!("not found{times}"), searched.start);
                self.searched(searched);
                self.values(pattern, variables);
                self.nearest(&pattern.expected(variables), searched);
            }
            Outcome::Excluded(found) => {
                self.error(pattern, "found, but must not be", found.start);
                self.show_input("found at", found.start);
                self.values(pattern, variables);
            }
            Outcome::WrongLine {
                from,
                found,
                newlines,
            } => {
                let message = match newlines {
                    0 => "found on the line of the previous match".to_owned(),
                    1 => "found on the line after the previous match".to_owned(),
                    _ => format!("found {newlines} lines after the previous match"),
                };
                self.error(pattern, &message, found.start);
                self.show_input("previous match ended at", *from);
                self.show_input("found at", found.start);
                self.values(pattern, variables);
            }
            Outcome::Unusable { searched, reasons } => {
                self.error(pattern, &reasons.join("; "), searched.start);
                self.searched(searched);
                self.values(pattern, variables);
            }
        }
    }

    /// Returns all messages, with the input if it is to be dumped.
    pub fn finish(mut self, passed: bool) -> String {
        let dump = match self.options.dump_input {
            DumpInput::Always => true,
            DumpInput::Fail => !passed,
            DumpInput::Unset | DumpInput::Never | DumpInput::Help => false,
        };
        if dump {
            let all = self
                .options
                .dump_all
                .unwrap_or(self.options.dump_input == DumpInput::Always);
            self.dump(all);
        }
        self.messages
    }

    fn say(&mut self, line: impl AsRef<str>) {
        self.messages += line.as_ref();
        self.messages.push('\n');
    }

    fn headline(&mut self, pattern: &Pattern, severity: &str, message: &str) {
        let place = match pattern.origin {
            Origin::File { offset, .. } => self.check_file.place(offset),
            Origin::CommandLine => "command line".to_owned(),
        };
        let severity = if self.options.color {
            format!("\x1b[1;31m{severity}\x1b[0m")
        } else {
            severity.to_owned()
        };
        self.say(format!("{place}: {severity}: {}: {message}", pattern.name));
    }

    fn error(&mut self, pattern: &Pattern, message: &str, noted_at: usize) {
        self.headline(pattern, "error", message);
        match pattern.origin {
            Origin::File { offset, .. } => self.show(self.check_file, offset),
            Origin::CommandLine if pattern.written.is_empty() => {}
            Origin::CommandLine => {
                self.say(format!("  pattern: {}", bytes::display(&pattern.written)))
            }
        }
        self.notes
            .push((noted_at, format!("{}: {message}", pattern.name)));
    }

    fn searched(&mut self, range: &Range<usize>) {
        let end = self.input.place(range.end);
        self.show_input(&format!("searched up to {end}, from"), range.start);
    }

    fn show_input(&mut self, what: &str, offset: usize) {
        self.say(format!("  {what} {}:", self.input.place(offset)));
        self.show(self.input, offset);
    }

    fn show(&mut self, source: &Source, offset: usize) {
        let (line, column) = source.position(offset);
        let (text, caret) = excerpt(source.line_at(offset), column);
        let margin = " ".repeat(line.to_string().len());
        self.say(format!("  {line} | {text}"));
        self.say(format!("  {margin} | {}^", " ".repeat(caret)));
    }

    fn values(&mut self, pattern: &Pattern, variables: &Variables) {
        self.list("with", &pattern.known_values(variables));
    }

    fn list(&mut self, what: &str, values: &[(String, String)]) {
        if !values.is_empty() {
            let values: Vec<String> = values
                .iter()
                .map(|(name, value)| format!("{name} = {value:?}"))
                .collect();
            self.say(format!("  {what} {}", values.join(", ")));
        }
    }

    /// Shows the line in `searched` that is most similar to `expected`, and its first difference.
    fn nearest(&mut self, expected: &[u8], searched: &Range<usize>) {
        let expected = bytes::trim_start(expected);
        let compared = expected[..expected.len().min(BYTES_COMPARED)].to_vec();
        let mut nearest: Option<(usize, usize, &[u8])> = None;
        let mut offset = searched.start;
        for line in self.input.text[searched.clone()]
            .split(|&byte| byte == b'\n')
            .take(LINES_COMPARED)
        {
            let trimmed = bytes::trim_end(bytes::trim_start(line));
            let start = trimmed[..trimmed.len().min(BYTES_COMPARED)].to_vec();
            let distance = strsim::generic_levenshtein(&start, &compared);
            if distance * 2 <= compared.len() && nearest.is_none_or(|(least, ..)| distance < least)
            {
                nearest = Some((
                    distance,
                    offset + line.len() - bytes::trim_start(line).len(),
                    trimmed,
                ));
            }
            offset += line.len() + 1;
        }
        let Some((_, start, line)) = nearest else {
            return;
        };
        let common = line
            .iter()
            .zip(expected)
            .take_while(|(a, b)| a == b)
            .count();
        self.say(format!("  expected: {}", bytes::display(expected)));
        self.show_input("nearest line, up to where it differs,", start + common);
    }

    fn dump(&mut self, all: bool) {
        let mut notes = std::mem::take(&mut self.notes);
        notes.sort_by_key(|(offset, _)| *offset);
        let notes: Vec<(usize, usize, String)> = notes
            .into_iter()
            .map(|(offset, note)| {
                let (line, column) = self.input.position(offset);
                (line, column, note)
            })
            .collect();
        let context = self.options.dump_context.unwrap_or(DUMP_CONTEXT);
        self.say(format!("input {}:", self.input.name));
        let lines = self.input.text.split(|&byte| byte == b'\n');
        for (number, line) in lines.enumerate().map(|(i, line)| (i + 1, line)) {
            if all
                || notes
                    .iter()
                    .any(|(noted, ..)| noted.abs_diff(number) <= context)
            {
                self.say(format!("{number:>6} | {}", bytes::display(line)));
            }
            for (_, column, note) in notes.iter().filter(|(noted, ..)| *noted == number) {
                self.say(format!("       | {}^ {note}", " ".repeat(column - 1)));
            }
        }
    }
}

/// Returns the part of `line` around `column`, short enough to be shown, and the number of characters before the
/// column.
pub fn excerpt(line: &[u8], column: usize) -> (String, usize) {
    let start = if line.len() <= BYTES_SHOWN {
        0
    } else {
        (column - 1).saturating_sub(BYTES_SHOWN / 2)
    };
    let end = line.len().min(start + BYTES_SHOWN);
    let shown = |text: &[u8]| bytes::display(text).replace(|c: char| c.is_control(), " ");
    let before = shown(&line[start..(column - 1).clamp(start, end)]);
    (shown(&line[start..end]), before.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let line = [vec![b'a'; 1000], b"X".to_vec(), vec![b'b'; 1000]].concat();
        let (text, caret) = excerpt(&line, 1001);
        assert_eq!((text.len(), text.as_bytes()[caret]), (BYTES_SHOWN, b'X'));
    }

    #[test]
    fn the_caret_counts_characters() {
        assert_eq!(excerpt("é\tx".as_bytes(), 4), ("é x".to_owned(), 2));
    }
}
