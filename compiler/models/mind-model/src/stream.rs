//! Incremental decoding of tokens to text.

use crate::text::{Text, TextError};

/// The maximal number of tokens that are held back. A character has at most four bytes, and each byte may be a token.
const MOST_PENDING: usize = 8;

/// The character that decoders emit for incomplete UTF-8.
const REPLACEMENT: char = '\u{fffd}';

/// Decodes tokens to pieces of whole characters, until a stop string occurs.
///
/// The concatenated pieces are the text of all tokens before the stop string.
pub struct TextStream<'t> {
    text: &'t Text,
    stops: Vec<String>,
    /// The window of tokens that is decoded: those of the last piece, then the pending ones.
    tokens: Vec<u32>,
    /// The number of tokens of the last piece.
    given: usize,
    /// Text that may be the beginning of a stop string.
    held: String,
    is_stopped: bool,
}

impl<'t> TextStream<'t> {
    /// Creates a stream that ends before the first occurrence of one of `stops`. Empty stop strings are ignored.
    pub fn new(text: &'t Text, stops: &[String]) -> TextStream<'t> {
        let stops = stops.iter().filter(|stop| !stop.is_empty());
        TextStream {
            text,
            stops: stops.cloned().collect(),
            tokens: Vec::new(),
            given: 0,
            held: String::new(),
            is_stopped: false,
        }
    }

    /// Returns whether a stop string has occurred.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Adds a token and returns the text that is now final. It is empty while a character or a possible stop string is
    /// incomplete.
    ///
    /// # Errors
    ///
    /// The tokens cannot be decoded.
    pub fn push(&mut self, token: u32) -> Result<String, TextError> {
        if self.is_stopped {
            return Ok(String::new());
        }
        self.tokens.push(token);
        let piece = self.decoded(self.tokens.len() - self.given >= MOST_PENDING)?;
        self.held.push_str(&piece);
        Ok(self.certain())
    }

    /// Returns the rest of the text after the last token.
    ///
    /// # Errors
    ///
    /// The tokens cannot be decoded.
    pub fn finish(mut self) -> Result<String, TextError> {
        if self.is_stopped {
            return Ok(String::new());
        }
        let piece = self.decoded(true)?;
        self.held.push_str(&piece);
        let certain = self.certain();
        Ok(certain + &self.held)
    }

    /// Returns the text of the pending tokens; empty if it ends within a character and `all` is not set.
    fn decoded(&mut self, all: bool) -> Result<String, TextError> {
        // The text of a token may depend on the token before it: for example, a space is dropped at the beginning.
        let before = self.text.decode(&self.tokens[..self.given])?;
        let whole = self.text.decode(&self.tokens)?;
        let added = match whole.strip_prefix(before.as_str()) {
            Some(added) => added.to_owned(),
            None if all => self.text.decode(&self.tokens[self.given..])?,
            None => return Ok(String::new()),
        };
        if added.is_empty() || (added.ends_with(REPLACEMENT) && !all) {
            return Ok(String::new());
        }
        self.tokens.drain(..self.given);
        self.given = self.tokens.len();
        Ok(added)
    }

    /// Removes and returns the part of the held text that is not the beginning of a stop string, or the part before a
    /// complete one.
    fn certain(&mut self) -> String {
        let found = self.stops.iter().filter_map(|stop| self.held.find(stop));
        if let Some(at) = found.min() {
            self.is_stopped = true;
            self.held.truncate(at);
            return std::mem::take(&mut self.held);
        }
        let begins = |at: &usize| {
            self.stops
                .iter()
                .any(|stop| stop.starts_with(&self.held[*at..]))
        };
        let mut places = self.held.char_indices().map(|(at, _)| at);
        let rest = places.find(begins).unwrap_or(self.held.len());
        let rest = self.held.split_off(rest);
        std::mem::replace(&mut self.held, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tokenizer with single bytes and words with spaces.
    fn bytes() -> Text {
        let json = r#"{
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [{"id": 6, "content": "<s>",
            "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
            "normalizer": null, "pre_tokenizer": null, "post_processor": null,
            "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "_"}, "content": " "},
                {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
            "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": true, "ignore_merges": false,
                "vocab": {"<0xE2>": 0, "<0x82>": 1, "<0xAC>": 2, "_a": 3, "b": 4, "_": 5}, "merges": []}
        }"#;
        Text::new(json.as_bytes()).expect("a tokenizer")
    }

    /// Returns the pieces of `tokens`, the rest last.
    fn pieces(tokens: &[u32], stops: &[&str]) -> Vec<String> {
        let text = bytes();
        let stops: Vec<String> = stops.iter().map(|&stop| stop.to_owned()).collect();
        let mut stream = TextStream::new(&text, &stops);
        let mut pieces: Vec<String> = Vec::new();
        for &token in tokens {
            pieces.push(stream.push(token).expect("text"));
        }
        pieces.push(stream.finish().expect("text"));
        pieces
    }

    #[test]
    fn a_piece_is_whole_characters() {
        assert_eq!(
            pieces(&[0, 1, 2, 0, 1, 2], &[]),
            ["", "", "€", "", "", "€", ""]
        );
        // Bytes that never form a character are emitted at the end, or once more are pending than a character has.
        assert_eq!(pieces(&[4, 0], &[]), ["b", "", "\u{fffd}"]);
        let many = pieces(&[0; 9], &[]);
        assert_eq!(many[..8].concat(), "\u{fffd}".repeat(8));
    }

    #[test]
    fn spaces_within_the_text_stay() {
        // Special tokens have no text, so the space after one is still at the beginning.
        assert_eq!(pieces(&[6, 3, 3, 6, 3, 4], &[]).concat(), "a a ab");
        let text = bytes();
        assert_eq!(text.decode(&[6, 3, 3, 6, 3, 4]).expect("text"), "a a ab");
    }

    #[test]
    fn text_ends_in_front_of_a_stop() {
        assert_eq!(
            pieces(&[3, 4, 3, 4, 4, 4], &["bb"]),
            ["a", "", "b a", "", "", "", ""]
        );
        // A prefix of a stop string is emitted once it cannot be completed, or at the end.
        assert_eq!(pieces(&[3, 4, 3], &["bb"]), ["a", "", "b a", ""]);
        assert_eq!(pieces(&[3, 4], &["bb"]), ["a", "", "b"]);
        // The earliest occurrence counts, not the first stop string.
        assert_eq!(pieces(&[4, 4, 3, 4], &["ab", "b "]).concat(), "b");
        assert_eq!(pieces(&[4, 4], &[""]).concat(), "bb");
    }
}
