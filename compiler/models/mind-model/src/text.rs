//! Tokenizer of a model.

use mind_driver::expected_panic;
use mind_json::Limits;
use tokenizers::{Encoding, Tokenizer};

/// Why text cannot be tokenized, or tokens cannot be decoded.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TextError {
    /// The `tokenizer.json` is invalid.
    #[error("tokenizer.json: {0}")]
    Tokenizer(String),
    /// The tokenizer rejects the text.
    #[error("the prompt cannot be tokenized: {0}")]
    Encode(String),
    /// The tokens cannot be decoded.
    #[error("the tokens cannot be decoded: {0}")]
    Decode(String),
}

/// The tokenizer of a model.
pub struct Text(Tokenizer);

impl Text {
    /// Reads a `tokenizer.json`. Its padding and truncation are ignored.
    ///
    /// # Errors
    ///
    /// The file is not a valid tokenizer.
    pub fn new(json: &[u8]) -> Result<Text, TextError> {
        let made = contained(|| {
            let mut tokenizer = Tokenizer::from_bytes(json).map_err(|why| why.to_string())?;
            tokenizer.with_padding(None);
            let whole = tokenizer.with_truncation(None);
            whole.map_err(|why| why.to_string())?;
            Ok(tokenizer)
        });
        made.map(Text).map_err(|why| {
            let why = malformed(json).or(why);
            TextError::Tokenizer(why.unwrap_or_else(|| "not a tokenizer".to_owned()))
        })
    }

    /// Returns the tokens of a text, with the special tokens that the tokenizer adds.
    ///
    /// # Errors
    ///
    /// The tokenizer rejects the text.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, TextError> {
        self.tokens(text, true)
    }

    /// Returns the tokens of a text, with the special tokens that the tokenizer adds, and the token type of each.
    ///
    /// # Errors
    ///
    /// The tokenizer rejects the text.
    pub fn encode_kinds(&self, text: &str) -> Result<(Vec<u32>, Vec<u32>), TextError> {
        let encoding = self.encoded(text, true)?;
        Ok((
            encoding.get_ids().to_vec(),
            encoding.get_type_ids().to_vec(),
        ))
    }

    /// Returns the tokens of a text without adding special tokens, because a chat template has already written them.
    ///
    /// # Errors
    ///
    /// The tokenizer rejects the text.
    pub fn encode_bare(&self, text: &str) -> Result<Vec<u32>, TextError> {
        self.tokens(text, false)
    }

    fn tokens(&self, text: &str, adds_special: bool) -> Result<Vec<u32>, TextError> {
        Ok(self.encoded(text, adds_special)?.get_ids().to_vec())
    }

    fn encoded(&self, text: &str, adds_special: bool) -> Result<Encoding, TextError> {
        let encode = || self.0.encode(text, adds_special);
        let encoding = contained(|| encode().map_err(|why| why.to_string()));
        encoding.map_err(|why| TextError::Encode(why.unwrap_or_else(failed)))
    }

    /// Returns the vocabulary entry of a token, special or not.
    pub fn token(&self, id: u32) -> Option<String> {
        self.0.id_to_token(id)
    }

    /// Returns the text of tokens without special ones.
    ///
    /// # Errors
    ///
    /// The tokens cannot be decoded.
    pub fn decode(&self, tokens: &[u32]) -> Result<String, TextError> {
        let text = contained(|| self.0.decode(tokens, true).map_err(|why| why.to_string()));
        text.map_err(|why| TextError::Decode(why.unwrap_or_else(failed)))
    }
}

/// Calls the tokenizer library and catches panics, because it panics on some malformed files.
///
/// # Errors
///
/// The library's error; `None` if it panicked.
fn contained<T>(call: impl FnOnce() -> Result<T, String>) -> Result<T, Option<String>> {
    match expected_panic::catch(call) {
        Some(result) => result.map_err(Some),
        None => Err(None),
    }
}

fn failed() -> String {
    "tokenizer.json does not fit".to_owned()
}

/// Returns why a text is not valid JSON, and where; `None` if it is valid.
fn malformed(json: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(json) {
        Ok(text) => text,
        Err(why) => {
            return Some(format!(
                "the bytes at offset {} are not UTF-8",
                why.valid_up_to()
            ));
        }
    };
    let found = mind_json::parse(text, &Limits::default()).err()?;
    let before = text.get(..found.span.start as usize)?;
    let line = before.matches('\n').count() + 1;
    Some(format!("line {line}: {}", found.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &str = r#"{
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"?": 0, "tea": 1, "for": 2, "two": 3}, "unk_token": "?"}
    }"#;

    #[test]
    fn words_become_tokens_and_words_again() {
        let text = Text::new(WORDS.as_bytes()).unwrap();
        let tokens = text.encode("tea for three").unwrap();
        assert_eq!(tokens, [1, 2, 0]);
        assert_eq!(text.decode(&[2, 3]).unwrap(), "for two");
    }

    #[test]
    fn what_is_no_tokenizer_is_refused() {
        let refused = |json: &[u8]| Text::new(json).err().map(|why| why.to_string());
        assert!(refused(b"{}").is_some_and(|why| why.starts_with("tokenizer.json: ")));
        // The library panics on a decoder that is truncated before its type.
        let cut = refused(b"{\n\"decoder\":{").expect("no tokenizer");
        assert!(cut.starts_with("tokenizer.json: line 2: "), "{cut}");
        let bytes = refused(b"{\"\xff\"}").expect("no tokenizer");
        assert_eq!(bytes, "tokenizer.json: the bytes at offset 2 are not UTF-8");
    }

    #[test]
    fn padding_and_truncation_of_a_file_do_not_act() {
        let padded = WORDS.replace(
            "\"truncation\": null, \"padding\": null",
            r#""truncation": {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0},
               "padding": {"strategy": {"Fixed": 1000000000000}, "direction": "Right", "pad_to_multiple_of": null,
                           "pad_id": 0, "pad_type_id": 0, "pad_token": "?"}"#,
        );
        assert!(padded != WORDS);
        let text = Text::new(padded.as_bytes()).unwrap();
        assert_eq!(text.encode("tea for two").unwrap(), [1, 2, 3]);
    }
}
