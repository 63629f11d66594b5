//! The enabled rules.

use std::sync::{Arc, Mutex, PoisonError};

use mind_diag::{Diagnostic, Span};
use mind_ir::Graph;
use mind_ir::opdef::Registry;
use mind_pass::{PassCx, PassError, RewriteOptions};
use mind_rules::{
    FastMath, RuleErrors, RuleSelection, RuleSet, SHIPPED, ShippedOps, shipped_names,
};

/// Loads the shipped rules and those of the user's files, without those that the user disabled.
///
/// # Errors
///
/// All errors in the files, file by file.
pub fn rules(registry: &Registry, rewriting: &RewriteOptions) -> Result<RuleSet, RuleErrors> {
    let own = rewriting
        .rules
        .iter()
        .map(|source| (source.name.as_str(), source.text.as_str()));
    let sources: Vec<(&str, &str)> = SHIPPED.iter().copied().chain(own).collect();
    let mut rules = RuleSet::load(registry, &sources)?;
    rules.retain(|name| rewriting.enables(name));
    Ok(rules)
}

/// Returns the rules of the e-graph that can match in `g`.
///
/// # Errors
///
/// If a rule file is invalid.
pub fn rules_for_module(g: &Graph, cx: &PassCx<'_>) -> Result<Arc<RuleSet>, PassError> {
    let plain = RewriteOptions {
        fast_math: cx.rewriting.fast_math.clone(),
        ..RewriteOptions::default()
    };
    let all = cx.shared.get_or_make::<RuleSet, ()>(|| Err(()));
    if all.is_ok() || *cx.rewriting != plain || observes_missed(cx) {
        return in_force(cx);
    }
    shipped_for(g, cx, false)
}

/// Returns the rules of the greedy driver that can match in `g`, including those that the user disabled.
///
/// # Errors
///
/// If a rule file is invalid.
pub(crate) fn greedy_for_module(g: &Graph, cx: &PassCx<'_>) -> Result<Arc<RuleSet>, PassError> {
    if !cx.rewriting.rules.is_empty() || observes_missed(cx) {
        return in_force(cx);
    }
    shipped_for(g, cx, true)
}

/// Returns whether the listener asks why a shipped rule did not apply. All rules are needed then, including those that
/// cannot match in the module.
fn observes_missed(cx: &PassCx<'_>) -> bool {
    shipped_names().any(|rule| cx.watch.observes_missed(rule))
}

/// A set of shipped rules, and the modules that it is sufficient for.
struct Read {
    selection: RuleSelection,
    ops: ShippedOps,
    rules: Arc<RuleSet>,
}

/// The shipped rules that this process has loaded. There is one set per op table and choice of rules, which grows with
/// the ops of the modules.
static READ: Mutex<Vec<Read>> = Mutex::new(Vec::new());

/// The maximum number of sets that are kept.
const MAX_READ: usize = 16;

/// Returns the shipped rules of one engine that can match in `g`. Not all are loaded, because that takes longer than
/// rewriting a small module.
fn shipped_for(g: &Graph, cx: &PassCx<'_>, greedy: bool) -> Result<Arc<RuleSet>, PassError> {
    let selection = RuleSelection {
        classes: classes(cx.rewriting),
        greedy,
    };
    let mut ops = ShippedOps::of(g, cx.registry);
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let known = |read: &Read| read.selection == selection && read.rules.is_for(cx.registry);
    if let Some(at) = read.iter().position(known) {
        if read[at].ops.covers(&ops) {
            return Ok(Arc::clone(&read[at].rules));
        }
        ops = ops.union(read.remove(at).ops);
    }
    let ops = ops.closed(cx.registry, selection);
    let rules = RuleSet::shipped_for(cx.registry, &ops, selection).map_err(rejected)?;
    let rules = Arc::new(rules);
    if read.len() == MAX_READ {
        read.remove(0);
    }
    read.push(Read {
        selection,
        ops,
        rules: Arc::clone(&rules),
    });
    Ok(rules)
}

/// Returns all enabled rules, which are loaded once for all passes of a run.
///
/// # Errors
///
/// If a rule file is invalid.
pub(crate) fn in_force(cx: &PassCx<'_>) -> Result<Arc<RuleSet>, PassError> {
    let made = cx.shared.get_or_make(|| rules(cx.registry, cx.rewriting));
    made.map_err(rejected)
}

fn rejected(errors: RuleErrors) -> PassError {
    let message = format!("the rules cannot be used:\n{errors}");
    PassError::Rejected(Box::new(Diagnostic::error(Span::FILE, message)))
}

/// Returns the classes of rules that are enabled in addition to the exact ones.
pub fn classes(rewriting: &RewriteOptions) -> FastMath {
    let words = rewriting.fast_math.iter();
    words
        .filter_map(|word| FastMath::parse(word))
        .fold(FastMath::EXACT, FastMath::union)
}
