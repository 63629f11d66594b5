//! Every shipped rule is tested and sound.

use mind_ir::types::DType;
use mind_rulecheck::check;
use mind_rules::RuleSet;

use crate::support::{config, registry};

#[test]
fn every_shipped_rule_holds() {
    let rules = RuleSet::shipped(&registry()).unwrap_or_else(|errors| panic!("{errors}"));
    let checks = check(&rules, &config());
    let wrong = checks.iter().filter(|check| !check.passed());
    let wrong: Vec<String> = wrong
        .map(|check| format!("{}: {:?}", check.name, check.verdict))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let names = rules.names().len();
    assert!(
        checks.len() >= names,
        "{} checks of {names} rules",
        checks.len()
    );
    let transposes = checks
        .iter()
        .find(|check| check.name == "transpose-of-transpose");
    let dtypes = transposes.map(|check| check.dtypes.len());
    assert_eq!(
        dtypes,
        Some(DType::ALL.len()),
        "moving data takes every dtype"
    );
}
