//! Options of rewriting.

/// Options of every pass that rewrites by rules or patterns.
///
/// This is plain data: names may be of rules or patterns, and the caller validates them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RewriteOptions {
    /// Rule files in addition to the shipped ones, in order.
    pub rules: Vec<RuleSource>,
    /// The enabled classes of rules beyond `exact`: `nsz`, `nnan`, `reassoc`, `approx`.
    pub fast_math: Vec<String>,
    /// If not empty, only these rules and patterns are enabled.
    pub only: Vec<String>,
    /// Disabled rules and patterns.
    pub disabled: Vec<String>,
    /// Rules that are enabled although no generated case exercises them.
    pub unchecked: Vec<String>,
}

/// A rule file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleSource {
    /// The name shown in diagnostics.
    pub name: String,
    /// Its contents.
    pub text: String,
}

impl RewriteOptions {
    /// Returns whether the rule or pattern called `name` is enabled.
    pub fn enables(&self, name: &str) -> bool {
        let listed = |list: &[String]| list.iter().any(|own| own == name);
        (self.only.is_empty() || listed(&self.only)) && !listed(&self.disabled)
    }

    /// Appends the options of `other`.
    pub fn append(&mut self, other: RewriteOptions) {
        let RewriteOptions {
            rules,
            fast_math,
            only,
            disabled,
            unchecked,
        } = other;
        self.rules.extend(rules);
        self.fast_math.extend(fast_math);
        self.only.extend(only);
        self.disabled.extend(disabled);
        self.unchecked.extend(unchecked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_acts_when_listed_or_nothing_is_and_not_disabled() {
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let mut rewriting = RewriteOptions::default();
        assert!(rewriting.enables("a"));
        rewriting.only = list(&["a", "b"]);
        assert!(rewriting.enables("a") && !rewriting.enables("c"));
        rewriting.disabled = list(&["a"]);
        assert!(!rewriting.enables("a") && rewriting.enables("b"));
    }
}
