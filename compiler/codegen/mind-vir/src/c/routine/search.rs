//! Arg-max under windows as C statements.

use mind_ir::tensor::row_major;

use super::Arrays;
use super::block::{Block, sum};
use super::element::key;
use crate::program::{Search, Slide};

/// Writes a loop over positions, with a loop over the taps in bounds.
pub(super) fn write(search: &Search, (read, written): Arrays<'_>, block: &mut Block<'_>) {
    let Search { dtype, slides } = search;
    let (from, to, size) = (&read[0], &written[0], dtype.size());
    let extents: Vec<usize> = slides.iter().map(|slide| slide.extent).collect();
    let strides = match extents.contains(&0) {
        // An empty array has no position.
        true => vec![1; extents.len()],
        false => row_major(&extents).to_vec(),
    };
    let (key, rank) = (key(*dtype), slides.len());
    block.open("{");
    block.line("int64_t n = 0;");
    for (at, slide) in slides.iter().enumerate() {
        block.count(&format!("i{at}"), slide.positions);
    }
    block.line("int64_t best = -1;");
    block.line("uint64_t best_key = 0;");
    for (at, slide) in slides.iter().enumerate() {
        taps(at, slide, block);
    }
    let names: Vec<String> = (0..rank).map(|at| format!("at{at}")).collect();
    let terms = names.iter().zip(&strides);
    let place = sum(terms.map(|(name, &stride)| (name.as_str(), stride)));
    block.line(format_args!("const int64_t at = {place};"));
    block.line(format_args!(
        "const uint64_t own = {key}({from} + at * {size});"
    ));
    block.open("if (best < 0 || own > best_key) {");
    block.line("best = at;");
    block.line("best_key = own;");
    block.close(1 + rank);
    block.line(format_args!("memcpy({to} + n * 8, &best, 8);"));
    block.line("++n;");
    block.close(rank + 1);
}

/// Opens a loop over the taps in bounds along dimension `at`; variables are suffixed with its number.
fn taps(at: usize, slide: &Slide, block: &mut Block<'_>) {
    let Slide {
        extent,
        window,
        stride,
        dilation,
        low,
        ..
    } = slide;
    block.line(format_args!(
        "const int64_t start{at} = i{at} * INT64_C({stride}) - INT64_C({low});"
    ));
    block.line(format_args!(
        "const int64_t end{at} = mind_taps_below(start{at}, INT64_C({extent}), INT64_C({dilation}), INT64_C({window}));"
    ));
    block.open(format_args!(
        "for (int64_t t{at} = mind_taps_below(start{at}, 0, INT64_C({dilation}), INT64_C({window})); t{at} < end{at}; ++t{at}) {{"
    ));
    block.line(format_args!(
        "const int64_t at{at} = start{at} + t{at} * INT64_C({dilation});"
    ));
}
