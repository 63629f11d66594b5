//! Notes on the parts of a program that a core module does not keep.

use mind_diag::{Diagnostic, Diagnostics, Severity, Span};
use mind_ir::Graph;
use mind_mil::flexible::{Flexible, Shapes};
use mind_mil::ops;
use mind_mil::structure::{Func, Input, program};

/// Returns a note for each part of a program that [`import`](crate::import) drops or changes for its users: states,
/// other functions, compressed weights. Returns nothing for a module that is not a program.
pub fn left_out(g: &Graph) -> Diagnostics {
    let mut found = Diagnostics::new();
    if program(g).is_none() {
        return found;
    }
    let mut note = |span, message: String| {
        found.push(Diagnostic::new(Severity::Note, span, message));
    };
    for range in ranges(g) {
        note(Span::FILE, range);
    }
    let mut compressed = Vec::new();
    for op in g.ops(g.body()) {
        if let Some(input) = g.view::<Input>(op).filter(|input| input.state(g)) {
            let name = g.name(input.name(g));
            let message = format!(
                "state `{name}` becomes an input and an output: core keeps no state between runs"
            );
            note(g.span(op), message);
        }
        if let Some(func) = g.view::<Func>(op) {
            let name = g.name(func.function(g));
            note(
                g.span(op),
                format!("function `{name}` is left out: a module of core is one function"),
            );
        }
    }
    for op in g.walk() {
        if ops::row(g.def(op)).is_some_and(|row| row.is_constexpr()) {
            compressed.push(op);
        }
    }
    if let Some(&first) = compressed.first() {
        let mut kinds: Vec<&str> = compressed
            .iter()
            .map(|&op| g.def(op).short_name())
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        let (count, kinds) = (compressed.len(), kinds.join(", "));
        let what = if count == 1 {
            "weight is"
        } else {
            "weights are"
        };
        let message =
            format!("{count} compressed {what} expanded to all of the elements ({kinds})");
        note(g.span(first), message);
    }
    found
}

/// Returns a note on each input with several shapes.
fn ranges(g: &Graph) -> Vec<String> {
    let flexible = program(g).and_then(|own| Flexible::parse(g.name(own.function_attributes(g))));
    let Some(Flexible { shapes, .. }) = flexible else {
        return Vec::new();
    };
    let said = |name: &str, shapes: String| {
        format!(
            "input `{name}` takes {shapes}, which core does not keep: `--flexible` says it again"
        )
    };
    match shapes {
        Shapes::Ranges(all) => {
            let range = |&[least, most]: &[i64; 2]| match least == most {
                true => least.to_string(),
                false => format!("{least}..{most}"),
            };
            let shape = |own: &[[i64; 2]]| own.iter().map(range).collect::<Vec<_>>().join(", ");
            let said = |(name, own): &(String, Vec<[i64; 2]>)| {
                said(name, format!("shapes [{}]", shape(own)))
            };
            all.iter().map(said).collect()
        }
        Shapes::Listed(lists) => {
            let first = lists.first().into_iter().flatten();
            first
                .map(|(name, _)| said(name, format!("{} shapes that are listed", lists.len())))
                .collect()
        }
    }
}
