//! E-graph folding and fusion over any op table.
//!
//! [`fold`] finds cheaper equal forms of a module, [`fuse`] gathers ops that run better as one. Both
//! work on regions of a few hundred ops: each becomes an e-graph, rules from files act on it, and a
//! choice of e-nodes that never costs more than the program's own goes back into the module.
//!
//! The rooms, in the order in which a region goes through them:
//!
//! - `rules/`, `expr/`, `ruleset/`, `shipped/`: the rule language, its files and the sets made of them;
//!   `lint/` finds rules that can never fire or never end.
//! - `matching/`: patterns, the machine that matches them in a module or an e-graph, replacements.
//! - `egraph/`, `search/`, `saturate/`: the e-graph, where to look for matches, rounds of rules.
//! - `cost/`, `fusion/`, `extract/`: prices, groups of ops, and the choice of e-nodes.
//! - `writeback/`: the chosen program as ops of the module; `explain/`: which rules led to it.
//! - `instance/`: rules one by one, for tools that ask what a single rule does.
//!
//! `driver.rs` takes a module through them region by region (`region.rs`, `load.rs`, `solve.rs`).
//!
//! This crate names no op: rule files and the cost table do, and are resolved through a
//! [`Registry`](mind_ir::opdef::Registry). Results depend on counts and contents alone, never on a
//! clock or a hash map's order.

mod context;
pub mod cost;
mod driver;
mod egraph;
mod explain;
mod expr;
mod extract;
mod fusion;
mod instance;
mod limits;
mod lint;
mod load;
mod matching;
mod memo;
mod region;
mod report;
mod rules;
mod ruleset;
mod saturate;
mod search;
mod shipped;
mod solve;
mod writeback;

pub use context::Context;
pub use driver::{fold, fold_with, fuse, fuse_with};
pub use egraph::payload::AttrValue;
pub use expr::{
    Argument, Kind, Param, ValueInfo, Vocabulary, built_in_functions, built_in_params,
    built_in_predicates,
};
pub use fusion::inline::unfuse;
pub use fusion::prune::drop_unread;
pub use instance::{
    Application, Hint, Lhs, LhsAttr, LhsDim, LhsOp, LhsType, RuleInstance, RuleInstances,
};
pub use limits::Limits;
pub use matching::greedy::GreedyRule;
pub use matching::replacement::{NewTerm, NoMatch};
pub use mind_ir::scalar::Facts;
pub use report::{
    Cause, Change, FOLDING, FUSION, FusedGroup, FusedMember, Kept, KeptReason, MissedFusion,
    MissedReason, Replacement, Report, RuleIx, RuleStats, RuleStep,
};
pub use rules::format::{Comments, format_rules};
pub use rules::lex::{Kind as TokenKind, Token, tokens};
pub use ruleset::fast_math::FastMath;
pub use ruleset::rule_info::{Direction, Engine, Phase, RuleInfo};
pub use ruleset::{RuleErrors, RuleSet, SourceErrors};
pub use shipped::{RuleUse, SHIPPED, ShippedOps, Wanted, shipped_names};

/// The rules of a text that stands in a program, with closures as predicates of its own.
///
/// Takes the registry, the text, and a predicate as `name(Kinds) => closure` each; gives what
/// [`RuleSet::load_with`] gives. Errors in the rules name the program's file as their source, with lines
/// counted in the text.
///
/// ```
/// let registry = mind_ir::opdef::Registry::with([mind_ir::builtin::DIALECT, mind_core::DIALECT]);
/// let rules = mind_eqsat::rules!(
///     &registry,
///     "rule halves
///        class exact
///        where is_even(dim(?x, $a))
///        core.split(core.concat(?x, ?x) {axis=$a}) {axis=$a, count=2, part=0} => ?x",
///     is_even(Int) => |a| Some(a[0].int()? % 2 == 0),
/// )?;
/// assert_eq!(rules.names().next(), Some("halves"));
/// # Ok::<(), mind_eqsat::RuleErrors>(())
/// ```
#[macro_export]
macro_rules! rules {
    ($registry:expr, $text:expr $(, $name:ident($($param:ident),*) => $eval:expr)* $(,)?) => {{
        let vocabulary = $crate::Vocabulary::new()
            $(.predicate(stringify!($name), &[$($crate::Param::$param),*], $eval))*;
        $crate::RuleSet::load_with($registry, &[(file!(), $text)], &vocabulary)
    }};
}
