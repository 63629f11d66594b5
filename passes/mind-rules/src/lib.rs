//! The rule language, shared by both rewriting engines: the greedy driver and the e-graph.
//!
//! - `language/` reads rule files: lexer, parser, formatter, checks; the result is a compiled rule.
//! - [`expr`]: conditions and computed attributes: functions, predicates, kinds, and the additions of a program.
//! - [`matching`]: patterns, the machine that matches them in any [`Subject`](matching::subject::Subject), and the
//!   construction of replacements. `module.rs` matches in a module; an e-graph implements its own subject.
//! - `ruleset/`: rules checked against an op table; `shipped/`: the files of `rules/` and the selection of applicable
//!   rules.
//! - `instance/`: single rules, for tools that need the ops and types a rule matches.
//! - `lint/`: rules that can never fire or never terminate.
//!
//! This crate does not refer to any op by name. Rule files do, and their names are resolved through a
//! [`Registry`](mind_ir::opdef::Registry).

mod attr_value;
mod constant;
pub mod expr;
mod instance;
mod language;
mod lint;
pub mod matching;
mod op_table;
mod ruleset;
mod shipped;
mod unknown;

pub use attr_value::AttrValue;
pub use constant::{Constant, LIKE_LIMIT, constant_of, element};
pub use expr::{
    Argument, ExprKind, Param, ValueInfo, Vocabulary, built_in_functions, built_in_params,
    built_in_predicates,
};
pub use instance::{Hint, InstanceMatch, Lhs, LhsAttr, LhsDim, LhsOp, LhsType, RuleInstance};
pub use language::format::{Comments, format_rules};
pub use language::lex::{Token, TokenKind, tokens};
pub use matching::greedy::GreedyRule;
pub use matching::replacement::{NewTerm, NoMatch, ReplacementBuffers};
pub use op_table::{OpIx, OpTable};
pub use ruleset::fast_math::FastMath;
pub use ruleset::rule_info::{
    Channels, Direction, Engine, FOLDING, FUSION, Phase, RuleInfo, RuleIx,
};
pub use ruleset::{RuleErrors, RuleSet, SourceErrors};
pub use shipped::{RuleSelection, SHIPPED, ShippedOps, shipped_names};
pub use unknown::Unknown;

/// Loads rules from a string in a program, with closures as additional predicates.
///
/// Takes the registry, the text, and predicates of the form `name(Kinds) => closure`; returns the result of
/// [`RuleSet::load_with`]. Errors in the rules name the program's source file, with line numbers relative to the text.
///
/// ```
/// let registry = mind_ir::opdef::Registry::with([mind_ir::builtin::DIALECT, mind_core::DIALECT]);
/// let rules = mind_rules::rules!(
///     &registry,
///     "rule halves
///        class exact
///        where is_even(dim(?x, $a))
///        core.split(core.concat(?x, ?x) {axis=$a}) {axis=$a, count=2, part=0} => ?x",
///     is_even(Int) => |a| Some(a[0].int()? % 2 == 0),
/// )?;
/// assert_eq!(rules.names().next(), Some("halves"));
/// # Ok::<(), mind_rules::RuleErrors>(())
/// ```
#[macro_export]
macro_rules! rules {
    ($registry:expr, $text:expr $(, $name:ident($($param:ident),*) => $eval:expr)* $(,)?) => {{
        let vocabulary = $crate::Vocabulary::new()
            $(.predicate(stringify!($name), &[$($crate::Param::$param),*], $eval))*;
        $crate::RuleSet::load_with($registry, &[(file!(), $text)], &vocabulary)
    }};
}
