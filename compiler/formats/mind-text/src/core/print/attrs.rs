//! Printing attributes.

use mind_ir::OpId;
use mind_ir::attr::{Attr, Literal, OPEN_END, Padding};
use mind_ir::graph::Graph;
use mind_ir::types::Dim;

use super::{shown_type, write_dims, write_list};
use crate::core::cursor::is_identifier;
use crate::core::table::{AttrSyntax, Key, OpSyntax};
use crate::number::{write_element, write_float, write_int};

/// Writes ` {key=value, ...}`, or nothing if no attributes are printed.
pub(super) fn write(out: &mut String, g: &Graph, op: OpId, syntax: &OpSyntax) {
    let mut opened = false;
    for &at in &syntax.sorted {
        let key = &syntax.keys[at];
        let attr = g.attr(op, key.row);
        if !is_shown(g, op, syntax, key, attr) {
            continue;
        }
        out.push_str(if opened { ", " } else { " {" });
        opened = true;
        out.push_str(key.name);
        out.push('=');
        write_value(out, g, op, key.form, attr);
    }
    if opened {
        out.push('}');
    }
}

fn is_shown(g: &Graph, op: OpId, syntax: &OpSyntax, key: &Key, attr: Attr<'_>) -> bool {
    match (key.form, attr) {
        (AttrSyntax::Data, Attr::Literal(literal)) => !literal.is_splat(),
        (AttrSyntax::Fill, Attr::Literal(literal)) => literal.is_splat(),
        (AttrSyntax::Extents, _) => constant_shape(g, op).is_some(),
        _ => !key.elided || syntax.def.attrs[key.row].default != Some(attr),
    }
}

/// Returns the shape of the constant of `op`, if its type is known.
fn constant_shape(g: &Graph, op: OpId) -> Option<&[Dim]> {
    let result = g.results(op).iter().next()?;
    Some(g.types().get(shown_type(g, result)?).shape)
}

fn write_value(out: &mut String, g: &Graph, op: OpId, form: AttrSyntax, attr: Attr<'_>) {
    match (form, attr) {
        (AttrSyntax::Float(dtype), Attr::Float(bits)) => {
            write_float(out, f64::from_bits(bits), dtype)
        }
        (AttrSyntax::Role, Attr::Bool(param)) => {
            out.push_str(if param { "param" } else { "input" })
        }
        (AttrSyntax::Ends, Attr::Ints(list)) => write_list(out, list, |out, &end| match end {
            OPEN_END => out.push('_'),
            end => write_int(out, end),
        }),
        (AttrSyntax::ElementType, Attr::Literal(literal)) => out.push_str(literal.dtype.name()),
        (AttrSyntax::Extents, _) => write_dims(out, g, constant_shape(g, op).unwrap_or_default()),
        (_, Attr::Int(value)) => write_int(out, value),
        (_, Attr::Bool(value)) => out.push_str(if value { "true" } else { "false" }),
        (_, Attr::Float(bits)) => {
            write_float(out, f64::from_bits(bits), mind_ir::types::DType::F64)
        }
        (_, Attr::Str(sym)) => write_name(out, g.name(sym)),
        (_, Attr::Ints(list)) => write_list(out, list, |out, &value| write_int(out, value)),
        (_, Attr::Dims(dims)) => write_dims(out, g, dims),
        (_, Attr::Literal(literal)) => write_data(out, literal, constant_shape(g, op)),
        (_, Attr::Padding(padding)) => write_padding(out, padding),
        (_, Attr::DType(dtype)) => out.push_str(dtype.name()),
        (_, Attr::Word(word)) => out.push_str(word),
    }
}

pub(super) fn write_name(out: &mut String, name: &str) {
    if is_identifier(name) {
        out.push_str(name);
        return;
    }
    out.push('"');
    for letter in name.chars() {
        match letter {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            other => out.push(other),
        }
    }
    out.push('"');
}

fn write_padding(out: &mut String, padding: Padding<'_>) {
    match padding {
        Padding::Valid => out.push_str("valid"),
        Padding::Same => out.push_str("same"),
        Padding::Custom(&[top, bottom, left, right]) => {
            write_list(out, &[[top, bottom], [left, right]], |out, pair| {
                write_list(out, pair, |out, &pad| write_int(out, pad));
            });
        }
    }
}

/// Writes the elements, nested as `shape` if it has as many elements, else as one list.
fn write_data(out: &mut String, literal: &Literal<'_>, shape: Option<&[Dim]>) {
    let size = literal.dtype.size();
    let elements = literal.bytes.chunks_exact(size);
    let count = elements.len();
    if literal.is_splat() {
        elements.for_each(|bytes| write_element(out, literal.dtype, bytes));
        return;
    }
    let blocks = shape
        .and_then(|shape| block_sizes(shape, count))
        .unwrap_or_else(|| vec![count]);
    for (index, bytes) in elements.enumerate() {
        if index > 0 {
            out.push(',');
        }
        let starts = blocks.iter().filter(|&&block| index % block == 0).count();
        (0..starts).for_each(|_| out.push('['));
        write_element(out, literal.dtype, bytes);
        let ends = blocks
            .iter()
            .filter(|&&block| (index + 1) % block == 0)
            .count();
        (0..ends).for_each(|_| out.push(']'));
    }
    if count == 0 {
        out.push_str("[]");
    }
}

/// Returns the number of elements of a list at each level of data with `shape`. Returns `None` if `shape` does not have
/// `count` elements or has none.
fn block_sizes(shape: &[Dim], count: usize) -> Option<Vec<usize>> {
    let mut sizes = Vec::with_capacity(shape.len());
    let mut size = 1usize;
    for dim in shape.iter().rev() {
        size = size.checked_mul(usize::try_from(dim.fixed()?).ok()?)?;
        sizes.push(size);
    }
    (size == count && count > 0).then_some(sizes)
}
