//! Warns about text in the primer's spelling that compilers reject, according to the primer.

use mind_diag::{Diagnostic, Diagnostics, Severity};
use mind_ir::OpId;
use mind_ir::graph::Graph;

use crate::call::Call;
use crate::check::{Interface, check};
use crate::ops::row;
use crate::row::Attributes;

/// Optional arguments that must be written nevertheless, each with its spelling.
const REQUIRED: [(&str, &str, &str); 2] = [
    ("log", "epsilon", "const(fp16(0))"),
    ("gelu", "mode", "const(string(\"EXACT\"))"),
];

/// Returns a warning for each part of a verified program that compilers reject according to the primer, in text order.
pub fn rejected(g: &Graph) -> Diagnostics {
    let mut found = Diagnostics::new();
    // All errors come from the stricter interface, because `check` accepted the program.
    for error in check(g, Interface::Ane).iter() {
        found.push(noted(Diagnostic {
            severity: Severity::Warning,
            ..error.clone()
        }));
    }
    for op in g.walk() {
        let Some(row) = row(g.def(op)) else {
            continue;
        };
        let call = Call::bind(row, op, g);
        for (name, argument, value) in REQUIRED {
            let left_out = |call: &Call<'_>| row.name == name && call.value(argument).is_none();
            if call.as_ref().is_ok_and(left_out) {
                let problem = format!("`{argument}` of `{name}` is left out");
                let warning = Diagnostic::new(Severity::Warning, g.span(op), problem);
                found.push(noted(warning.help(format!("write `{argument} = {value}`"))));
            }
        }
        if let Some(results) = bare(g, op) {
            let problem = format!("`{results}` has no `name`");
            let warning = Diagnostic::new(Severity::Warning, g.span(op), problem);
            let help = format!("write `[name = string(\"{results}\")]` after the op");
            found.push(noted(warning.help(help)));
        }
    }
    found.sort_by_place();
    found
}

/// Returns the results of a parsed op without a name annotation; the printer annotates all others.
pub fn bare(g: &Graph, op: OpId) -> Option<&str> {
    let Attributes { out, name, .. } = Attributes::of(g, op);
    let named = !out.is_empty() && !out.starts_with(" |");
    (named && name.is_empty()).then_some(out)
}

fn noted(warning: Diagnostic) -> Diagnostic {
    warning.note("the MIL primer says that compilers reject this when they parse")
}
