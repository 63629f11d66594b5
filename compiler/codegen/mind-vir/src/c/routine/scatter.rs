//! Scatter as C statements.

use mind_ir::types::DType;

use super::Arrays;
use super::block::{Block, sum};
use super::element::{c_type, index, read, write as stored};
use crate::program::{Bounds, Scattering, Stop, Update};

/// Returns the helper that computes the position for an index, -1 if it is out of bounds.
const fn position_helper(bounds: Bounds) -> &'static str {
    match bounds {
        Bounds::Strict | Bounds::Skip => "mind_place",
        Bounds::FromEnd => "mind_place_from_end",
        Bounds::Clamp => "mind_place_clamped",
    }
}

/// Writes a copy of the array, then a loop over the tuples of indices.
pub(super) fn write(scattering: &Scattering, (read, written): Arrays<'_>, block: &mut Block<'_>) {
    let Scattering {
        dtype,
        bounds,
        elements,
        tuples,
        axes,
        width,
        ..
    } = scattering;
    let [array, indices, updates] = read else {
        unreachable!("a checked step reads three arrays")
    };
    let (result, size) = (&written[0], dtype.size());
    block.line(format_args!(
        "memcpy({result}, {array}, {});",
        elements * size
    ));
    // Indices of empty slices are not checked.
    let is_idle = *width == 0 || tuples.iter().any(|own| own.extent == 0);
    let width = if is_idle { 0 } else { *width };
    block.open("{");
    block.line("int64_t n = 0;");
    let names: Vec<String> = (0..tuples.len()).map(|at| format!("i{at}")).collect();
    for (name, tuple) in names.iter().zip(tuples) {
        block.count(name, if is_idle { 0 } else { tuple.extent });
    }
    let terms = names.iter().zip(tuples);
    let start = sum(terms.map(|(name, tuple)| (name.as_str(), tuple.stride)));
    block.line(format_args!("int64_t at = {start};"));
    let skips = *bounds == Bounds::Skip && !axes.is_empty();
    if skips {
        block.line("int is_inside = 1;");
    }
    for (number, axis) in axes.iter().enumerate() {
        let from = format!(
            "{indices} + (n * {} + {number}) * {}",
            axes.len(),
            scattering.index.size()
        );
        let (helper, own) = (position_helper(*bounds), index(scattering.index, &from));
        block.line(format_args!(
            "const int64_t place{number} = {helper}({own}, INT64_C({}));",
            axis.extent
        ));
        if skips {
            block.line(format_args!("is_inside &= place{number} >= 0;"));
        } else {
            block.open(format_args!("if (place{number} < 0) {{"));
            block.line(format_args!(
                "return (int)(status | {});",
                Stop::INDEX_OUT_OF_BOUNDS
            ));
            block.close(1);
        }
        block.line(format_args!("at += place{number} * {};", axis.stride));
    }
    if skips {
        block.open("if (is_inside) {");
    }
    block.count("k", width);
    block.line(format_args!(
        "unsigned char *const to = {result} + (at + k) * {size};"
    ));
    block.line(format_args!(
        "const unsigned char *const from = {updates} + (n * {width} + k) * {size};"
    ));
    join(*dtype, scattering.update, block);
    block.close(1 + usize::from(skips));
    block.line("++n;");
    block.close(tuples.len() + 1);
}

/// Writes the combination of the element at `to` with the update at `from`.
fn join(dtype: DType, update: Update, block: &mut Block<'_>) {
    let floats = dtype.is_float();
    let sign = match update {
        Update::Replace => {
            block.line(format_args!("memcpy(to, from, {});", dtype.size()));
            return;
        }
        Update::Add => Some('+'),
        Update::Mul => Some('*'),
        Update::Min | Update::Max => None,
    };
    // Sums and products of integers wrap, signed or unsigned.
    let ty = match sign {
        Some(_) if !floats => "uint64_t",
        _ => c_type(dtype),
    };
    for (name, at) in [("own", "to"), ("other", "from")] {
        let element = read(dtype, at);
        block.line(format_args!("const {ty} {name} = ({ty}){element};"));
    }
    let joined = match (sign, update == Update::Min) {
        (Some(sign), _) => format!("own {sign} other"),
        (None, true) if floats => format!("({ty})mind_min_f64(own, other)"),
        (None, false) if floats => format!("({ty})mind_max_f64(own, other)"),
        (None, true) => "own < other ? own : other".to_owned(),
        (None, false) => "own < other ? other : own".to_owned(),
    };
    block.line(stored(dtype, "to", &joined));
}
