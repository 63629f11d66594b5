//! Wrong rules that only a boundary case exposes, for example extents of 0, attributes at the ends of their ranges,
//! scales per axis or block, and numbers that casts round twice. Most are a shipped rule with one change.

use mind_rulecheck::{Verdict, check};
use mind_rules::RuleSet;

use crate::support::{config, registry};

const BOUNDARY: &str = include_str!("boundary.rules");

#[test]
fn every_rule_that_is_wrong_in_a_boundary_case_is_rejected() {
    let rules = RuleSet::load(&registry(), &[("boundary.rules", BOUNDARY)]);
    let rules = rules.unwrap_or_else(|errors| panic!("{errors}"));
    let checks = check(&rules, &config());
    let let_through = checks
        .iter()
        .filter(|check| !matches!(check.verdict, Verdict::Rejected(_)));
    let let_through: Vec<String> = let_through
        .map(|check| format!("{}: {:?}", check.name, check.verdict))
        .collect();
    assert!(let_through.is_empty(), "{}", let_through.join("\n"));
    assert!(checks.len() >= 30, "{} rules", checks.len());
}
