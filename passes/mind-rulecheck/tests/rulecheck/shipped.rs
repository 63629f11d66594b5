//! Every rule that ships is sound, and was put to the test.

use mind_eqsat::RuleSet;
use mind_ir::builtin;
use mind_ir::opdef::Registry;
use mind_rulecheck::{Config, Verdict, check};

#[test]
fn every_shipped_rule_holds() {
    let registry = Registry::with([builtin::DIALECT, mind_core::DIALECT]);
    let rules = RuleSet::shipped(&registry).unwrap_or_else(|errors| panic!("{errors}"));
    let config = Config {
        threads: 2,
        ..Config::default()
    };
    let mut wrong = Vec::new();
    for check in check(&rules, &config) {
        println!("{check:?}");
        match &check.verdict {
            Verdict::Holds => {}
            verdict => wrong.push(format!("{} {}: {verdict:?}", check.name, check.reversed)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
