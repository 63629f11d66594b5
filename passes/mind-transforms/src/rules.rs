//! The rules in force.

use std::rc::Rc;

use mind_diag::{Diagnostic, Span};
use mind_eqsat::{FOLDING, FUSION, FastMath, RuleErrors, RuleSet, SHIPPED};
use mind_ir::opdef::Registry;
use mind_pass::{PassCx, PassError, Rewriting};
use mind_rewrite::{EVALUATE, FOLD};

use crate::{canonicalize, cse};

/// The shipped rules and those of the user's files, without those that the user has switched off.
///
/// Errors: all that is wrong with the files, file by file.
pub fn rules(registry: &Registry, rewriting: &Rewriting) -> Result<RuleSet, RuleErrors> {
    let own = rewriting
        .rules
        .iter()
        .map(|source| (source.name.as_str(), source.text.as_str()));
    let sources: Vec<(&str, &str)> = SHIPPED.iter().copied().chain(own).collect();
    let mut rules = RuleSet::load(registry, &sources)?;
    rules.retain(|name| rewriting.enables(name));
    Ok(rules)
}

/// The names of the patterns that are written in Rust, in the name space of rules.
pub fn pattern_names() -> Vec<String> {
    canonicalize::patterns()
        .names()
        .map(str::to_owned)
        .collect()
}

/// The names of everything that rewrites besides the rules: patterns, and what passes do by themselves.
pub fn rewrite_names() -> Vec<String> {
    let own = [FOLD, EVALUATE, FOLDING, FUSION, cse::PASS.name];
    let own = own.into_iter().map(str::to_owned);
    pattern_names().into_iter().chain(own).collect()
}

/// The rules in force, made once for all passes of a run.
///
/// Errors: what is wrong with a rule file.
pub(crate) fn in_force(cx: &PassCx<'_>) -> Result<Rc<RuleSet>, PassError> {
    let made = cx.shared.get_or_make(|| rules(cx.registry, cx.rewriting));
    made.map_err(|errors| {
        let message = format!("the rules cannot be used:\n{errors}");
        PassError::Rejected(Box::new(Diagnostic::error(Span::FILE, message)))
    })
}

/// The classes of rules that may act beyond the exact one.
pub(crate) fn classes(rewriting: &Rewriting) -> FastMath {
    let words = rewriting.fast_math.iter();
    words
        .filter_map(|word| FastMath::parse(word))
        .fold(FastMath::EXACT, FastMath::union)
}
