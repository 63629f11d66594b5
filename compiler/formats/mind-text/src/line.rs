//! Fast reader for lines in canonical form.

use mind_ir::types::{DType, Dim};

use crate::scan::{Cursor, in_ident};

/// A position in a line whose pieces are read one after the other, each completely or not at all.
///
/// It is small enough to stay in registers, provided that everything is inlined into the loop over the lines. After a
/// failed read its position is unspecified, so a caller that continues must use a copy made before.
#[derive(Clone, Copy)]
pub(crate) struct Line<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Line<'t> {
    /// Starts at the position of `cursor`.
    pub(crate) fn at_cursor(cursor: &Cursor<'t>) -> Line<'t> {
        Line {
            text: cursor.text(),
            at: cursor.at(),
        }
    }

    /// Returns the offset of the next byte in the text.
    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns the next byte.
    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the byte after the next one.
    #[inline(always)]
    pub(crate) fn second(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at + 1).copied()
    }

    /// Returns the bytes from the next one on.
    #[inline(always)]
    pub(crate) fn rest(&self) -> Option<&'t [u8]> {
        self.text.as_bytes().get(self.at..)
    }

    /// Skips `count` bytes, which are ASCII.
    #[inline(always)]
    pub(crate) fn skip(&mut self, count: usize) {
        self.at += count;
    }

    /// Skips `byte`; returns `None` if another byte is next.
    #[inline(always)]
    pub(crate) fn eat(&mut self, byte: u8) -> Option<()> {
        if self.peek()? != byte {
            return None;
        }
        self.at += 1;
        Some(())
    }

    /// Reads a blank, `letter` and a number.
    #[inline(always)]
    pub(crate) fn id(&mut self, letter: u8) -> Option<u64> {
        let &[blank, first, digit, next] = self.rest()?.first_chunk()?;
        if blank != b' ' || first != letter {
            return None;
        }
        self.at += 2;
        if digit.is_ascii_digit() && !next.is_ascii_digit() {
            self.at += 1;
            return Some(u64::from(digit - b'0'));
        }
        self.uint()
    }

    /// Returns whether the next byte is a newline.
    #[inline(always)]
    pub(crate) fn ends(&self) -> bool {
        self.peek() == Some(b'\n')
    }

    /// Reads a number of at most 18 digits.
    #[inline(always)]
    pub(crate) fn uint(&mut self) -> Option<u64> {
        const DIGITS: usize = 18;
        let start = self.at;
        let mut value = self.digit()?;
        let Some(second) = self.digit() else {
            return Some(value);
        };
        value = value * 10 + second;
        while let Some(digit) = self.digit() {
            value = value.wrapping_mul(10).wrapping_add(digit);
        }
        (self.at - start <= DIGITS).then_some(value)
    }

    #[inline(always)]
    fn digit(&mut self) -> Option<u64> {
        let digit = self.peek()?.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        self.at += 1;
        Some(u64::from(digit))
    }

    /// Reads an identifier.
    #[inline(always)]
    pub(crate) fn ident(&mut self) -> Option<&'t str> {
        let start = self.at;
        if self.peek()?.is_ascii_digit() {
            return None;
        }
        while in_ident(self.peek()?) {
            self.at += 1;
        }
        (self.at > start).then(|| &self.text[start..self.at])
    }

    /// Reads a dtype.
    #[inline(always)]
    pub(crate) fn dtype(&mut self) -> Option<DType> {
        DType::parse(self.ident()?)
    }

    /// Reads `separator` and a known extent, which is added to `extents`.
    #[inline(always)]
    pub(crate) fn extent(&mut self, separator: u8, extents: &mut Extents) -> Option<()> {
        self.eat(separator)?;
        *extents.dims.get_mut(extents.len)? = Dim::Fixed(self.uint()? as i64);
        extents.len += 1;
        Some(())
    }

    /// Reads up to and including `end`, and returns the bytes before it; `None` if a backslash or the end of the line
    /// comes first.
    #[inline(always)]
    pub(crate) fn until(&mut self, end: u8) -> Option<&'t str> {
        let start = self.at;
        while in_ident(self.peek()?) {
            self.at += 1;
        }
        loop {
            match self.peek()? {
                byte if byte == end => break,
                b'\\' | b'\n' => return None,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(&self.text[start..self.at - 1])
    }
}

/// The extents of a type, in an array with room for most ranks.
pub(crate) struct Extents {
    dims: [Dim; 6],
    len: usize,
}

impl Extents {
    /// Creates an empty list of extents.
    #[inline(always)]
    pub(crate) fn new() -> Extents {
        Extents {
            dims: [Dim::Dynamic; 6],
            len: 0,
        }
    }

    /// Returns the extents; `None` if there are more than `limit`.
    #[inline(always)]
    pub(crate) fn shape(&self, limit: usize) -> Option<&[Dim]> {
        let shape = self.dims.get(..self.len)?;
        (shape.len() <= limit).then_some(shape)
    }
}

/// Reads whole lines with `read` until it fails or line `limit` is reached. `cursor` is at the end of a line; returns a
/// cursor at the end of the last line read.
#[inline(always)]
pub(crate) fn read_lines<'t>(
    cursor: Cursor<'t>,
    limit: usize,
    mut read: impl FnMut(&mut Line<'t>) -> Option<()>,
) -> Cursor<'t> {
    let mut end = Line::at_cursor(&cursor);
    let mut number = cursor.line();
    while number < limit {
        let mut line = end;
        if line.eat(b'\n').and_then(|()| read(&mut line)).is_none() {
            break;
        }
        debug_assert!(line.ends());
        end = line;
        number += 1;
    }
    cursor.at_line(end.at, number)
}

/// Reads up to and including `end`, and returns the bytes before it; returns `None` without moving if a backslash, a
/// line end or the end of the text comes first.
#[inline]
pub(crate) fn plain_until<'t>(cursor: &mut Cursor<'t>, end: u8) -> Option<&'t str> {
    let mut line = Line::at_cursor(cursor);
    let text = line.until(end)?;
    cursor.go_to(line.at());
    Some(text)
}
