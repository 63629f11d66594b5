//! Errors at a place in a piece of text that is being parsed.

/// Something wrong with a pattern, at a byte offset in the text that was given to the parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where in that text.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
}

impl SyntaxError {
    /// An error at `offset`.
    pub fn new(offset: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError {
            offset,
            message: message.into(),
        }
    }

    /// The same error seen from a text that has `bytes` more in front.
    pub fn behind(self, bytes: usize) -> SyntaxError {
        SyntaxError {
            offset: self.offset + bytes,
            ..self
        }
    }
}
