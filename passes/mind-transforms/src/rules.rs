//! The rules in force.

use std::sync::{Arc, Mutex, PoisonError};

use mind_diag::{Diagnostic, Span};
use mind_eqsat::{FastMath, RuleErrors, RuleSet, SHIPPED, ShippedOps, shipped_names};
use mind_ir::Graph;
use mind_ir::opdef::Registry;
use mind_pass::{PassCx, PassError, Rewriting};

/// The shipped rules and those of the user's files, without those that the user has switched off.
///
/// # Errors
///
/// All that is wrong with the files, file by file.
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

/// The rules in force that can act on `g`: where nobody asks about others, of those that ship only what
/// its ops call for is read. Made once for all passes of a run, and anew for ops that no pass had before.
///
/// # Errors
///
/// What is wrong with a rule file.
pub(crate) fn for_module(g: &Graph, cx: &PassCx<'_>) -> Result<Arc<RuleSet>, PassError> {
    let plain = Rewriting {
        fast_math: cx.rewriting.fast_math.clone(),
        ..Rewriting::default()
    };
    let all = cx.shared.get_or_make::<RuleSet, ()>(|| Err(()));
    if all.is_ok()
        || *cx.rewriting != plain
        || shipped_names().any(|rule| cx.watch.hears_missed(rule))
    {
        return in_force(cx);
    }
    let part = cx
        .shared
        .get_or_make(|| Ok::<_, PassError>(Part::default()))?;
    let present = ShippedOps::of(g, cx.registry);
    let mut read = part.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((ops, rules)) = &*read
        && ops.covers(present)
    {
        return Ok(Arc::clone(rules));
    }
    let classes = classes(cx.rewriting);
    let ops = present.closed(classes);
    let rules = RuleSet::shipped_for(cx.registry, ops, classes).map_err(rejected)?;
    let rules = Arc::new(rules);
    *read = Some((ops, Arc::clone(&rules)));
    Ok(rules)
}

/// The shipped rules that were read, and the ops that they are enough for.
#[derive(Default)]
struct Part(Mutex<Option<(ShippedOps, Arc<RuleSet>)>>);

/// All rules in force, made once for all passes of a run.
///
/// # Errors
///
/// What is wrong with a rule file.
pub(crate) fn in_force(cx: &PassCx<'_>) -> Result<Arc<RuleSet>, PassError> {
    let made = cx.shared.get_or_make(|| rules(cx.registry, cx.rewriting));
    made.map_err(rejected)
}

fn rejected(errors: RuleErrors) -> PassError {
    let message = format!("the rules cannot be used:\n{errors}");
    PassError::Rejected(Box::new(Diagnostic::error(Span::FILE, message)))
}

/// The classes of rules that may act beyond the exact one.
pub(crate) fn classes(rewriting: &Rewriting) -> FastMath {
    let words = rewriting.fast_math.iter();
    words
        .filter_map(|word| FastMath::parse(word))
        .fold(FastMath::EXACT, FastMath::union)
}
