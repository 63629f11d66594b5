//! Sorts as C statements: one key per element, and a function that sorts keys.

use super::Arrays;
use super::block::Block;
use super::element::key;
use crate::c::module::Module;
use crate::c::symbol::Symbol;
use crate::program::{Algorithm, Sorting};

impl Module<'_> {
    /// Returns the declaration of the memory of sorts: keys and indices, for twice the elements that are sorted
    /// together because merging needs a second buffer.
    pub(in crate::c) fn sort_memory(&self) -> String {
        let calls = self.steps.iter().filter_map(|step| step.as_evaluate());
        let algorithms = calls.filter_map(|call| call.algorithm.as_ref());
        let sorts = algorithms.filter_map(Algorithm::as_sort);
        let most = sorts
            .map(|Sorting { extents, .. }| 2 * extents[1].max(1))
            .max();
        most.map_or_else(String::new, |count| {
            let name = &self.name;
            format!(
                "\nstatic uint64_t {name}_keys[{count}];\nstatic int64_t {name}_indices[{count}];\n"
            )
        })
    }
}

/// A sort of each line of elements.
pub(super) fn write(
    sorting: &Sorting,
    name: &Symbol,
    (read, written): Arrays<'_>,
    block: &mut Block<'_>,
) {
    let Sorting {
        dtype,
        extents: [outer, extent, inner],
        kept,
        is_descending,
    } = *sorting;
    // Empty loops; their strides are unused.
    let [outer, extent, inner, kept] = match [outer, extent, inner].contains(&0) {
        true => [0, 0, 1, 0],
        false => [outer, extent, inner, kept],
    };
    let (size, lines) = (dtype.size(), outer * inner);
    let [from, values, indices] = [&read[0], &written[0], &written[1]];
    let key = key(dtype);
    let direction = if is_descending { "~" } else { "" };
    block.count("line", lines);
    block.line(format_args!(
        "const int64_t outer = line / {inner}, inner = line % {inner};"
    ));
    block.line(format_args!(
        "const unsigned char *const from = {from} + (outer * {extent} * {inner} + inner) * {size};"
    ));
    block.count("i", extent);
    block.line(format_args!(
        "{name}_keys[i] = {direction}(uint64_t){key}(from + i * {inner} * {size});"
    ));
    block.line(format_args!("{name}_indices[i] = i;"));
    block.close(1);
    block.line(format_args!(
        "mind_sort({name}_keys, {name}_indices, INT64_C({extent}));"
    ));
    block.count("i", kept);
    block.line(format_args!(
        "const int64_t to = (outer * {kept} + i) * {inner} + inner;"
    ));
    block.line(format_args!(
        "memcpy({values} + to * {size}, from + {name}_indices[i] * {inner} * {size}, {size});"
    ));
    block.line(format_args!(
        "memcpy({indices} + to * 8, {name}_indices + i, 8);"
    ));
    block.close(2);
}
