//! Regular node lines, as described by the op tables: inputs, then one integer per parameter.

use mind_diag::{Code, Diagnostic};
use mind_ir::OpId;
use mind_ir::attr::{Attr, AttrKind};
use mind_ir::graph::Graph;
use mind_ir::opdef::OpDef;
use smallvec::SmallVec;

use super::reader::{Inputs, Ints, Reader};
use super::writer::Writer;
use crate::refusal::Refusal;
use crate::scan::Parsed;

/// Reads the rest of the line at `start` after its opcode, and appends the op.
pub(super) type ReadNode = fn(&mut Reader<'_>, &'static OpDef, usize) -> Parsed<()>;

/// Writes the node line, or lines, of an op with the given opcode.
pub(super) type WriteNode = fn(&mut Writer<'_>, OpId, &str) -> Result<(), Refusal>;

/// Returns whether every attribute of `def` can be written as integers, or omitted.
pub(super) fn is_regular(def: &OpDef) -> bool {
    let trailing_list = |(index, kind)| match kind {
        AttrKind::Int => true,
        AttrKind::Ints => index + 1 == def.attrs.len(),
        _ => false,
    };
    def.attrs
        .iter()
        .map(|attr| attr.kind)
        .enumerate()
        .all(trailing_list)
}

/// Returns the number of inputs of an op with at most two inputs and no attributes; `None` for other ops.
pub(super) fn plain_arity(def: &OpDef) -> Option<usize> {
    let plain = def.attrs.is_empty()
        && def.variadic.is_none()
        && def.optional.is_none()
        && def.operands.len() <= 2;
    plain.then_some(def.operands.len())
}

/// Reads inputs and parameters. Checks the arity first, then the parameters, then that the inputs are defined.
pub(super) fn read(r: &mut Reader<'_>, def: &'static OpDef, start: usize) -> Parsed<()> {
    let (mut ints, mut inputs) = (Ints::new(), Inputs::new());
    r.ints(def, &mut ints)?;
    let params = split(r, def, &ints, start, &mut inputs)?;
    let attrs = attributes(def, params);
    r.push(def, &inputs, &attrs, start);
    Ok(())
}

/// Splits the integers of a node line: stores the values of the inputs in `inputs` and returns the parameters.
///
/// # Errors
///
/// Returns E2007 for too few inputs and E4001 for an input that is not defined yet; errors for a wrong number of
/// parameters.
pub(super) fn split<'i>(
    r: &mut Reader<'_>,
    def: &'static OpDef,
    ints: &'i Ints,
    start: usize,
    inputs: &mut Inputs,
) -> Parsed<&'i [i64]> {
    let arity = match def.variadic {
        Some(_) => ints
            .len()
            .saturating_sub(def.attrs.len())
            .max(def.operands.len() + 1),
        None => def.operands.len(),
    };
    r.note_inputs(&ints[..arity.min(ints.len())], start);
    if ints.len() < arity + def.variadic.map_or(0, |_| def.attrs.len()) {
        let found = ints.len() - def.variadic.map_or(0, |_| ints.len().min(def.attrs.len()));
        return Err(Box::new(wrong_arity(r, def, found, start)));
    }
    let (ids, params) = ints.split_at(arity);
    let (least, most) = param_counts(def);
    if !(least..=most).contains(&params.len()) {
        return Err(Box::new(wrong_params(r, def, params.len(), start)));
    }
    r.inputs(ids, start, inputs)?;
    Ok(params)
}

/// Returns the minimum and maximum number of parameters of an op.
fn param_counts(def: &OpDef) -> (usize, usize) {
    let ints = || def.attrs.iter().filter(|attr| attr.kind == AttrKind::Int);
    let least = ints()
        .filter(|attr| attr.default.is_none() || def.variadic.is_some())
        .count();
    let list = |kind| matches!(kind, AttrKind::Ints | AttrKind::Dims);
    let open = def.attrs.iter().any(|attr| list(attr.kind));
    (least, if open { usize::MAX } else { ints().count() })
}

#[cold]
fn wrong_arity(r: &Reader<'_>, def: &OpDef, found: usize, start: usize) -> Diagnostic {
    let opcode = r.cursor.word_at(start);
    let (expected, help) = match def.variadic {
        Some(_) => (
            "at least 1 input".to_owned(),
            "the last integer is the axis, as in `cat 0 1 -1`".to_owned(),
        ),
        None => (counted(def.operands.len(), "input"), {
            let ids: Vec<String> = (0..def.operands.len()).map(|id| id.to_string()).collect();
            format!("inputs are value ids, as in `{opcode} {}`", ids.join(" "))
        }),
    };
    let message = format!("'{opcode}' needs {expected}, found {found}");
    Diagnostic::error(r.cursor.span_of_line(start), message)
        .code(Code(2007))
        .context("op", opcode)
        .context("expected", expected)
        .context("found", found.to_string())
        .help(help)
}

#[cold]
fn wrong_params(r: &Reader<'_>, def: &OpDef, found: usize, start: usize) -> Diagnostic {
    let opcode = r.cursor.word_at(start);
    let expected = match param_counts(def) {
        (_, 0) => "takes no params".to_owned(),
        (least, most) if least == most => format!("needs {}", counted(least, "param")),
        (0, most) => format!("takes at most {}", counted(most, "param")),
        (least, most) => format!("needs {least} or {}", counted(most, "param")),
    };
    let params = def.attrs.iter();
    let params = params.filter(|attr| !matches!(attr.kind, AttrKind::Word(_)));
    let names: Vec<&str> = params.map(|attr| attr.name).collect();
    let error = Diagnostic::error(
        r.cursor.span_of_line(start),
        format!("'{opcode}' {expected}, found {found}"),
    );
    if names.is_empty() {
        error.help(format!(
            "it takes {} and nothing else",
            counted(def.operands.len(), "input")
        ))
    } else {
        error.help(format!("the params are: {}", names.join(", ")))
    }
}

/// Returns a count with its noun, for example `2 inputs` or `1 input`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Returns the attributes for `params`, whose number is valid. Omitted parameters take their defaults.
pub(super) fn attributes<'p>(def: &OpDef, params: &'p [i64]) -> SmallVec<[Attr<'p>; 4]> {
    let mut left = params;
    let attribute = |attr: &mind_ir::opdef::AttrDef| match (attr.kind, left) {
        (AttrKind::Int, [first, rest @ ..]) => {
            left = rest;
            Attr::Int(*first)
        }
        (AttrKind::Ints, list) => {
            left = &[];
            Attr::Ints(list)
        }
        _ => attr
            .default
            .expect("an attribute that is no parameter has a default"),
    };
    def.attrs.iter().map(attribute).collect()
}

/// Writes inputs and parameters, without the trailing parameters that equal their defaults.
pub(super) fn write(w: &mut Writer<'_>, op: OpId, opcode: &str) -> Result<(), Refusal> {
    let written = written_attrs(w.graph, op);
    write_with(w, op, opcode, written);
    Ok(())
}

/// Writes inputs and the first `written` attributes.
pub(super) fn write_with(w: &mut Writer<'_>, op: OpId, opcode: &str, written: usize) {
    let g = w.graph;
    w.node(opcode, g.operands(op));
    for attr in &g.attrs(op)[..written] {
        match attr {
            Attr::Int(value) => w.int(*value),
            Attr::Ints(list) => list.iter().for_each(|&value| w.int(value)),
            _ => {}
        }
    }
    w.end();
}

fn written_attrs(g: &Graph, op: OpId) -> usize {
    let (def, attrs) = (g.def(op), g.attrs(op));
    let omitted = |index: &usize| {
        def.variadic.is_none()
            && def.attrs[*index]
                .default
                .is_some_and(|value| value == attrs[*index])
    };
    (0..attrs.len())
        .rev()
        .take_while(omitted)
        .last()
        .unwrap_or(attrs.len())
}
