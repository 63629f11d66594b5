//! Prefix operations along a dimension, for example a cumulative sum.

use mind_core::eval::cumulative::Prefixes;
use mind_ir::types::DType;
use mind_vir::ir::{Addr, Builder, IndexOp, LoopKind, Value};

use super::each::{At, for_each};
use super::reduce::{combine, identity};
use super::scalar::{narrow, storage_lane, store, widen};

/// Stacks of lines. The `extent` elements of a line have a stride of `inner`, which is the number of lines of a stack.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lines {
    /// Type of an element.
    pub dtype: DType,
    /// The prefix operation.
    pub prefixes: Prefixes,
    /// Elements of a line.
    pub extent: usize,
    /// Lines of a stack, which are adjacent.
    pub inner: usize,
}

/// Appends the prefix operation on all lines of a range of stacks.
///
/// `input` and `output` are pointers to the first element of the first stack.
pub fn prefixes(
    b: &mut Builder,
    lines: &Lines,
    input: Value,
    output: Value,
    stacks: (Value, Value),
) {
    let lane = storage_lane(lines.dtype);
    b.repeat(LoopKind::Rest, stacks, 1, &[], |b, stack| {
        let size = b.index((lines.extent * lines.inner) as i64);
        let start = b.index_op(IndexOp::Mul, stack.index, size);
        let places = [input, output].map(|base| b.address(Addr::element(base, start, lane)));
        if lines.inner == 1 {
            chain(b, lines, places, None);
        } else {
            let inner = b.index(lines.inner as i64);
            for_each(b, inner, 1, |b, at| chain(b, lines, places, Some(at)));
        }
        Vec::new()
    });
}

/// The chains of the lines at `at`, or of the only line of a stack.
fn chain(b: &mut Builder, lines: &Lines, [input, output]: [Value; 2], at: Option<At>) {
    let Lines {
        dtype,
        prefixes,
        extent,
        inner,
    } = *lines;
    let (kind, lane) = (prefixes.kind.reduction(), storage_lane(dtype));
    let first = identity(b, kind, dtype);
    let range = (b.index(0), b.index(extent as i64));
    b.repeat(LoopKind::Rest, range, 1, &[first], |b, round| {
        let mut place = round.index;
        if prefixes.reverse {
            let last = b.index(extent as i64 - 1);
            place = b.index_op(IndexOp::Sub, last, place);
        }
        if inner > 1 {
            let stride = b.index(inner as i64);
            place = b.index_op(IndexOp::Mul, place, stride);
        }
        let [from, to] = [input, output].map(|base| {
            let line = b.address(Addr::element(base, place, lane));
            match at {
                Some(at) => at.addr(line, lane),
                None => Addr::at(line),
            }
        });
        let count = at.and_then(|at| at.count);
        let elements = match at {
            Some(_) => b.load(lane, from, count),
            None => b.load_splat(lane, from),
        };
        let (before, x) = (round.carried[0], widen(b, dtype, elements));
        let after = combine(b, kind, dtype, before, x);
        let kept = if prefixes.exclusive { before } else { after };
        match at {
            Some(_) => store(b, dtype, kept, to, count),
            None => {
                let elements = narrow(b, dtype, kept);
                b.store_first(elements, to);
            }
        }
        vec![after]
    });
}
