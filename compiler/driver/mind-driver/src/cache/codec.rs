//! Binary encoding of numbers and strings.

/// Output buffer of the encoding.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    pub(super) bytes: Vec<u8>,
}

impl Encoder {
    pub(super) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(super) fn number(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    /// Pads with zeros to a multiple of `alignment`.
    pub(super) fn align(&mut self, alignment: usize) {
        let length = self.bytes.len().next_multiple_of(alignment);
        self.bytes.resize(length, 0);
    }
}

/// Cursor over encoded bytes. Each method returns `None` if the bytes end too early or are invalid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoder<'d> {
    rest: &'d [u8],
}

impl<'d> Decoder<'d> {
    pub(super) fn new(bytes: &'d [u8]) -> Decoder<'d> {
        Decoder { rest: bytes }
    }

    pub(super) fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the number of bytes left.
    pub(super) fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'d [u8]> {
        let (own, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(own)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Reads a count of items of at least one byte each; returns `None` if more items are announced than bytes are
    /// left.
    pub(super) fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.rest.len()).then_some(count)
    }

    pub(super) fn text(&mut self) -> Option<&'d str> {
        let length = self.count()?;
        std::str::from_utf8(self.take(length)?).ok()
    }
}
