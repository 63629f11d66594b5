//! Forced decoder tokens.

use crate::error::ModelError;

/// Tokens that an encoder-decoder draws at fixed positions, whatever their logits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Forced {
    /// The first token.
    pub first: Option<u32>,
    /// The last token, if generation reaches the maximal number of tokens.
    pub last: Option<u32>,
}

impl Forced {
    /// Returns the forced token after `drawn` of at most `count` tokens; `None` if it depends on the logits.
    pub fn token(self, drawn: usize, count: usize) -> Option<u32> {
        let last = self.last.filter(|_| drawn.checked_add(1) == Some(count));
        last.or(self.first.filter(|_| drawn == 0))
    }

    /// Checks that the tokens are in the vocabulary.
    ///
    /// # Errors
    ///
    /// A token is outside of the vocabulary.
    pub fn check(self, vocab_size: usize) -> Result<(), ModelError> {
        let mut all = [self.first, self.last].into_iter().flatten();
        match all.find(|&token| token as usize >= vocab_size) {
            Some(token) => Err(ModelError::Token { token, vocab_size }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_token_wins_over_the_first() {
        let own = Forced {
            first: Some(7),
            last: Some(2),
        };
        let tokens = |count: usize| (0..count).map(|drawn| own.token(drawn, count)).collect();
        let [one, three]: [Vec<Option<u32>>; 2] = [1, 3].map(tokens);
        assert_eq!(one, [Some(2)]);
        assert_eq!(three, [Some(7), None, Some(2)]);
        assert_eq!(Forced::default().token(0, 1), None);
        assert!(own.check(8).is_ok());
        let outside = own.check(7).unwrap_err().to_string();
        assert_eq!(
            outside,
            "token 7 is outside of the vocabulary, which ends at 6"
        );
    }
}
