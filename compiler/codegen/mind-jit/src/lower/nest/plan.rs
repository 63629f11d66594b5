//! Assigns the nodes of a kernel to passes over a row, and stored values to buffers.

use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, NarrowFloat};

use crate::lower::storage_lane;

use super::program::{Nest, Node, Output, StridedAccess, dtype};

/// Maximum size of stored values in scratch memory; beyond it, output rows are used.
const STORED_BYTES: usize = 256 << 10;
/// Maximum cost of recomputing a value in a later pass instead of storing it, in operations on `f32`.
const CHEAP: usize = 8;

/// The buffer of a value that one pass stores for a later one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Location {
    /// Scratch memory, at this offset.
    Scratch(usize),
    /// In the row of an output.
    Output(usize),
}

/// A value that is stored for later passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredValue {
    pub node: usize,
    /// The pass that computes it.
    pub pass: usize,
    pub place: Location,
}

/// One traversal of the row.
#[derive(Clone, Debug, Default)]
pub(super) struct Pass {
    /// Reductions whose results are available after it.
    pub reduces: Vec<usize>,
    /// Values that it stores for later passes.
    pub stores: Vec<StoredValue>,
    /// Outputs that it writes; those with one value per row are written before it.
    pub outputs: Vec<usize>,
}

/// The assignment of the nodes of a nest to passes.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub passes: Vec<Pass>,
    /// Whether the value of a node varies along the row.
    pub varies: Vec<bool>,
    pub stored: Vec<Option<StoredValue>>,
    /// Bytes of scratch memory.
    pub scratch_bytes: usize,
    /// Offset of the scratch memory through which a vector is scattered.
    pub spread_offset: usize,
}

impl Plan {
    pub fn of(n: &Nest) -> Plan {
        let shape = NodeProperties::of(&n.nodes, &n.inputs, &n.outputs, |access| access.inner != 0);
        let mut written: Vec<usize> = (n.outputs.iter())
            .map(|output| shape.levels[output.node])
            .collect();
        // Terminates, because each iteration moves an output to a later pass and the number of passes is bounded.
        loop {
            let demand = Demand::of(n, &shape, &written);
            let late = |(place, output): (usize, &Output)| {
                let last = demand.last_read[output.replaces?]?;
                (last > written[place]).then_some((place, last))
            };
            let Some((place, last)) = n.outputs.iter().enumerate().find_map(late) else {
                return demand.assign(n, shape, &written);
            };
            written[place] = last;
        }
    }
}

/// Returns passes for outputs that are written after all reductions, recomputing every value in each pass that needs
/// it.
///
/// `reads_many` returns whether an operand has more than one element along the reduced dimension.
pub(super) fn by_levels(
    nodes: &[Node],
    inputs: &[StridedAccess],
    outputs: &[Output],
    reads_many: impl Fn(&StridedAccess) -> bool,
) -> Plan {
    let shape = NodeProperties::of(nodes, inputs, outputs, reads_many);
    let last = outputs.iter().map(|output| shape.levels[output.node]).max();
    let mut passes = vec![Pass::default(); last.unwrap_or(0)];
    shape.spread_reductions(nodes, &mut passes);
    Plan {
        passes,
        varies: shape.varies,
        stored: vec![None; nodes.len()],
        scratch_bytes: 0,
        spread_offset: 0,
    }
}

/// Properties of nodes that do not depend on the assignment to passes.
struct NodeProperties {
    levels: Vec<usize>,
    varies: Vec<bool>,
    live: Vec<bool>,
}

impl NodeProperties {
    /// `reads_many` returns whether an operand has more than one element along the reduced dimension.
    fn of(
        nodes: &[Node],
        inputs: &[StridedAccess],
        outputs: &[Output],
        reads_many: impl Fn(&StridedAccess) -> bool,
    ) -> NodeProperties {
        let (mut levels, mut varies) = (Vec::new(), Vec::new());
        for node in nodes {
            let (mut level, mut varied) = (0, false);
            node.args().iter().for_each(|&arg| {
                level = level.max(levels[arg]);
                varied |= varies[arg];
            });
            match node {
                Node::Reduce { .. } => (level, varied) = (level + 1, false),
                Node::Input(input) => varied = reads_many(&inputs[*input]),
                _ => {}
            }
            levels.push(level);
            varies.push(varied);
        }
        let mut live = vec![false; nodes.len()];
        for output in outputs {
            live[output.node] = true;
        }
        for node in (0..nodes.len()).rev() {
            if live[node] {
                nodes[node].args().iter().for_each(|&arg| live[arg] = true);
            }
        }
        NodeProperties {
            levels,
            varies,
            live,
        }
    }

    /// Assigns each reduction to the pass that completes it.
    fn spread_reductions(&self, nodes: &[Node], passes: &mut [Pass]) {
        for (node, kind) in nodes.iter().enumerate() {
            if matches!(kind, Node::Reduce { .. }) && self.live[node] {
                passes[self.levels[node] - 1].reduces.push(node);
            }
        }
    }
}

/// Dependences between passes, for outputs written in given passes.
struct Demand {
    /// The first pass that computes each node.
    first: Vec<Option<usize>>,
    /// The last pass that loads the stored value of each node.
    last_load: Vec<Option<usize>>,
    /// The last pass that reads each input.
    last_read: Vec<Option<usize>>,
    passes: usize,
}

impl Demand {
    fn of(n: &Nest, shape: &NodeProperties, written: &[usize]) -> Demand {
        let reduced = |pass: usize| {
            let reduces = (0..n.nodes.len()).filter(move |&node| {
                matches!(n.nodes[node], Node::Reduce { .. })
                    && shape.live[node]
                    && shape.levels[node] == pass + 1
            });
            reduces.map(|node| match n.nodes[node] {
                Node::Reduce { arg, .. } => arg,
                _ => node,
            })
        };
        let mut demand = Demand {
            first: vec![None; n.nodes.len()],
            last_load: vec![None; n.nodes.len()],
            last_read: vec![None; n.inputs.len()],
            passes: 1 + written.iter().copied().max().unwrap_or(0),
        };
        for pass in 0..demand.passes {
            let results = n.outputs.iter().zip(written);
            let results = results.filter(|&(_, &at)| at == pass);
            let roots: Vec<usize> = (reduced(pass))
                .chain(results.map(|(output, _)| output.node))
                .collect();
            for root in roots {
                demand.need(n, shape, root, pass);
            }
        }
        demand
    }

    fn need(&mut self, n: &Nest, shape: &NodeProperties, node: usize, pass: usize) {
        if !shape.varies[node] {
            return;
        }
        if let Node::Input(input) = n.nodes[node] {
            self.last_read[input] = Some(pass);
            return;
        }
        match self.first[node] {
            Some(first) if first == pass => return,
            Some(_) if self.last_load[node].is_some() || self.cost(n, shape, node) > CHEAP => {
                self.last_load[node] = Some(pass);
                return;
            }
            Some(_) => {}
            None => self.first[node] = Some(pass),
        }
        (n.nodes[node].args().iter()).for_each(|&arg| self.need(n, shape, arg, pass));
    }

    /// Returns the cost of recomputing `node` from inputs and stored values; stops above the threshold.
    fn cost(&self, n: &Nest, shape: &NodeProperties, node: usize) -> usize {
        if !shape.varies[node] || matches!(n.nodes[node], Node::Input(_)) {
            return 0;
        }
        let mut cost = weight(&n.nodes[node]);
        n.nodes[node].args().iter().for_each(|&arg| {
            if cost <= CHEAP && self.last_load[arg].is_none() {
                cost += self.cost(n, shape, arg);
            }
        });
        cost
    }

    fn assign(self, n: &Nest, shape: NodeProperties, written: &[usize]) -> Plan {
        let mut passes = vec![Pass::default(); self.passes];
        for (place, &pass) in written.iter().enumerate() {
            passes[pass].outputs.push(place);
        }
        shape.spread_reductions(&n.nodes, &mut passes);
        let mut stored = vec![None; n.nodes.len()];
        let mut rows_taken = vec![false; n.outputs.len()];
        let mut scratch_bytes = 0;
        for (node, slot) in stored.iter_mut().enumerate() {
            let (Some(pass), Some(last)) = (self.first[node], self.last_load[node]) else {
                continue;
            };
            let bytes = n.inner * dtype(&n.nodes, &n.inputs, node).size();
            let row = (scratch_bytes + bytes > STORED_BYTES)
                .then(|| self.free_row(n, node, (pass, last), written, &rows_taken))
                .flatten();
            let place = match row {
                Some(row) => {
                    rows_taken[row] = true;
                    Location::Output(row)
                }
                None => {
                    scratch_bytes += bytes.next_multiple_of(64);
                    Location::Scratch(scratch_bytes - bytes.next_multiple_of(64))
                }
            };
            let value = StoredValue { node, pass, place };
            passes[pass].stores.push(value);
            *slot = Some(value);
        }
        for pass in (0..passes.len()).rev() {
            if self.has_long_reductions(n, &passes[pass], pass) {
                separate_reductions(&mut passes, &mut stored, pass);
            }
        }
        // A uniform value is written once, unless the output has an element for each position.
        let is_spread = n.outputs.iter().any(|output| {
            let stride = output.access.inner;
            stride != 1 && (stride != 0 || shape.varies[output.node])
        });
        /// Size of the widest vector.
        const SPREAD_BYTES: usize = 64;
        Plan {
            passes,
            varies: shape.varies,
            stored,
            spread_offset: scratch_bytes,
            scratch_bytes: scratch_bytes + if is_spread { SPREAD_BYTES } else { 0 },
        }
    }

    /// Returns whether the inputs of all reductions of a pass are expensive to compute and stored in any case.
    fn has_long_reductions(&self, n: &Nest, pass: &Pass, number: usize) -> bool {
        let is_kept = |&node: &usize| match n.nodes[node] {
            Node::Reduce { arg, .. } => pass.stores.iter().any(|stored| stored.node == arg),
            _ => false,
        };
        let computed = (0..n.nodes.len()).filter(|&node| self.first[node] == Some(number));
        !pass.reduces.is_empty()
            && pass.reduces.iter().all(is_kept)
            && is_long(computed.map(|node| &n.nodes[node]))
    }

    /// Returns an output whose row is free to hold `node` from the first of these passes to the last.
    fn free_row(
        &self,
        n: &Nest,
        node: usize,
        (first, last): (usize, usize),
        written: &[usize],
        taken: &[bool],
    ) -> Option<usize> {
        let lane = storage_lane(dtype(&n.nodes, &n.inputs, node));
        (0..n.outputs.len()).find(|&place| {
            let output = &n.outputs[place];
            let is_read_later = |input: usize| self.last_read[input].is_some_and(|at| at > first);
            output.access.inner == 1
                && storage_lane(output.access.dtype) == lane
                && !taken[place]
                && written[place] >= last
                && !output.replaces.is_some_and(is_read_later)
        })
    }
}

/// Moves the reductions of a pass to a separate pass after it, which loads the stored values.
///
/// Partial results take half of the registers; without them, computations of several vectors can be interleaved.
fn separate_reductions(passes: &mut Vec<Pass>, stored: &mut [Option<StoredValue>], number: usize) {
    let reduces = std::mem::take(&mut passes[number].reduces);
    let listed = passes.iter_mut().flat_map(|pass| &mut pass.stores);
    for stored in stored.iter_mut().flatten().chain(listed) {
        stored.pass += usize::from(stored.pass > number);
    }
    let sums = Pass {
        reduces,
        ..Pass::default()
    };
    passes.insert(number + 1, sums);
}

/// Returns whether the loop body is too long for the out-of-order window to overlap two iterations.
pub fn is_long<'n>(nodes: impl IntoIterator<Item = &'n Node>) -> bool {
    const LONG: usize = 12;
    nodes.into_iter().map(weight).sum::<usize>() > LONG
}

/// Returns the cost of a node, in additions of `f32` vectors.
pub(super) fn weight(node: &Node) -> usize {
    let rounding = |dtype: DType| match dtype.narrow_float() {
        Some(NarrowFloat::F16) => 2,
        Some(NarrowFloat::BF16) => 7,
        None => 0,
    };
    match node {
        Node::Input(_) | Node::Constant { .. } | Node::Reduce { .. } => 0,
        Node::Convert { from, to, .. } if *from == DType::F64 => 1 + 2 * rounding(*to),
        Node::Convert { to, .. } => 1 + rounding(*to),
        // Integers are divided lane by lane.
        Node::Apply {
            function: ScalarFn::Div | ScalarFn::Mod | ScalarFn::Remainder,
            dtype,
            ..
        } if dtype.is_int() => 4 * ScalarFn::Div.cost(),
        Node::Apply {
            function, dtype, ..
        } => function.cost() + rounding(*dtype),
    }
}
