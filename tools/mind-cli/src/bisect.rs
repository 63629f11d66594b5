//! Implements `--opt-bisect-limit`, which stops rewriting after a number of rewrites.

/// Limit on the number of rewrites.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bisect {
    /// The rule whose rewrites are counted; `None` for all rules.
    pub rule: Option<String>,
    /// The number of rewrites; `None` for no limit.
    limit: Option<u64>,
    /// Whether rewrites are listed with their numbers.
    pub lists: bool,
    made: u64,
}

impl Bisect {
    /// Returns no limit.
    pub fn all() -> Bisect {
        Bisect {
            rule: None,
            limit: None,
            lists: false,
            made: 0,
        }
    }

    /// Returns a limit of `limit` rewrites.
    pub fn first(limit: u64) -> Bisect {
        Bisect {
            limit: Some(limit),
            ..Bisect::all()
        }
    }

    /// Parses `-1`, `N`, `RULE:-1` or `RULE:N`.
    ///
    /// # Errors
    ///
    /// Errors if the text has another form.
    pub fn parse(text: &str) -> Result<Bisect, String> {
        let (rule, number) = match text.rsplit_once(':') {
            Some((rule, number)) => (Some(rule.to_owned()), number),
            None => (None, text),
        };
        let limit = match number {
            "-1" => None,
            number => Some(number.parse().map_err(|_| {
                format!(
                    "`{text}` is not a limit: write a count, -1 to list all, or either after `RULE:`"
                )
            })?),
        };
        Ok(Bisect {
            rule,
            limit,
            lists: limit.is_none(),
            made: 0,
        })
    }

    /// Returns whether a rewrite by `rules` is counted.
    pub fn counts(&self, rules: &[&str]) -> bool {
        let own = |rule: &String| rules.contains(&rule.as_str());
        self.rule.as_ref().is_none_or(own)
    }

    /// Returns whether a rewrite by `rules` is within the limit.
    pub fn admits(&self, rules: &[&str]) -> bool {
        !self.counts(rules) || self.limit.is_none_or(|limit| self.made < limit)
    }

    /// Counts a rewrite by `rules` if it is within the limit; returns whether it is.
    pub fn admit(&mut self, rules: &[&str]) -> bool {
        let admitted = self.admits(rules);
        self.made += u64::from(admitted && self.counts(rules));
        admitted
    }

    /// Returns the number of the last rewrite within the limit, if any.
    pub fn last(&self) -> Option<u64> {
        self.limit.filter(|&limit| limit > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_limit_nothing_is_admitted() {
        let mut bisect = Bisect::parse("2").unwrap();
        assert!(bisect.admit(&["a"]) && bisect.admit(&[]));
        assert!(!bisect.admits(&["a"]) && !bisect.admit(&["b"]));
        assert!(!Bisect::parse("0").unwrap().admit(&[]));
    }

    #[test]
    fn a_rule_counts_alone() {
        let mut bisect = Bisect::parse("a:1").unwrap();
        assert!(bisect.admit(&["b"]) && bisect.admit(&["b", "a"]));
        assert!(bisect.admit(&["b"]) && !bisect.admit(&["a", "b"]));
    }

    #[test]
    fn minus_one_lists_all() {
        let mut bisect = Bisect::parse("-1").unwrap();
        assert!(bisect.lists && bisect.admit(&["a"]));
        assert!(Bisect::parse("-2").is_err() && Bisect::parse("a:").is_err());
        assert!(Bisect::parse("").is_err());
    }
}
