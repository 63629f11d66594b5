//! Reading a byte string from left to right.

use crate::bytes;

/// A position in a text that is being read.
#[derive(Clone, Debug)]
pub struct Cursor<'t> {
    text: &'t [u8],
    /// The number of bytes read.
    pub at: usize,
}

impl<'t> Cursor<'t> {
    /// Creates a cursor at offset `at` of `text`, which must not be past its end.
    pub fn new(text: &'t [u8], at: usize) -> Cursor<'t> {
        Cursor { text, at }
    }

    /// Returns the unread part.
    pub fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    /// Returns the next byte.
    pub fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Returns the byte after the next.
    pub fn peek_second(&self) -> Option<u8> {
        self.text.get(self.at + 1).copied()
    }

    /// Reads the next byte.
    pub fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Returns whether `text` comes next.
    pub fn sees(&self, text: &[u8]) -> bool {
        self.rest().starts_with(text)
    }

    /// Reads `text` if it comes next, and returns whether it did.
    pub fn eat(&mut self, text: &[u8]) -> bool {
        let eaten = self.sees(text);
        self.at += if eaten { text.len() } else { 0 };
        eaten
    }

    /// Reads bytes as long as they are `wanted`.
    pub fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'t [u8] {
        let rest = self.rest();
        let length = rest.iter().take_while(|&&byte| wanted(byte)).count();
        self.at += length;
        &rest[..length]
    }

    /// Skips spaces and tabs.
    pub fn skip_blanks(&mut self) {
        self.take_while(bytes::is_blank);
    }
}
