//! Tokens that are drawn whatever their logits are.

use crate::error::ModelError;

/// Tokens that an encoder-decoder draws whatever their logits are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Forced {
    /// The first token.
    pub first: Option<u32>,
    /// The last of as many tokens as are drawn at most.
    pub last: Option<u32>,
}

impl Forced {
    /// The token that follows `drawn` of at most `count` tokens; `None` if logits say it.
    pub fn token(self, drawn: usize, count: usize) -> Option<u32> {
        let last = self.last.filter(|_| drawn.checked_add(1) == Some(count));
        last.or(self.first.filter(|_| drawn == 0))
    }

    /// Checks that the tokens are below the size of the vocabulary.
    ///
    /// # Errors
    ///
    /// A token outside of the vocabulary.
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
