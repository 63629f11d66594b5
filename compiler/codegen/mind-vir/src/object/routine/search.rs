//! Arg-max under windows: a loop over positions, with a loop over the taps in bounds.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use mind_ir::tensor::row_major;

use crate::object::body::{Body, anywhere};
use crate::program::{Search, Slide};

use super::element::key;
use super::sum;

pub(super) fn write(body: &mut Body<'_>, search: &Search, arrays: &[Value]) {
    let Search { dtype, slides } = search;
    let [from, to] = *arrays else {
        unreachable!("a checked step has two arrays")
    };
    if slides.iter().any(|slide| slide.positions == 0) {
        return;
    }
    let extents: Vec<usize> = slides.iter().map(|slide| slide.extent).collect();
    let strides = match extents.contains(&0) {
        // An empty array has no position.
        true => vec![1; extents.len()],
        false => row_major(&extents).to_vec(),
    };
    let (first, none) = (body.word(0), body.word(-1));
    let number = body.variable(types::I64, first);
    let counters: Vec<Value> = slides
        .iter()
        .map(|slide| body.open_repeat(slide.positions as u64))
        .collect();
    let best = body.variable(types::I64, none);
    let best_key = body.variable(types::I64, first);
    let counters = counters.into_iter().zip(slides);
    let places: Vec<Value> = counters
        .map(|(position, slide)| open_taps(body, position, slide))
        .collect();
    let place = sum(body, places.into_iter().zip(strides));
    let element = body.scaled(from, place, dtype.size() as i64);
    let own = key(body, *dtype, element);
    let (best_so_far, its_key) = (body.get(best), body.get(best_key));
    let is_first = body.ins().icmp(IntCC::Equal, best_so_far, none);
    let is_larger = body.ins().icmp(IntCC::UnsignedGreaterThan, own, its_key);
    let is_better = body.ins().bor(is_first, is_larger);
    let place = body.ins().select(is_better, place, best_so_far);
    let own = body.ins().select(is_better, own, its_key);
    body.set(best, place);
    body.set(best_key, own);
    body.close(slides.len());
    let at = body.get(number);
    let result = body.scaled(to, at, 8);
    let found = body.get(best);
    body.ins().store(anywhere(), found, result, 0);
    let following = body.ins().iadd_imm(at, 1);
    body.set(number, following);
    body.close(slides.len());
}

/// Opens a loop over the taps in bounds along a dimension; returns the element index of the tap.
fn open_taps(body: &mut Body<'_>, position: Value, slide: &Slide) -> Value {
    let start = body.ins().imul_imm(position, slide.stride);
    let start = body.ins().iadd_imm(start, -slide.low);
    let first = taps_below(body, slide, (start, 0));
    let end = taps_below(body, slide, (start, slide.extent as i64));
    let tap = body.open_count(first, end);
    body.scaled(start, tap, slide.dilation)
}

/// Returns the number of taps from `start` that are below `limit`.
fn taps_below(body: &mut Body<'_>, slide: &Slide, (start, limit): (Value, i64)) -> Value {
    let (none, limit) = (body.word(0), body.word(limit));
    let last = body.ins().isub(limit, start);
    let last = body.ins().iadd_imm(last, -1);
    let taps = body.ins().udiv_imm(last, slide.dilation);
    let taps = body.ins().iadd_imm(taps, 1);
    let has_any = body.ins().icmp(IntCC::SignedLessThan, start, limit);
    let taps = body.ins().select(has_any, taps, none);
    let most = body.word(slide.window as i64);
    body.ins().smin(taps, most)
}
