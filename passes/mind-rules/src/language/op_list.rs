//! Resolution of the ops of `for op in …`.

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::builtin;
use mind_ir::opdef::{OpDef, Trait, nearest};
use mind_ir::types::DType;

use super::ast::{Name, OpEntry};
use super::names::unknown;
use super::ops::Ops;
use crate::op_table::OpIx;

/// A set of ops, defined by a property, with its name in rule files.
struct OpTrait {
    name: &'static str,
    has: fn(&OpDef) -> bool,
}

/// Every trait. Ops with attributes are excluded because a rule would have to carry the attributes over, and so are the
/// ops of the built-in dialect, which models do not contain.
const TRAITS: &[OpTrait] = &[
    OpTrait {
        name: "elementwise",
        has: |def| def.has(Trait::Elementwise),
    },
    OpTrait {
        name: "commutative",
        has: |def| def.has(Trait::Commutative),
    },
    // Elementwise ops that do not accept floats.
    OpTrait {
        name: "bitwise",
        has: |def| {
            def.operands.iter().all(|own| !own.class.admits(DType::F32))
                && def.has(Trait::Elementwise)
        },
    },
    // Elementwise ops that fail for some integers, for example a division by zero; for floats every function is total.
    OpTrait {
        name: "partial",
        has: |def| def.scalar.is_some_and(|function| !function.is_total()),
    },
];

/// Returns the ops of `entries` without duplicates: named ops in source order, ops of a trait in the order of the op
/// table, minus the entries after `not`. Returns `None` after reporting an unknown op or trait, a trait without ops, or
/// an empty result.
pub(crate) fn listed(
    entries: &[OpEntry<'_>],
    ops: Ops<'_>,
    found: &mut Diagnostics,
) -> Option<Vec<OpIx>> {
    let (mut included, mut excluded) = (Vec::new(), Vec::new());
    let before = found.error_count();
    for entry in entries {
        let own = members(entry.name, ops, found).unwrap_or_default();
        if entry.excluded {
            excluded.extend(own);
        } else {
            included.extend(own);
        }
    }
    if found.error_count() > before {
        return None;
    }
    let mut all: Vec<OpIx> = Vec::new();
    for op in included {
        if !excluded.contains(&op) && !all.contains(&op) {
            all.push(op);
        }
    }
    if let ([], Some(first)) = (all.as_slice(), entries.first()) {
        let error = Diagnostic::error(first.name.span, "this list has no op");
        found.push(error.help(
            "`not` takes ops away from those listed, as in `elementwise/2, not commutative`",
        ));
        return None;
    }
    Some(all)
}

/// Returns the ops of `name`, an op or a trait.
fn members(name: Name<'_>, ops: Ops<'_>, found: &mut Diagnostics) -> Option<Vec<OpIx>> {
    let (word, arity) = match name.text.split_once('/') {
        Some((word, arity)) => (word, Some(arity)),
        None => (name.text, None),
    };
    let names = || TRAITS.iter().map(|own| own.name);
    let Some(own) = TRAITS.iter().find(|own| own.name == word) else {
        let meant_as_trait = !word.contains('.') && nearest(word, names()).is_some();
        if arity.is_some() || meant_as_trait {
            found.push(unknown("trait", Name { text: word, ..name }, names()));
            return None;
        }
        return ops.resolve(name, found).map(|(op, _)| vec![op]);
    };
    let is_builtin = |def: &OpDef| builtin::OPS.iter().any(|own| std::ptr::eq(*own, def));
    let with_trait =
        |def: &&'static OpDef| def.attrs.is_empty() && !is_builtin(def) && (own.has)(def);
    let defs = || ops.table.defs().iter().copied();
    let count: Option<Option<usize>> = arity.map(|arity| arity.parse().ok());
    let fits = |def: &&'static OpDef| {
        count.is_none_or(|count| count == Some(def.operands.len())) && with_trait(def)
    };
    let transparent = |def: &'static OpDef| ops.table.transparent(def);
    let all: Vec<OpIx> = defs().filter(fits).filter_map(transparent).collect();
    if all.is_empty() {
        let message = format!("no op has the trait `{}`", name.text);
        let known = defs().filter(with_trait);
        let known = known.filter(|def| transparent(def).is_some());
        let mut counts: Vec<usize> = known.map(|def| def.operands.len()).collect();
        counts.sort_unstable();
        counts.dedup();
        let known: Vec<String> = counts
            .iter()
            .map(|count| format!("`{word}/{count}`"))
            .collect();
        let error = Diagnostic::error(name.span, message);
        found.push(if known.is_empty() {
            error.help("`mind-opt --show-dialects` lists the ops")
        } else {
            error.help(format!("there are ops of {}", known.join(", ")))
        });
        return None;
    }
    Some(all)
}
