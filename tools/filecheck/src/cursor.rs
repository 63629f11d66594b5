//! Reading a byte string from left to right.

use crate::bytes;

/// A place in a text being read.
#[derive(Clone, Debug)]
pub struct Cursor<'t> {
    text: &'t [u8],
    /// How much has been read.
    pub at: usize,
}

impl<'t> Cursor<'t> {
    /// The place `at` in `text`; it is not behind its end.
    pub fn new(text: &'t [u8], at: usize) -> Cursor<'t> {
        Cursor { text, at }
    }

    /// What has not been read.
    pub fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    /// The next byte.
    pub fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The byte after the next.
    pub fn peek_second(&self) -> Option<u8> {
        self.text.get(self.at + 1).copied()
    }

    /// Reads the next byte.
    pub fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Whether `text` comes next.
    pub fn sees(&self, text: &[u8]) -> bool {
        self.rest().starts_with(text)
    }

    /// Reads `text` if it comes next.
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

    /// Skips blanks and tabs.
    pub fn skip_blanks(&mut self) {
        self.take_while(bytes::is_blank);
    }
}
