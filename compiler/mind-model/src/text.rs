//! Text as tokens, and back.

use tokenizers::Tokenizer;

/// Why text and tokens are not told from each other.
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
    /// The tokenizer that a `tokenizer.json` describes.
    ///
    /// Errors: it describes none.
    pub fn new(json: &[u8]) -> Result<Text, TextError> {
        let tokenizer = Tokenizer::from_bytes(json);
        tokenizer
            .map(Text)
            .map_err(|why| TextError::Tokenizer(why.to_string()))
    }

    /// The tokens of a text, with those that the tokenizer puts around it.
    ///
    /// Errors: a text that it refuses.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, TextError> {
        let encoding = self.0.encode(text, true);
        let encoding = encoding.map_err(|why| TextError::Encode(why.to_string()))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The text of tokens, special ones left out.
    ///
    /// Errors: tokens that stand for no text.
    pub fn decode(&self, tokens: &[u32]) -> Result<String, TextError> {
        let text = self.0.decode(tokens, true);
        text.map_err(|why| TextError::Decode(why.to_string()))
    }
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
        let refused = Text::new(b"{}").err().map(|why| why.to_string());
        assert!(refused.is_some_and(|why| why.starts_with("tokenizer.json: ")));
    }
}
