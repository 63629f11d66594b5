//! Boolean expressions over features.
//!
//! ```text
//! or  := and ('||' and)*
//! and := not ('&&' not)*
//! not := '!' not | '(' or ')' | feature
//! ```

use std::collections::BTreeSet;

use thiserror::Error;

/// Why an expression cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FeatureError {
    /// A character that does not begin a token.
    #[error(
        "`{text}` in feature expression `{expression}` is neither a feature, `!`, `&&`, `||` nor a bracket"
    )]
    Text {
        /// The rest of the expression from there.
        text: String,
        /// The whole expression.
        expression: String,
    },
    /// A token in the wrong place.
    #[error("found {found} in feature expression `{expression}`, expected {expected}")]
    Token {
        /// The token.
        found: String,
        /// The expected token.
        expected: &'static str,
        /// The whole expression.
        expression: String,
    },
    /// A regular expression, which LLVM's lit supports.
    #[error("`{{{{…}}}}` in feature expression `{0}` is not supported; name the features")]
    Regex(String),
}

/// Returns whether `expression` is true when exactly `features` and `true` are set.
///
/// # Errors
///
/// An expression that cannot be parsed.
pub fn evaluate(expression: &str, features: &BTreeSet<String>) -> Result<bool, FeatureError> {
    let tokens = tokenize(expression)?;
    let mut parser = Parser {
        expression,
        tokens: &tokens,
        features,
    };
    let value = parser.or()?;
    match parser.tokens {
        [] => Ok(value),
        [found, ..] => Err(parser.unexpected(Some(*found), "the end, `&&` or `||`")),
    }
}

fn tokenize(expression: &str) -> Result<Vec<&str>, FeatureError> {
    let mut tokens = vec![];
    let mut rest = expression.trim_start();
    while !rest.is_empty() {
        if rest.starts_with("{{") {
            return Err(FeatureError::Regex(expression.to_owned()));
        }
        let length = if rest.starts_with("&&") || rest.starts_with("||") {
            2
        } else if rest.starts_with(['!', '(', ')']) {
            1
        } else {
            rest.find(|c: char| !is_feature_char(c))
                .unwrap_or(rest.len())
        };
        if length == 0 {
            return Err(FeatureError::Text {
                text: rest.to_owned(),
                expression: expression.to_owned(),
            });
        }
        let (token, tail) = rest.split_at(length);
        tokens.push(token);
        rest = tail.trim_start();
    }
    Ok(tokens)
}

fn is_feature_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-+=._".contains(c)
}

struct Parser<'a> {
    expression: &'a str,
    tokens: &'a [&'a str],
    features: &'a BTreeSet<String>,
}

impl Parser<'_> {
    fn or(&mut self) -> Result<bool, FeatureError> {
        let mut value = self.and()?;
        while self.accept("||") {
            value |= self.and()?;
        }
        Ok(value)
    }

    fn and(&mut self) -> Result<bool, FeatureError> {
        let mut value = self.not()?;
        while self.accept("&&") {
            value &= self.not()?;
        }
        Ok(value)
    }

    fn not(&mut self) -> Result<bool, FeatureError> {
        if self.accept("!") {
            return Ok(!self.not()?);
        }
        if self.accept("(") {
            let value = self.or()?;
            return if self.accept(")") {
                Ok(value)
            } else {
                Err(self.unexpected(self.tokens.first().copied(), "`)`"))
            };
        }
        match self.tokens.split_first() {
            Some((name, rest)) if name.starts_with(is_feature_char) => {
                self.tokens = rest;
                Ok(*name == "true" || self.features.contains(*name))
            }
            found => Err(self.unexpected(found.map(|(token, _)| *token), "a feature, `!` or `(`")),
        }
    }

    fn accept(&mut self, token: &str) -> bool {
        match self.tokens.split_first() {
            Some((first, rest)) if *first == token => {
                self.tokens = rest;
                true
            }
            _ => false,
        }
    }

    fn unexpected(&self, found: Option<&str>, expected: &'static str) -> FeatureError {
        let found = found.map_or("the end".to_owned(), |token| format!("`{token}`"));
        FeatureError::Token {
            found,
            expected,
            expression: self.expression.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, expected: bool) {
        let features = ["x86", "a.b", "c++20"].map(str::to_owned).into();
        assert_eq!(
            evaluate(expression, &features),
            Ok(expected),
            "{expression}"
        );
    }

    #[test]
    fn values() {
        check("true", true);
        check("x86", true);
        check("arm", false);
        check("!arm && x86", true);
        check("arm || a.b && c++20", true);
        check("(arm || a.b) && !c++20", false);
        check("!!x86", true);
        check("!(x86 && arm)", true);
    }

    #[test]
    fn mistakes() {
        for expression in [
            "", "x86 arm", "x86 &", "(x86", "x86)", "&& x86", "!", "*", "{{x.*}}",
        ] {
            assert!(
                evaluate(expression, &BTreeSet::new()).is_err(),
                "{expression}"
            );
        }
    }
}
