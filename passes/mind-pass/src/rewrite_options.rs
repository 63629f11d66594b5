//! Options of rewriting.

/// Options of rewriting, for every pass that rewrites by rules or patterns.
///
/// Plain data: names are those of rules and patterns alike, and whoever fills it checks them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RewriteOptions {
    /// Rule files beside the shipped ones, in the order given.
    pub rules: Vec<RuleSource>,
    /// The classes of rules that may act beyond the exact one: `nsz`, `nnan`, `reassoc`, `approx`.
    pub fast_math: Vec<String>,
    /// The only rules and patterns that act; empty for all.
    pub only: Vec<String>,
    /// Rules and patterns that do not act.
    pub disabled: Vec<String>,
    /// Rules that act although no check could exercise them.
    pub unchecked: Vec<String>,
}

/// A rule file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleSource {
    /// The name shown in diagnostics.
    pub name: String,
    /// What it says.
    pub text: String,
}

impl RewriteOptions {
    /// Whether the rule or pattern called `name` may act.
    pub fn enables(&self, name: &str) -> bool {
        let listed = |list: &[String]| list.iter().any(|own| own == name);
        (self.only.is_empty() || listed(&self.only)) && !listed(&self.disabled)
    }

    /// Takes over what `other` asks for, behind what is asked for here.
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
