//! What a nest computes.

use mind_ir::types::DType;
pub use mind_loops::node::Node;

use super::alive::Registers;
use crate::lower::{compute_lane, convert_lane};
use mind_vir::ir::Lane;

/// Where the elements of an operand are, over the dimensions of a nest.
///
/// Strides and the offset count elements from the pointer of the operand. A stride of 0 is the same element
/// for every index; strides may be negative.
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

/// Where a value goes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Output {
    /// The node whose value it is.
    pub node: usize,
    /// Where its elements go; of the dtype of the node.
    pub access: StridedAccess,
    /// An input that may lie in the same memory, with the same access: an element is not read any more once
    /// it has been written over.
    pub replaces: Option<usize>,
}

/// A program that runs at every position of a nest of loops.
///
/// It is well formed if arguments come before the nodes that take them, dtypes fit, accesses have a stride
/// for each outer dimension, an output with an inner stride of 0 is one value for a row, outputs do not
/// overlap each other or any input but the one they replace, and `total` comes with one outer dimension and
/// without reductions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Nest {
    /// Extents of the outer dimensions, outermost first.
    pub outer: Vec<usize>,
    /// Extent of the inner dimension: the one of vectors, and the one that reductions run over.
    pub inner: usize,
    /// The number of positions of a flat range cut into rows: row `r` has `min(inner, total - r * inner)`.
    pub total: Option<usize>,
    /// The operands.
    pub inputs: Vec<StridedAccess>,
    /// The values, arguments first.
    pub nodes: Vec<Node>,
    /// Where values go.
    pub outputs: Vec<Output>,
    /// Vectors in a round of each loop that reduces nothing; chosen by what a pass computes if `None`.
    pub unroll: Option<u32>,
    /// Whether quotients by what is the same for a whole row are products, corrected to the same bits: for targets on which
    /// a division takes longer than that.
    pub divides_by_products: bool,
    /// Registers of the target.
    pub registers: Registers,
}

/// A program of reductions over a dimension `depth`, for vectors of columns side by side.
///
/// It is as a [`Nest`] whose reductions run over `depth` rather than over the inner dimension, and
/// whose outputs all have one value for each column. Accesses have a stride for each outer dimension and then
/// one for `depth`, of which that of an output is 0; the inner stride of an output is 1.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Columns {
    /// Extents of the outer dimensions, outermost first.
    pub outer: Vec<usize>,
    /// How many elements of a column are reduced.
    pub depth: usize,
    /// How many columns lie side by side.
    pub inner: usize,
    /// The operands.
    pub inputs: Vec<StridedAccess>,
    /// The values, arguments first.
    pub nodes: Vec<Node>,
    /// Where values go.
    pub outputs: Vec<Output>,
    /// Vectors of columns that are reduced together, at most 8; chosen by what is computed if `None`.
    pub unroll: Option<u32>,
}

/// The dtype of a node.
pub(super) fn dtype(nodes: &[Node], inputs: &[StridedAccess], node: usize) -> DType {
    match nodes[node] {
        Node::Input(input) => inputs[input].dtype,
        ref node => node.dtype().expect("only an input has no dtype of its own"),
    }
}

/// The widest lanes that anything is computed in.
pub(super) fn widest_lane(nodes: &[Node], inputs: &[StridedAccess]) -> Lane {
    let lanes = (0..nodes.len()).map(|node| match nodes[node] {
        Node::Convert { from, to, .. } => convert_lane(from, to),
        _ => compute_lane(dtype(nodes, inputs, node)),
    });
    lanes.max_by_key(|lane| lane.bits()).unwrap_or(Lane::I8)
}
