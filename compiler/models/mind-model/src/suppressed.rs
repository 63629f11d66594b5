//! Suppressed decoder tokens.

use crate::error::ModelError;

/// Tokens that are never drawn, whatever their logits are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Suppressed {
    /// Suppressed at every position.
    pub always: Vec<u32>,
    /// Suppressed at the first position.
    pub first: Vec<u32>,
}

impl Suppressed {
    /// Sets the logits of suppressed tokens to negative infinity, given the number of tokens drawn so far.
    pub fn apply(&self, drawn: usize, logits: &mut [f32]) {
        let first = if drawn == 0 {
            self.first.as_slice()
        } else {
            &[]
        };
        for &token in self.always.iter().chain(first) {
            if let Some(logit) = logits.get_mut(token as usize) {
                *logit = f32::NEG_INFINITY;
            }
        }
    }

    /// Checks that the tokens are in the vocabulary.
    ///
    /// # Errors
    ///
    /// A token is outside of the vocabulary.
    pub fn check(&self, vocab_size: usize) -> Result<(), ModelError> {
        let mut all = self.always.iter().chain(&self.first);
        match all.find(|&&token| token as usize >= vocab_size) {
            Some(&token) => Err(ModelError::Token { token, vocab_size }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_suppressed_at_their_places() {
        let own = Suppressed {
            always: vec![1],
            first: vec![2],
        };
        let drawn = |drawn: usize| {
            let mut logits = [1.0, 2.0, 3.0];
            own.apply(drawn, &mut logits);
            logits
        };
        let none = f32::NEG_INFINITY;
        assert_eq!(drawn(0), [1.0, none, none]);
        assert_eq!(drawn(1), [1.0, none, 3.0]);
        assert!(own.check(3).is_ok());
        assert!(own.check(2).is_err());
    }
}
