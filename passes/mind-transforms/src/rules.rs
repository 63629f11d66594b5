//! The rules in force.

use std::sync::{Arc, Mutex, PoisonError};

use mind_diag::{Diagnostic, Span};
use mind_ir::Graph;
use mind_ir::opdef::Registry;
use mind_pass::{PassCx, PassError, RewriteOptions};
use mind_rules::{FastMath, RuleErrors, RuleSet, SHIPPED, ShippedOps, Wanted, shipped_names};

/// The shipped rules and those of the user's files, without those that the user has switched off.
///
/// # Errors
///
/// All that is wrong with the files, file by file.
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

/// The rules of the e-graph that can act on `g`.
///
/// # Errors
///
/// What is wrong with a rule file.
pub fn rules_for_module(g: &Graph, cx: &PassCx<'_>) -> Result<Arc<RuleSet>, PassError> {
    let plain = RewriteOptions {
        fast_math: cx.rewriting.fast_math.clone(),
        ..RewriteOptions::default()
    };
    let all = cx.shared.get_or_make::<RuleSet, ()>(|| Err(()));
    if all.is_ok() || *cx.rewriting != plain || hears_missed(cx) {
        return in_force(cx);
    }
    shipped_for(g, cx, false)
}

/// The rules of the greedy driver that can act on `g`, those that the user has switched off among them.
///
/// # Errors
///
/// What is wrong with a rule file.
pub(crate) fn greedy_for_module(g: &Graph, cx: &PassCx<'_>) -> Result<Arc<RuleSet>, PassError> {
    if !cx.rewriting.rules.is_empty() || hears_missed(cx) {
        return in_force(cx);
    }
    shipped_for(g, cx, true)
}

/// Whether somebody asks why a shipped rule does not act, be it one that cannot act on the module.
fn hears_missed(cx: &PassCx<'_>) -> bool {
    shipped_names().any(|rule| cx.watch.hears_missed(rule))
}

/// Shipped rules that were read, and what they are enough for.
struct Read {
    wanted: Wanted,
    ops: ShippedOps,
    rules: Arc<RuleSet>,
}

/// The shipped rules that this process has read: for each op table and each choice of rules one set, which grows with the
/// ops of the modules.
static READ: Mutex<Vec<Read>> = Mutex::new(Vec::new());

/// The most sets that are kept.
const MAX_READ: usize = 16;

/// The shipped rules of one engine that can act on `g`. Reading all of them takes longer than rewriting a small module.
fn shipped_for(g: &Graph, cx: &PassCx<'_>, greedy: bool) -> Result<Arc<RuleSet>, PassError> {
    let wanted = Wanted {
        classes: classes(cx.rewriting),
        greedy,
    };
    let mut ops = ShippedOps::of(g, cx.registry);
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let known = |read: &Read| read.wanted == wanted && read.rules.is_for(cx.registry);
    if let Some(at) = read.iter().position(known) {
        if read[at].ops.covers(&ops) {
            return Ok(Arc::clone(&read[at].rules));
        }
        ops = ops.union(read.remove(at).ops);
    }
    let ops = ops.closed(cx.registry, wanted);
    let rules = RuleSet::shipped_for(cx.registry, &ops, wanted).map_err(rejected)?;
    let rules = Arc::new(rules);
    if read.len() == MAX_READ {
        read.remove(0);
    }
    read.push(Read {
        wanted,
        ops,
        rules: Arc::clone(&rules),
    });
    Ok(rules)
}

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
pub fn classes(rewriting: &RewriteOptions) -> FastMath {
    let words = rewriting.fast_math.iter();
    words
        .filter_map(|word| FastMath::parse(word))
        .fold(FastMath::EXACT, FastMath::union)
}
