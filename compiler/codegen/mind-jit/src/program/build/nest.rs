//! Loop nests.

use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::types::DType;
use mind_loops::memory::may_replace;
use mind_loops::node;
use mind_loops::ops::nest::Nest as NestOp;
use smallvec::SmallVec;

use super::grid::{Params, Work};
use super::kernel::{Computation, KernelCall};
use super::{ProgramBuilder, Strided};
use crate::lower::nest::{
    Columns, Nest, Node, Output, Registers, StridedAccess, can_unroll, columns, columns_lanes,
    lanes, nest,
};
use crate::program::error::ProgramError;
use mind_vir::ir::Builder;
use mind_vir::program::Axis;
use mind_vir::target::TargetInfo;

/// The loop structure of a nest.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Shape {
    /// The innermost loop is over the last dimension, or over the reduced one.
    Rows(Nest),
    /// The reduced dimension is the last but one, and vectors are along the last.
    Columns(Columns),
}

impl Shape {
    fn outer(&self) -> &[usize] {
        match self {
            Shape::Rows(nest) => &nest.outer,
            Shape::Columns(columns) => &columns.outer,
        }
    }

    fn accesses(&mut self) -> impl Iterator<Item = &mut StridedAccess> {
        let (inputs, outputs) = match self {
            Shape::Rows(nest) => (&mut nest.inputs, &mut nest.outputs),
            Shape::Columns(columns) => (&mut columns.inputs, &mut columns.outputs),
        };
        let outputs = outputs.iter_mut().map(|output| &mut output.access);
        inputs.iter_mut().chain(outputs)
    }

    /// Makes an outer dimension the outermost one.
    fn put_first(&mut self, axis: usize) {
        let outer = match self {
            Shape::Rows(nest) => &mut nest.outer,
            Shape::Columns(columns) => &mut columns.outer,
        };
        outer[..=axis].rotate_right(1);
        self.accesses()
            .for_each(|access| access.outer[..=axis].rotate_right(1));
    }

    fn lanes(&self, target: &TargetInfo) -> u32 {
        match self {
            Shape::Rows(nest) => lanes(nest, target),
            Shape::Columns(columns) => columns_lanes(columns, target),
        }
    }

    pub(super) fn append(&self, b: &mut Builder, params: &Params) {
        match self {
            Shape::Rows(nest) => append_nest(b, nest, params),
            Shape::Columns(whole) => {
                let (inputs, outputs) = params.pointers.split_at(whole.inputs.len());
                let rows = params.task.rows(b, whole.outer.first().copied());
                columns(b, whole, inputs, outputs, rows);
            }
        }
    }
}

impl ProgramBuilder<'_> {
    /// Builds a nest. Its grid has the range of the parallel dimension.
    pub(super) fn nest(&mut self, op: NestOp) -> Result<(), ProgramError> {
        let (g, id) = (self.g, op.id());
        let dims: Vec<usize> = op.dims(g).iter().map(|&extent| extent as usize).collect();
        let operands: Vec<Strided> = op
            .inputs(g)
            .iter()
            .map(|&value| self.strided(value))
            .collect();
        let results = g.results(id).into_iter();
        let results: Vec<Strided> = results.map(|value| self.strided(value)).collect();
        let mut shape = self.shape(op, &dims, &operands, &results)?;
        let grain = share(g, op, &mut shape);
        let grid = grain.zip(shape.outer().first());
        let grid = grid.map(|(grain, &extent)| Axis::Range {
            extent,
            grain: grain.min(extent.max(1)),
        });
        let nodes = match &shape {
            Shape::Rows(nest) => &nest.nodes,
            Shape::Columns(columns) => &columns.nodes,
        };
        let work = nodes.iter().map(weight).sum();
        let values = op.inputs(g).iter().copied().chain(g.results(id));
        self.call(KernelCall {
            op: id,
            lanes: shape.lanes(self.target),
            computation: Computation::Nest(shape),
            args: self.regions(id, values)?,
            grid: grid.into_iter().collect(),
            work: Work::new(dims.iter().product(), work),
        });
        Ok(())
    }

    fn shape(
        &self,
        op: NestOp,
        dims: &[usize],
        operands: &[Strided],
        results: &[Strided],
    ) -> Result<Shape, ProgramError> {
        let (g, rank) = (self.g, dims.len());
        let (nodes, yielded) = node::read(g, op.body(g));
        let (reduced, inner) = (op.reduced(g), op.vector_axis(g));
        let is_columns = reduced.is_some() && inner != reduced;
        let unroll = u32::try_from(op.unroll(g))
            .ok()
            .filter(|&unroll| unroll > 0);
        let access = |strided: &Strided, value: ValueId| {
            let dtype = g.ty(value).dtype;
            if is_columns {
                column_access(strided, dtype, rank)
            } else {
                access(strided, dtype, rank, inner)
            }
        };
        let inputs = operands.iter().zip(op.inputs(g));
        let inputs = inputs
            .map(|(strided, &value)| access(strided, value))
            .collect();
        let outputs = results
            .iter()
            .zip(g.results(op.id()))
            .zip(yielded)
            .enumerate();
        let outputs = outputs.map(|(result, ((strided, value), node))| Output {
            node,
            access: access(strided, value),
            replaces: (0..operands.len()).find(|&operand| {
                operands[operand].buffer.start() == strided.buffer.start()
                    && may_replace(g, op.id(), operand, result)
            }),
        });
        let outputs = outputs.collect();
        if is_columns {
            return Ok(Shape::Columns(Columns {
                outer: dims[..rank - 2].to_vec(),
                depth: dims[rank - 2],
                inner: dims[rank - 1],
                inputs,
                nodes,
                outputs,
                unroll,
            }));
        }
        let outer = dims
            .iter()
            .enumerate()
            .filter(|&(axis, _)| Some(axis) != inner);
        let whole = Nest {
            outer: outer.map(|(_, &extent)| extent).collect(),
            inner: inner.map_or(1, |axis| dims[axis]),
            total: None,
            inputs,
            nodes,
            outputs,
            unroll,
            divides_by_products: self.target.divides_slowly(),
            registers: Registers::of(self.target),
        };
        if unroll.is_some() && !can_unroll(&whole) {
            return self.refuse(op.id(), NOTHING_TO_UNROLL);
        }
        Ok(Shape::Rows(whole))
    }
}

/// Why a nest is not unrolled.
pub(super) const NOTHING_TO_UNROLL: &str = "`unroll` requires a loop without a reduction, because a reduction \
    always has 64 partial results";

/// Makes the parallel dimension the outermost one. Returns the minimal number of its indices per task, or `None` if no
/// dimension is parallel.
fn share(g: &Graph, op: NestOp, shape: &mut Shape) -> Option<usize> {
    let shared = op.shared(g)?;
    let tile = op.tile(g).get(shared).map(|&extent| extent as usize);
    let (reduced, vector) = (op.reduced(g), op.vector_axis(g));
    if Some(shared) == vector {
        match shape {
            Shape::Rows(nest) => cut(nest, tile.unwrap_or(nest.inner).max(1)),
            Shape::Columns(columns) => cut_columns(columns, tile.unwrap_or(columns.inner).max(1)),
        }
        return Some(1);
    }
    let mut inside: SmallVec<[usize; 2]> = reduced.into_iter().chain(vector).collect();
    inside.dedup();
    let before = inside.iter().filter(|&&axis| axis < shared).count();
    shape.put_first(shared - before);
    Some(tile.unwrap_or(1).max(1))
}

/// Returns the strides of an operand over the outer dimensions, the reduced one and the last.
fn column_access(strided: &Strided, dtype: DType, rank: usize) -> StridedAccess {
    let mut outer = strided.strides.clone();
    let inner = outer.pop().unwrap_or(0);
    if strided.strides.len() < rank {
        outer.push(0);
    }
    StridedAccess {
        dtype,
        offset: strided.offset,
        outer,
        inner,
    }
}

/// Returns the estimated time of a node, in additions.
pub(super) fn weight(node: &Node) -> usize {
    match node {
        Node::Input(_) | Node::Constant { .. } => 0,
        Node::Apply { function, .. } => function.cost(),
        Node::Convert { .. } => 1,
        Node::Reduce { .. } => 2,
    }
}

/// Returns the strides of an operand over the outer dimensions and the inner one. An operand of lower rank than the
/// nest does not have the inner one.
fn access(strided: &Strided, dtype: DType, rank: usize, inner: Option<usize>) -> StridedAccess {
    let mut outer = strided.strides.clone();
    let lacks = strided.strides.len() < rank;
    let inner = match inner {
        Some(axis) if !lacks => outer.remove(axis),
        _ => 0,
    };
    StridedAccess {
        dtype,
        offset: strided.offset,
        outer,
        inner,
    }
}

/// Splits the positions of a flat nest into rows of `tile`.
fn cut(nest: &mut Nest, tile: usize) {
    let total = nest.inner;
    let tile = tile.min(total.max(1));
    nest.outer = vec![total.div_ceil(tile)];
    nest.total = Some(total);
    nest.inner = tile;
    let outputs = nest.outputs.iter_mut().map(|output| &mut output.access);
    for access in nest.inputs.iter_mut().chain(outputs) {
        access.outer = vec![access.inner * tile as i64];
    }
}

/// Splits the columns of a matrix into groups of `tile`, which must divide their number.
fn cut_columns(columns: &mut Columns, tile: usize) {
    columns.outer = vec![columns.inner / tile];
    columns.inner = tile;
    let outputs = columns.outputs.iter_mut().map(|output| &mut output.access);
    for access in columns.inputs.iter_mut().chain(outputs) {
        access.outer.insert(0, access.inner * tile as i64);
    }
}

/// Appends the rows of a nest that belong to the task.
pub(super) fn append_nest(b: &mut Builder, whole: &Nest, params: &Params) {
    let (inputs, outputs) = params.pointers.split_at(whole.inputs.len());
    let rows = params.task.rows(b, whole.outer.first().copied());
    nest(b, whole, inputs, outputs, rows);
}
