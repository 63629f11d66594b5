//! Checks rules given as text.

use mind_ir::builtin;
use mind_ir::opdef::Registry;
use mind_rulecheck::{Config, RuleCheck, check};
use mind_rules::RuleSet;

pub fn registry() -> Registry {
    Registry::with([builtin::DIALECT, mind_core::DIALECT])
}

pub fn config() -> Config {
    Config {
        threads: 2,
        ..Config::default()
    }
}

/// Returns the checks of the rules in `text`.
pub fn checks(text: &str) -> Vec<RuleCheck> {
    let rules = RuleSet::load(&registry(), &[("test.rules", text)]);
    let rules = rules.unwrap_or_else(|errors| panic!("{errors}{text}"));
    check(&rules, &config())
}

/// Returns the check of a single rule; `body` has the lines after its name.
pub fn checked(body: &str) -> RuleCheck {
    let mut checks = checks(&format!("rule r\n{body}\n"));
    assert_eq!(checks.len(), 1);
    checks.remove(0)
}
