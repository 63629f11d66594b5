//! The forms that fusion rules recognise: operand orders, associations, kept dimensions and dtypes.

use mind_eqsat::fuse;

use crate::fuse::{fuse_and_compare, groups};
use crate::shipped::cases_of;
use crate::support::{context, dump, shipped};
use crate::text::module;

/// Returns the kind of the groups that a rule names.
fn kind(rule: &str) -> String {
    match rule.split_once('-') {
        Some(("softmax" | "layernorm", _)) => rule[..rule.find('-').unwrap()].to_owned(),
        _ => rule.replace('-', "_"),
    }
}

#[test]
fn every_form_becomes_one_group_of_its_kind() {
    for (rule, acts, _) in cases_of("fusions") {
        let g = fuse_and_compare(&module(acts));
        let kinds: Vec<String> = groups(&g).into_iter().map(|(kind, ..)| kind).collect();
        assert_eq!(kinds, [kind(rule)], "{acts}\n{}", dump(&g));
    }
}

#[test]
fn what_differs_gets_another_name() {
    for (rule, _, differs) in cases_of("fusions") {
        let g = fuse_and_compare(&module(differs));
        let kinds: Vec<String> = groups(&g).into_iter().map(|(kind, ..)| kind).collect();
        assert!(!kinds.contains(&kind(rule)), "{differs}\n{}", dump(&g));
    }
}

#[test]
fn ops_that_compute_a_constant_are_no_group() {
    let rules = shipped();
    let silu = rules.names().position(|name| name == "silu").unwrap();
    let matched = |text: &str| fuse(&mut module(text), &context(&rules)).rules[silu].matched;
    assert!(matched("x:f32[64] -> mul(x, sigmoid(x))") > 0);
    assert_eq!(
        matched("c = 2.0:f32[64] -> add(x:f32[64], mul(c, sigmoid(c)))"),
        0
    );
}
