//! Source texts and their lines.

use std::ops::Range;

use crate::Span;

/// A source text with a name, which spans and diagnostics refer to.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    text: String,
    line_starts: Vec<u32>,
    is_list: bool,
}

impl SourceFile {
    /// Returns the file with this name and text. A [`Span`] cannot refer to offsets above `u32::MAX`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> SourceFile {
        let text = text.into();
        let newlines = text.match_indices('\n');
        let line_starts = std::iter::once(0)
            .chain(newlines.map(|(at, _)| at as u32 + 1))
            .collect();
        SourceFile {
            name: name.into(),
            text,
            line_starts,
            is_list: false,
        }
    }

    /// Returns a file that is not text, for example a binary model. Spans refer to lines of `places`, each of which
    /// describes a location that diagnostics show.
    pub fn of_places(name: impl Into<String>, places: impl Into<String>) -> SourceFile {
        SourceFile {
            is_list: true,
            ..SourceFile::new(name, places)
        }
    }

    /// Returns the description of a location in a file that is not text; `None` for text and for the whole file.
    pub fn place(&self, span: Span) -> Option<&str> {
        let is_named = self.is_list && !span.is_file();
        is_named.then(|| &self.text[self.line_range(self.line(span.start))])
    }

    /// Returns the name that diagnostics show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the number of the line that holds `offset`, from 1.
    pub fn line(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|&start| start <= offset)
    }

    /// Returns the line and column, in characters, of the start of `span`, both from 1. Both are 0 for the whole file
    /// and for a file that is not text.
    pub fn position(&self, span: Span) -> (usize, usize) {
        if span.is_file() || self.is_list {
            return (0, 0);
        }
        let line = self.line(span.start);
        let start = self.line_starts[line - 1] as usize;
        let end = (span.start as usize).min(self.text.len());
        let column = self
            .text
            .get(start..end)
            .map_or(0, |before| before.chars().count());
        (line, column + 1)
    }

    /// Returns the byte range of a line, counted from 1, without its line end.
    pub fn line_range(&self, line: usize) -> Range<usize> {
        let start = self.line_starts[line - 1] as usize;
        let end = match self.line_starts.get(line) {
            Some(&next) => next as usize - 1,
            None => self.text.len(),
        };
        let trimmed = self.text[start..end].trim_end_matches('\r').len();
        start..start + trimmed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let file = SourceFile::new("m", "ab\r\nåb\n");
        assert_eq!(file.position(Span::new(1, 2)), (1, 2));
        assert_eq!(file.position(Span::new(6, 7)), (2, 2));
        assert_eq!(file.position(Span::FILE), (0, 0));
        assert_eq!(&file.text()[file.line_range(1)], "ab");
        assert_eq!(&file.text()[file.line_range(3)], "");
    }
}
