//! E-graph folding and fusion over any op table.
//!
//! [`fold`] finds cheaper equal forms of a module, [`fuse`] gathers ops that run better as one. Both
//! work on regions of a few hundred ops: each becomes an e-graph, rules from files act on it, and a
//! choice of e-nodes that never costs more than the program's own goes back into the module.
//!
//! This crate names no op: rule files and the cost table do, and are resolved through a
//! [`Registry`](mind_ir::opdef::Registry). Results depend on counts and contents alone, never on a
//! clock or a hash map's order.

mod apply;
mod changes;
mod context;
pub mod cost;
mod draw;
mod driver;
mod egraph;
mod expr;
mod extract;
mod fast_math;
mod form;
mod fusion;
mod greedy;
mod limits;
mod lineage;
mod load;
mod matcher;
mod members;
mod memo;
mod merge;
mod mismatch;
mod missed;
mod news;
mod pattern;
mod phases;
mod placement;
mod plan;
mod prefilter;
mod region;
mod replacement;
mod report;
mod rewrite;
mod rule_info;
mod rules;
mod ruleset;
mod search;
mod shipped;
mod slots;
mod solve;
mod subject;
mod vet;

pub use context::Context;
pub use driver::{fold, fold_with, fuse, fuse_with};
pub use egraph::payload::AttrValue;
pub use expr::{
    Argument, Kind, Param, ValueInfo, Vocabulary, built_in_functions, built_in_params,
    built_in_predicates,
};
pub use fast_math::FastMath;
pub use form::{Application, Form, Forms, Hint, Left, LeftAttr, LeftDim, LeftOp, LeftType};
pub use fusion::inline::unfuse;
pub use fusion::prune::drop_unread;
pub use greedy::GreedyRule;
pub use limits::Limits;
pub use mind_ir::scalar::Facts;
pub use replacement::{NewTerm, NoMatch};
pub use report::{
    Cause, Change, FOLDING, FUSION, FusedGroup, FusedMember, Kept, KeptReason, MissedFusion,
    MissedReason, Replacement, Report, RuleIx, RuleStats, RuleStep,
};
pub use rule_info::{Direction, Engine, Phase, RuleInfo};
pub use rules::format::{Comments, format_rules};
pub use rules::lex::{Kind as TokenKind, Token, tokens};
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
