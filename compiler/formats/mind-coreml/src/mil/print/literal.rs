//! Prints constants.

use mind_ir::attr::Literal;
use mind_ir::graph::Graph;
use mind_ir::types::{DType, Dim};
use mind_mil::Element;
use mind_mil::structure::Const;

use crate::mil::float::write_hex;
use crate::mil::types::{Generation, write_tensor};
use mind_text::number::{write_element, write_int};

/// Writes the value of a constant; fp16 numbers as their bits if `bits` is set.
pub(super) fn write_value(
    out: &mut String,
    g: &Graph,
    own: Const,
    shape: &[Dim],
    generation: Generation,
    bits: bool,
) {
    if own.element_type(g) == Some(Element::String) {
        out.push('"');
        out.push_str(g.name(own.text(g)));
        out.push('"');
        return;
    }
    let path = g.name(own.path(g));
    if path.is_empty() {
        return write_elements(out, own.data(g), shape, bits);
    }
    out.push_str("BLOBFILE(path = ");
    write_tensor(out, "string", &[], generation);
    out.push_str("(\"");
    out.push_str(path);
    out.push_str("\"), offset = ");
    write_tensor(out, "uint64", &[], generation);
    out.push('(');
    write_int(out, own.offset(g));
    out.push_str("))");
}

/// Writes the elements of a constant in nested lists; fp16 numbers as their bits if `bits` is set.
pub(crate) fn write_elements(out: &mut String, literal: &Literal<'_>, shape: &[Dim], bits: bool) {
    let (dtype, size) = (literal.dtype, literal.dtype.size());
    let mut sizes = Vec::with_capacity(shape.len());
    let mut count = 1usize;
    for dim in shape.iter().rev() {
        let extent = dim.fixed().and_then(|extent| usize::try_from(extent).ok());
        count = count.saturating_mul(extent.unwrap_or(0));
        sizes.push(count);
    }
    let given = literal.bytes.len() / size;
    let count = if literal.is_splat() { count } else { given };
    for at in 0..count {
        if at > 0 {
            out.push_str(", ");
        }
        sizes
            .iter()
            .filter(|&&size| at % size.max(1) == 0)
            .for_each(|_| out.push('['));
        let own = if literal.is_splat() { 0 } else { at };
        write_one(out, dtype, &literal.bytes[own * size..][..size], bits);
        sizes
            .iter()
            .filter(|&&size| (at + 1) % size.max(1) == 0)
            .for_each(|_| out.push(']'));
    }
    if count == 0 {
        out.push_str("[]");
    }
}

fn write_one(out: &mut String, dtype: DType, bytes: &[u8], bits: bool) {
    let mut wide = [0u8; 8];
    if cfg!(target_endian = "big") {
        wide[8 - bytes.len()..].copy_from_slice(bytes);
    } else {
        wide[..bytes.len()].copy_from_slice(bytes);
    }
    let number = u64::from_ne_bytes(wide);
    match dtype {
        DType::F16 if bits => out.push_str(&format!("0x{number:04x}")),
        dtype if dtype.is_float() => write_hex(out, number, dtype),
        dtype => write_element(out, dtype, bytes),
    }
}
