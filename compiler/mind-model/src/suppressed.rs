//! Tokens that are never drawn.

use crate::error::ModelError;

/// Tokens that are never drawn, whatever their logits are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Suppressed {
    /// At every place.
    pub always: Vec<u32>,
    /// At the first place.
    pub first: Vec<u32>,
}

impl Suppressed {
    /// Makes the logits of these tokens negative infinity, behind `drawn` tokens that were drawn.
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

    /// Checks that the tokens are below the size of the vocabulary.
    ///
    /// # Errors
    ///
    /// A token outside of the vocabulary.
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
