//! The computation of a nest.

use mind_ir::types::DType;
pub use mind_loops::node::Node;

use super::alive::Registers;
use crate::lower::{compute_lane, convert_lane};
use mind_vir::ir::Lane;

/// The element addresses of an operand as a function of loop indices.
///
/// Strides and the offset are in elements, relative to the operand's pointer. A stride of 0 broadcasts; strides may be
/// negative.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StridedAccess {
    /// Type of an element.
    pub dtype: DType,
    /// The element at index 0 of every dimension.
    pub offset: i64,
    /// The stride of each outer dimension, outermost first.
    pub outer: Vec<i64>,
    /// The stride of the inner dimension.
    pub inner: i64,
}

/// A value that is stored to an output.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Output {
    /// The node.
    pub node: usize,
    /// The access of its elements, with the dtype of the node.
    pub access: StridedAccess,
    /// An input that may share the output's memory with the same access, because each element is read before it is
    /// overwritten.
    pub replaces: Option<usize>,
}

/// A computation that runs at every position of a loop nest.
///
/// It is well formed if arguments precede the nodes that use them, dtypes fit, accesses have a stride for each outer
/// dimension, an output with an inner stride of 0 has one value per row, outputs do not alias each other or any input
/// except the one they replace, and `total` comes with one outer dimension and without reductions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Nest {
    /// Extents of the outer dimensions, outermost first.
    pub outer: Vec<usize>,
    /// Extent of the inner dimension, which is vectorised and reduced.
    pub inner: usize,
    /// The length of a flat range that is split into rows: row `r` has `min(inner, total - r * inner)` elements.
    pub total: Option<usize>,
    /// The operands.
    pub inputs: Vec<StridedAccess>,
    /// The values, in topological order.
    pub nodes: Vec<Node>,
    /// The stored values.
    pub outputs: Vec<Output>,
    /// Unroll factor, in vectors, of each loop without a reduction; chosen by register pressure and cost if `None`.
    pub unroll: Option<u32>,
    /// Whether divisions by a uniform value are replaced by multiplications, corrected to the same bits; for targets
    /// where division is slower.
    pub divides_by_products: bool,
    /// The target's register file.
    pub registers: Registers,
}

/// Reductions over a dimension `depth`, vectorised over adjacent columns.
///
/// This is like a [`Nest`] whose reductions run over `depth` instead of the inner dimension, and whose outputs have one
/// value per column. Accesses have a stride for each outer dimension, followed by one for `depth`, which is 0 for
/// outputs; the inner stride of an output is 1.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Columns {
    /// Extents of the outer dimensions, outermost first.
    pub outer: Vec<usize>,
    /// Extent of the reduced dimension.
    pub depth: usize,
    /// The number of adjacent columns.
    pub inner: usize,
    /// The operands.
    pub inputs: Vec<StridedAccess>,
    /// The values, in topological order.
    pub nodes: Vec<Node>,
    /// The stored values.
    pub outputs: Vec<Output>,
    /// Vectors of columns that are reduced together, at most 8; chosen by cost if `None`.
    pub unroll: Option<u32>,
}

/// Returns the dtype of a node.
pub(super) fn dtype(nodes: &[Node], inputs: &[StridedAccess], node: usize) -> DType {
    match nodes[node] {
        Node::Input(input) => inputs[input].dtype,
        ref node => node.dtype().expect("only an input has no dtype of its own"),
    }
}

/// Returns the widest lanes of any computation.
pub(super) fn widest_lane(nodes: &[Node], inputs: &[StridedAccess]) -> Lane {
    let lanes = (0..nodes.len()).map(|node| match nodes[node] {
        Node::Convert { from, to, .. } => convert_lane(from, to),
        _ => compute_lane(dtype(nodes, inputs, node)),
    });
    lanes.max_by_key(|lane| lane.bits()).unwrap_or(Lane::I8)
}
