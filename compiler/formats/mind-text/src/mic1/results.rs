//! The lines that name the results of a node after the first.

use mind_diag::Diagnostic;
use mind_ir::OpId;
use smallvec::SmallVec;

use super::ids::Entry;
use super::reader::{Declared, Head, Reader, Several};
use super::writer::Writer;
use crate::refusal::Refusal;
use crate::scan::Parsed;

/// The kind of these lines.
pub(super) const KIND: &str = "result";

/// Reads the rest of the line after its kind: the node, the number of the result, and its type.
///
/// # Errors
///
/// Errors if the line does not follow its node or is out of order.
pub(super) fn read(r: &mut Reader<'_>, head: Head) -> Parsed<()> {
    let mut operands = SmallVec::new();
    r.cursor.blanks();
    let at = r.cursor.at();
    let count = r.operands(head, &mut operands)?;
    if count != 1 {
        let error = r
            .cursor
            .error_at(at, "expected one node of several results");
        return Err(Box::new(error.help("as in `N5 result N4 1`")));
    }
    r.cursor.blanks();
    let at_number = r.cursor.at();
    let number = r.int()?;
    let declared = r.declared()?;
    if r.poisoned || matches!(declared, Declared::Failed) {
        r.nodes.set(head.id, Entry::Failed);
        return Ok(());
    }
    let Some(several) = r.several.filter(|several| {
        let first = r.graph.results(several.op).get(0);
        operands.first() == Some(&first)
    }) else {
        let error = r
            .cursor
            .error_at(at, "no node of several results is on the line above");
        let help = "the lines for the other results of a node follow it: `N4 sort N0`, then `N5 result N4 1`";
        return Err(Box::new(error.help(help)));
    };
    if number != several.next as i64 {
        let text = format!("expected result {}, found {number}", several.next);
        let error = r.cursor.error_at(at_number, text);
        return Err(Box::new(
            error.help("the results of a node are named in their order, from 1"),
        ));
    }
    let results = r.graph.results(several.op);
    let next = several.next + 1;
    r.several = (next < results.len()).then_some(Several { next, ..several });
    r.name(head, results.get(several.next), declared);
    Ok(())
}

/// Returns the error for a node whose results are not all named by the lines below it.
pub(super) fn missing(r: &mut Reader<'_>) -> Option<Diagnostic> {
    let several = r.several.take()?;
    let (op, first, next) = (several.op, several.first, several.next);
    let (kind, count) = (r.graph.def(op).short_name(), r.graph.results(op).len());
    let text = format!("'{kind}' has {count} results, and no line names result {next}");
    let free = first.saturating_add(next as u64);
    let help = format!("add a line below it, such as `N{free} {KIND} N{first} {next}`");
    Some(Diagnostic::error(r.graph.span(op), text).help(help))
}

/// Writes the lines for the results of `op` after the first.
///
/// # Errors
///
/// Errors if mic@1 cannot express a type.
pub(super) fn write(w: &mut Writer<'_>, op: OpId) -> Result<(), Refusal> {
    let mut results = w.graph.results(op).into_iter();
    let Some(first) = results.next() else {
        return Ok(());
    };
    for (number, value) in results.enumerate() {
        w.begin(value);
        w.word(KIND);
        w.node(first);
        w.word(&(number + 1).to_string());
        if let Some(ty) = w.graph.declared(value) {
            w.ty(ty)?;
        }
        w.out().push('\n');
    }
    Ok(())
}
