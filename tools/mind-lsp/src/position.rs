//! Conversion between byte offsets and the protocol's lines and columns.

use std::ops::Range;

use lsp_types::Position;

/// Distance in bytes of the offsets whose UTF-16 units are cached.
const STRIDE: usize = 256;

/// Line starts of a text.
///
/// Lines end with `
/// `, `\r
/// ` or `\r`; columns count UTF-16 units from 0. The time to compute a column does not depend on the length of its
/// line.
#[derive(Debug)]
pub(crate) struct LineIndex {
    starts: Vec<usize>,
    /// UTF-16 units before each multiple of [`STRIDE`].
    units: Vec<usize>,
}

impl LineIndex {
    /// Indexes the lines of `text`.
    pub(crate) fn new(text: &str) -> LineIndex {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|&(at, &byte)| {
            byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
        });
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1));
        let mut units = vec![0];
        for chunk in bytes.chunks_exact(STRIDE) {
            units.push(units[units.len() - 1] + utf16_units(chunk));
        }
        LineIndex {
            starts: starts.collect(),
            units,
        }
    }

    /// Returns the line of `offset`, from 0.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }

    /// Returns the byte range of a line without its end; empty after the last line.
    pub(crate) fn line_range(&self, text: &str, line: usize) -> Range<usize> {
        let Some(&start) = self.starts.get(line) else {
            return text.len()..text.len();
        };
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        start..start + text[start..end].trim_end_matches(['\n', '\r']).len()
    }

    /// Returns the offset of `position`. Columns past the end of a line are clamped to it, lines past the end to the
    /// end of the text, and positions inside a character to its start.
    pub(crate) fn offset(&self, text: &str, position: Position) -> usize {
        let range = self.line_range(text, position.line as usize);
        let mut column = 0;
        for (at, letter) in text[range.clone()].char_indices() {
            column += letter.len_utf16();
            if column > position.character as usize {
                return range.start + at;
            }
        }
        range.end
    }

    /// Returns the position of `offset`. Offsets past the end are clamped to the end of the text, and offsets inside a
    /// character to its start.
    pub(crate) fn position(&self, text: &str, offset: usize) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line(offset);
        let column = self.units_before(text, offset) - self.units_before(text, self.starts[line]);
        Position::new(line as u32, column as u32)
    }

    /// Returns the UTF-16 units of `text` before `offset`.
    fn units_before(&self, text: &str, offset: usize) -> usize {
        let counted = offset / STRIDE;
        self.units[counted] + utf16_units(&text.as_bytes()[counted * STRIDE..offset])
    }

    /// Returns the positions of both ends of `range`.
    pub(crate) fn range(&self, text: &str, range: Range<usize>) -> lsp_types::Range {
        lsp_types::Range {
            start: self.position(text, range.start),
            end: self.position(text, range.end),
        }
    }
}

/// Returns the UTF-16 units of the characters that begin in `bytes`, a part of a text.
fn utf16_units(bytes: &[u8]) -> usize {
    let units = |byte: u8| match byte {
        // Continuation bytes.
        0x80..=0xbf => 0,
        // A character of four bytes is a surrogate pair.
        0xf0.. => 2,
        _ => 1,
    };
    bytes.iter().map(|&byte| units(byte)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf16_units() {
        let text = "aé𝄞b\r\nc\rd";
        let lines = LineIndex::new(text);
        for (offset, line, column) in [(0, 0, 0), (1, 0, 1), (3, 0, 2), (7, 0, 4), (8, 0, 5)] {
            let position = Position::new(line, column);
            assert_eq!(lines.position(text, offset), position);
            assert_eq!(lines.offset(text, position), offset);
        }
        assert_eq!(lines.offset(text, Position::new(0, 3)), 3, "inside a pair");
        assert_eq!(lines.offset(text, Position::new(0, 99)), 8);
        assert_eq!(lines.offset(text, Position::new(1, 0)), 10);
        assert_eq!(lines.offset(text, Position::new(2, 1)), text.len());
        assert_eq!(lines.offset(text, Position::new(9, 9)), text.len());
        assert_eq!(
            lines.position(text, 5),
            Position::new(0, 2),
            "inside a letter"
        );
        assert_eq!(lines.position(text, 999), Position::new(2, 1));
    }

    #[test]
    fn columns_on_long_lines_count_every_letter() {
        for letters in ["a", "é", "𝄞", "aé𝄞", "ab\n"] {
            let text = letters.repeat(3 * STRIDE / letters.len() + 1);
            let lines = LineIndex::new(&text);
            let (mut line, mut column) = (0, 0);
            for (at, letter) in text.char_indices() {
                assert_eq!(
                    lines.position(&text, at),
                    Position::new(line, column),
                    "{at} in {letters:?}"
                );
                (line, column) = match letter {
                    '\n' => (line + 1, 0),
                    letter => (line, column + letter.len_utf16() as u32),
                };
            }
            assert_eq!(
                lines.position(&text, text.len()),
                Position::new(line, column)
            );
        }
    }
}
