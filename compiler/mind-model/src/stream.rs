//! Text of tokens as they come.

use crate::text::{Text, TextError};

/// The most tokens that text waits for: a character has four bytes, each a token at worst.
const MOST_PENDING: usize = 8;

/// What stands in a decoded text for bytes that are no character.
const REPLACEMENT: char = '\u{fffd}';

/// Turns tokens into pieces of text, of whole characters each, until one of some texts has come.
///
/// The pieces are the text of all tokens up to that text.
pub struct TextStream<'t> {
    text: &'t Text,
    stops: Vec<String>,
    /// The tokens that text is decoded from: those of the last piece, then those without text yet.
    tokens: Vec<u32>,
    /// How many of them are of the last piece.
    given: usize,
    /// Text that may be the beginning of a stop.
    held: String,
    is_stopped: bool,
}

impl<'t> TextStream<'t> {
    /// A stream that ends in front of the first of `stops`; empty ones do not count.
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

    /// Whether one of the texts that end the stream has come.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// The text that is certain with one more token; empty while characters, or a text that may end the stream, are not
    /// whole.
    ///
    /// # Errors
    ///
    /// Tokens that stand for no text.
    pub fn push(&mut self, token: u32) -> Result<String, TextError> {
        if self.is_stopped {
            return Ok(String::new());
        }
        self.tokens.push(token);
        let piece = self.decoded(self.tokens.len() - self.given >= MOST_PENDING)?;
        self.held.push_str(&piece);
        Ok(self.certain())
    }

    /// The rest of the text, behind the last token.
    ///
    /// # Errors
    ///
    /// Tokens that stand for no text.
    pub fn finish(mut self) -> Result<String, TextError> {
        if self.is_stopped {
            return Ok(String::new());
        }
        let piece = self.decoded(true)?;
        self.held.push_str(&piece);
        let certain = self.certain();
        Ok(certain + &self.held)
    }

    /// The text of the tokens that have none yet; empty where it ends within a character, unless `all` is asked for.
    fn decoded(&mut self, all: bool) -> Result<String, TextError> {
        // What a token stands for may depend on the one in front of it: a space is left out at the beginning.
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

    /// Takes the held text that cannot belong to a stop, or all in front of one.
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

    /// Tokens that are bytes of characters, and words with spaces.
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

    /// The pieces of `tokens`, the rest last.
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
        // Bytes that never become a character are given at the end, or when more are waiting than one has.
        assert_eq!(pieces(&[4, 0], &[]), ["b", "", "\u{fffd}"]);
        let many = pieces(&[0; 9], &[]);
        assert_eq!(many[..8].concat(), "\u{fffd}".repeat(8));
    }

    #[test]
    fn spaces_within_the_text_stay() {
        // A special token has no text, so that the space behind it is still the first one.
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
        // What only begins like one is given when it turns out not to be, or at the end.
        assert_eq!(pieces(&[3, 4, 3], &["bb"]), ["a", "", "b a", ""]);
        assert_eq!(pieces(&[3, 4], &["bb"]), ["a", "", "b"]);
        // The first place counts, not the first text.
        assert_eq!(pieces(&[4, 4, 3, 4], &["ab", "b "]).concat(), "b");
        assert_eq!(pieces(&[4, 4], &[""]).concat(), "bb");
    }
}
