//! Syntax errors with an offset.

/// An error in a pattern, with a byte offset in the parsed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The offset.
    pub offset: usize,
    /// The message.
    pub message: String,
}

impl SyntaxError {
    /// Creates an error at `offset`.
    pub fn new(offset: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError {
            offset,
            message: message.into(),
        }
    }

    /// Returns the error with its offset moved by `bytes`, for a text with that prefix.
    pub fn shifted(self, bytes: usize) -> SyntaxError {
        SyntaxError {
            offset: self.offset + bytes,
            ..self
        }
    }
}
