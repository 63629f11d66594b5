//! Buffer assignment: the offsets of results in the workspace of a run.
//!
//! The attribute `at` of a kernel gives the byte offset of each of its results, or -1 for a buffer of the caller. A
//! result owns its bytes until its last reader has run. An elementwise result may reuse the bytes of an operand whose
//! last reader it is.

use std::collections::BTreeMap;

use mind_diag::Diagnostic;
use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, Trait};
use mind_ir::verify::VerifyError;
use mind_ir::{OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::extents::known;
use crate::ops::movement::Pack;
use crate::ops::nest::Nest;
use crate::ops::view::View;

/// The alignment of every result, in bytes.
pub const ALIGNMENT: u64 = 64;

/// The largest width of a packed panel, to a multiple of which packed columns are padded.
pub const PANEL: usize = 64;

/// Returns the size of a value in bytes. A result of `loops.pack` has the size of whole panels in the accumulator dtype
/// of products.
pub fn bytes(g: &Graph, value: ValueId) -> u64 {
    let (ty, extents) = (g.ty(value), known(g, value));
    let packed = g.defining_op(value).is_some_and(|op| g.is::<Pack>(op));
    let count = |extents: &[usize]| extents.iter().map(|&extent| extent as u64).product::<u64>();
    if !packed {
        return count(&extents) * ty.dtype.size() as u64;
    }
    let (columns, rest) = extents
        .split_last()
        .expect("a packed value has two dimensions");
    let size = ty.dtype.size().max(4) as u64;
    count(rest) * columns.next_multiple_of(PANEL) as u64 * size
}

/// Returns the value that owns the memory of `value`: the input of a view, otherwise `value` itself.
pub fn buffer(g: &Graph, value: ValueId) -> ValueId {
    let view = g.defining_op(value).and_then(|op| g.view::<View>(op));
    view.map_or(value, |view| view.input(g))
}

/// Returns the attribute `at` of a kernel; `None` for other ops.
pub fn buffer_offsets(g: &Graph, op: OpId) -> Option<&[i64]> {
    let index = g.def(op).attr_index("at")?;
    match g.attr(op, index) {
        mind_ir::attr::Attr::Ints(offsets) => Some(offsets),
        _ => None,
    }
}

/// Returns whether result `result` of `op` may overwrite operand `operand` in place, if that has no later reader. It
/// may if every element is read before the element at its offset is written.
pub fn may_replace(g: &Graph, op: OpId, operand: usize, result: usize) -> bool {
    let Some(nest) = g.view::<Nest>(op) else {
        return false;
    };
    let (input, result) = (nest.inputs(g)[operand], g.results(op).get(result));
    let view = g
        .defining_op(input)
        .and_then(|source| g.view::<View>(source));
    let whole = view.is_none_or(|view| view.is_whole(g));
    let same_type = g.ty(input).dtype.size() == g.ty(result).dtype.size();
    let same_shape = known(g, input) == known(g, result);
    let columns = nest
        .reduced(g)
        .is_some_and(|axis| axis + 1 < nest.dims(g).len());
    let once = nest.inputs(g).iter().enumerate();
    let alone = once
        .filter(|&(index, &other)| index != operand && buffer(g, other) == buffer(g, input))
        .count()
        == 0;
    whole && same_type && same_shape && alone && !columns
}

/// Returns the last op of the body that reads the memory of each value, directly or through a view, as its index in the
/// body.
pub fn last_reads(g: &Graph) -> FxHashMap<ValueId, usize> {
    let mut last = FxHashMap::default();
    for (number, op) in g.ops(g.body()).enumerate() {
        if !g.is::<View>(op) {
            for &operand in g.operands(op) {
                last.insert(buffer(g, operand), number);
            }
        }
    }
    last
}

/// Returns the size of the workspace in bytes.
pub fn workspace(g: &Graph) -> u64 {
    let results = g.ops(g.body()).flat_map(|op| {
        let offsets = buffer_offsets(g, op).unwrap_or(&[]);
        g.results(op).into_iter().zip(offsets.iter().copied())
    });
    let ends = results.filter_map(|(value, at)| Some(u64::try_from(at).ok()? + bytes(g, value)));
    ends.max().unwrap_or(0)
}

/// Checks the buffer assignment: every output is a complete result of one kernel, every result of a kernel has an
/// offset, and no two live results overlap.
///
/// # Errors
///
/// The first output that is not a complete result, or the first result whose offset is missing or overlaps another.
pub fn check(g: &Graph) -> Result<(), Box<Diagnostic>> {
    let outputs = check_outputs(g)?;
    let last = last_reads(g);
    let mut taken: BTreeMap<u64, (u64, ValueId)> = BTreeMap::new();
    for (number, op) in g.ops(g.body()).enumerate() {
        let kernel = buffer_offsets(g, op);
        if kernel.is_none() || g.def(op).has(Trait::Terminator) {
            continue;
        }
        let offsets = kernel.unwrap_or(&[]);
        let fail = |problem: String| {
            let error = VerifyError::Structure { problem };
            Err(Box::new(error.at(g.span(op))))
        };
        let results: Vec<ValueId> = g.results(op).into_iter().collect();
        if offsets.len() != results.len() {
            return fail(format!("`{}` has no memory offset", g.def(op).name));
        }
        for (index, (&value, &at)) in results.iter().zip(offsets).enumerate() {
            let Ok(start) = u64::try_from(at) else {
                if outputs.contains(&value) {
                    continue;
                }
                let own = g.label(value);
                return fail(format!("%{own} has no offset and is not an output"));
            };
            let end = start + bytes(g, value);
            let replaced = |held: ValueId| {
                let mut operands = g.operands(op).iter().enumerate();
                last.get(&held) == Some(&number)
                    && operands.any(|(operand, &input)| {
                        buffer(g, input) == held && may_replace(g, op, operand, index)
                    })
            };
            let before = taken
                .range(..end)
                .rev()
                .take_while(|(_, (upto, _))| *upto > start);
            if let Some((_, &(_, held))) = before
                .filter(|(from, (_, held))| !(**from == start && replaced(*held)))
                .find(|(from, (upto, _))| **from < end && *upto > start)
            {
                let (own, other) = (g.label(value), g.label(held));
                return fail(format!("%{own} overlaps %{other}, which is still live"));
            }
            if last.get(&value).is_some_and(|&read| read > number) && end > start {
                taken.insert(start, (end, value));
            }
        }
        taken.retain(|_, (_, held)| last.get(held).is_some_and(|&read| read > number));
    }
    Ok(())
}

/// Returns the buffers of the module's outputs.
///
/// # Errors
///
/// An output that is not a result of a kernel, or views only a part of it.
fn check_outputs(g: &Graph) -> Result<FxHashSet<ValueId>, Box<Diagnostic>> {
    let mut buffers = FxHashSet::default();
    for &output in g.outputs() {
        let own = buffer(g, output);
        let view = g.defining_op(output).and_then(|op| g.view::<View>(op));
        let source = g.defining_op(own);
        let is_result = source.is_some_and(|op| is_kernel(g, op));
        let is_whole = view.is_none_or(|view| view.is_whole(g));
        buffers.insert(own);
        if !(is_result && is_whole) {
            let label = g.label(output);
            let problem = format!("output %{label} is not a complete result of a kernel");
            let span = source.map_or(mind_diag::Span::FILE, |op| g.span(op));
            return Err(Box::new(VerifyError::Structure { problem }.at(span)));
        }
    }
    Ok(buffers)
}

/// Returns whether an op is a kernel, which has results in memory with an offset for each.
pub fn is_kernel(g: &Graph, op: OpId) -> bool {
    buffer_offsets(g, op).is_some() && !std::ptr::eq(g.def(op), View::DEF)
}
