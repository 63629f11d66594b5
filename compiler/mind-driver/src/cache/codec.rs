//! Numbers and texts as bytes.

/// Bytes that are put together.
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

    /// Adds zeros up to a multiple of `alignment`.
    pub(super) fn align(&mut self, alignment: usize) {
        let length = self.bytes.len().next_multiple_of(alignment);
        self.bytes.resize(length, 0);
    }
}

/// Bytes that are read from the front; each method returns `None` where they end too early, or are something else.
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

    /// How many bytes are left.
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

    /// A number of things that take a byte each at least.
    pub(super) fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.rest.len()).then_some(count)
    }

    pub(super) fn text(&mut self) -> Option<&'d str> {
        let length = self.count()?;
        std::str::from_utf8(self.take(length)?).ok()
    }
}
