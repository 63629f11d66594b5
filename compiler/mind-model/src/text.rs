//! Text as tokens, and back.

use mind_driver::expected_panic;
use mind_json::Limits;
use tokenizers::{Encoding, Tokenizer};

/// Why a text has no tokens, or tokens have no text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TextError {
    /// A `tokenizer.json` that is none.
    #[error("tokenizer.json: {0}")]
    Tokenizer(String),
    /// A text that the tokenizer refuses.
    #[error("the prompt has no tokens: {0}")]
    Encode(String),
    /// Tokens that stand for no text.
    #[error("tokens without text: {0}")]
    Decode(String),
}

/// The tokenizer of a model.
pub struct Text(Tokenizer);

impl Text {
    /// The tokenizer that a `tokenizer.json` describes, without the padding and the truncation that it may ask for.
    ///
    /// # Errors
    ///
    /// It describes none.
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
            TextError::Tokenizer(why.unwrap_or_else(|| "it describes no tokenizer".to_owned()))
        })
    }

    /// The tokens of a text, with those that the tokenizer puts around it.
    ///
    /// # Errors
    ///
    /// A text that it refuses.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, TextError> {
        self.tokens(text, true)
    }

    /// The tokens of a text, with those that the tokenizer puts around it, and of which part of the text each is.
    ///
    /// # Errors
    ///
    /// A text that it refuses.
    pub fn encode_kinds(&self, text: &str) -> Result<(Vec<u32>, Vec<u32>), TextError> {
        let encoding = self.encoded(text, true)?;
        Ok((
            encoding.get_ids().to_vec(),
            encoding.get_type_ids().to_vec(),
        ))
    }

    /// The tokens of a text alone, which holds its special ones already, as chat templates write it.
    ///
    /// # Errors
    ///
    /// A text that it refuses.
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

    /// What the vocabulary has for a token, special or not.
    pub fn token(&self, id: u32) -> Option<String> {
        self.0.id_to_token(id)
    }

    /// The text of tokens, special ones left out.
    ///
    /// # Errors
    ///
    /// Tokens that stand for no text.
    pub fn decode(&self, tokens: &[u32]) -> Result<String, TextError> {
        let text = contained(|| self.0.decode(tokens, true).map_err(|why| why.to_string()));
        text.map_err(|why| TextError::Decode(why.unwrap_or_else(failed)))
    }
}

/// Runs a call of the library of tokenizers, which panics on some files that it does not expect.
///
/// # Errors
///
/// What the library says; `None` if it panics.
fn contained<T>(call: impl FnOnce() -> Result<T, String>) -> Result<T, Option<String>> {
    match expected_panic::catch(call) {
        Some(result) => result.map_err(Some),
        None => Err(None),
    }
}

fn failed() -> String {
    "tokenizer.json does not fit".to_owned()
}

/// Why a text is no JSON, and where; `None` if it is JSON.
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
        // The library panics on a decoder that ends before it says which one it is.
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
