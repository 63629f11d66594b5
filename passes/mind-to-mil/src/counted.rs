//! Rewrites scans without stacked outputs to counted loops, because MIL does not have scans.

use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::control::{Scan, While, block, keep_declared, steps, yields};
use mind_core::ops::elementwise::{Add, Sub};
use mind_core::ops::index::Gather;
use mind_ir::builder::Builder;
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::types::Dim;
use mind_ir::verify::VerifyError;
use mind_ir::{OpId, ValueId};

/// Replaces each scan of known length without stacked outputs by a loop.
pub(crate) fn count_scans(g: &mut Graph) {
    let ops: Vec<OpId> = g.walk().filter(|&op| g.is::<Scan>(op)).collect();
    // Inner scans first, because the loop gets a copy of the body.
    for op in ops.into_iter().rev() {
        let scan = Scan::from_id(op);
        let Some(counted) = end(g, scan).and_then(|end| counted(g, scan, end).ok()) else {
            continue;
        };
        let results = g.results(op).into_iter();
        for (old, new) in results.zip(g.results(counted).into_iter().skip(1)) {
            g.swap_labels(old, new);
            g.replace_all_uses(old, new);
        }
        g.erase(op);
    }
}

/// Returns the trip count of the loop that replaces a scan; `None` if the scan stays.
fn end(g: &Graph, scan: Scan) -> Option<i32> {
    let Dim::Fixed(steps) = steps(scan, g).ok()? else {
        return None;
    };
    let stacks = yields(g, scan.id(), 0).len() > scan.initial(g).len();
    let becomes_loop = !stacks && keeps_types(g, scan);
    i32::try_from(steps).ok().filter(|_| becomes_loop)
}

/// Returns whether the body takes the carried values with the types of their initial values.
fn keeps_types(g: &Graph, scan: Scan) -> bool {
    let arguments = g.arguments(block(g, scan.id(), 0));
    let mut carried = scan.initial(g).iter().zip(arguments);
    carried.all(|(&initial, argument)| g.type_id(initial) == g.type_id(argument))
}

/// Returns the loop, whose first carried value is the step counter.
fn counted(g: &mut Graph, scan: Scan, end: i32) -> Result<OpId, Box<VerifyError>> {
    let op = scan.id();
    let b = &mut Builder::before(g, op);
    let mut operands = vec![number(b, 0)];
    operands.extend(scan.operands(b.graph));
    let carried = 1 + scan.initial(b.graph).len();
    let attrs = While::attrs(carried as i64);
    b.create_with_bodies(While::DEF, &operands, &attrs, carried, |region, b, own| {
        let counter = own[0];
        if region == 0 {
            let end = number(b, end);
            let attrs = Compare::attrs(Direction::Lt);
            return Ok(vec![b.one(Compare::DEF, &[counter, end], &attrs)?]);
        }
        let body = block(b.graph, op, 0);
        let old = b.graph.arguments(body);
        let declared = old.into_iter().zip(own[1..carried].iter().copied());
        keep_declared(b.graph, declared);
        let one = number(b, 1);
        let next = b.one(Add::DEF, &[counter, one], &Add::attrs())?;
        let mut arguments = own[1..].to_vec();
        for (at, axis) in scan.input_axes(b.graph).into_iter().enumerate() {
            let place = if scan.is_input_reversed(b.graph, at) {
                let last = number(b, end - 1);
                b.one(Sub::DEF, &[last, counter], &Sub::attrs())?
            } else {
                counter
            };
            let slices = &mut arguments[carried - 1 + at];
            *slices = Gather::with().axis(axis as i64).build(b, *slices, place)?;
        }
        let yielded = b.copy_block(body, old.into_iter().zip(arguments).collect());
        Ok([vec![next], yielded].concat())
    })
}

fn number(b: &mut Builder<'_>, value: i32) -> ValueId {
    mind_core::constant(b, &Tensor::scalar(value))
}
