//! Nests.

use mind_ir::opdef::Op;
use mind_ir::scalar::ScalarFn;
use mind_loops::memory::may_replace;
use mind_loops::ops::nest::Nest as NestOp;

use super::body::nodes;
use super::grid::{cost, params, range};
use super::{Strided, Unit};
use crate::lower::nest::{Access, Nest, Node, Output, lanes, nest, scratch_bytes};
use crate::program::error::ProgramError;
use crate::program::step::{Axis, Call, Step};
use crate::vir::{Builder, Function};

impl Unit<'_> {
    /// A nest: its last dimension, or the reduced one, inside; the others around it.
    pub(super) fn nest(&mut self, op: NestOp) -> Result<(), ProgramError> {
        let g = self.g;
        let dims: Vec<usize> = op.dims(g).iter().map(|&extent| extent as usize).collect();
        let inner = op.reduced(g).or(dims.len().checked_sub(1));
        let operands: Vec<Strided> = op
            .inputs(g)
            .iter()
            .map(|&value| self.strided(value))
            .collect();
        let results: Vec<Strided> = g
            .results(op.id())
            .into_iter()
            .map(|value| self.strided(value))
            .collect();
        let (nodes, yielded) = nodes(g, op.body(g));
        let access = |strided: &Strided, dtype| access(strided, dtype, dims.len(), inner);
        let inputs = operands.iter().zip(op.inputs(g));
        let inputs: Vec<Access> = inputs
            .map(|(strided, &value)| access(strided, g.ty(value).dtype))
            .collect();
        let outputs = results
            .iter()
            .zip(g.results(op.id()))
            .zip(yielded)
            .enumerate();
        let outputs = outputs.map(|(result, ((strided, value), node))| Output {
            node,
            access: access(strided, g.ty(value).dtype),
            replaces: (0..operands.len()).find(|&operand| {
                operands[operand].place == strided.place && may_replace(g, op.id(), operand, result)
            }),
        });
        let mut whole = Nest {
            outer: dims
                .iter()
                .enumerate()
                .filter(|&(axis, _)| Some(axis) != inner)
                .map(|(_, &extent)| extent)
                .collect(),
            inner: inner.map_or(1, |axis| dims[axis]),
            total: None,
            inputs,
            nodes,
            outputs: outputs.collect(),
        };
        if whole.outer.is_empty() && op.reduced(g).is_none() {
            let tile = op
                .tile(g)
                .first()
                .map_or(whole.inner, |&extent| extent as usize);
            cut(&mut whole, tile.max(1));
        }
        let grain = match (op.reduced(g).is_none() && dims.len() == 1, op.tile(g)) {
            (false, &[first, ..]) => first.max(1) as usize,
            _ => 1,
        };
        let work: usize = whole.nodes.iter().map(weight).sum();
        let points: usize = dims.iter().product();
        let pointers = operands
            .iter()
            .chain(&results)
            .map(|strided| strided.place)
            .collect();
        let grid = whole.outer.first().map(|&extent| Axis::Range {
            extent,
            grain: grain.min(extent.max(1)),
        });
        self.scratch_bytes = self.scratch_bytes.max(scratch_bytes(&whole, self.target));
        let width = lanes(&whole, self.target);
        let name = g.def(op.id()).name;
        let kernel = self.function(format!("{whole:?}"), name, || function(&whole, width));
        let call = Call {
            kernel,
            args: pointers,
            grid: grid.into_iter().collect(),
            cost: cost(points, work),
            op: name,
        };
        self.push(op.id(), Step::Call(call));
        Ok(())
    }
}

/// About how many simple operations a node is.
pub(super) fn weight(node: &Node) -> usize {
    match node {
        Node::Input(_) | Node::Constant { .. } => 0,
        Node::Apply { function, .. } => match function {
            ScalarFn::Exp | ScalarFn::Log | ScalarFn::Tanh | ScalarFn::Erf | ScalarFn::Sigmoid => {
                16
            }
            ScalarFn::Gelu => 32,
            ScalarFn::Div | ScalarFn::Sqrt => 6,
            _ => 1,
        },
        Node::Convert { .. } => 1,
        Node::Reduce { .. } => 2,
    }
}

/// The strides of an operand over the outer dimensions and the inner one. One that has fewer dimensions than
/// the nest lacks the inner one.
fn access(
    strided: &Strided,
    dtype: mind_ir::types::DType,
    rank: usize,
    inner: Option<usize>,
) -> Access {
    let mut outer = strided.strides.clone();
    let lacks = strided.strides.len() < rank;
    let inner = match inner {
        Some(axis) if !lacks => outer.remove(axis),
        _ => 0,
    };
    Access {
        dtype,
        offset: strided.offset,
        outer,
        inner,
    }
}

/// Cuts a flat nest into rows of `tile` positions.
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

fn function(whole: &Nest, width: u32) -> Function {
    let mut b = Builder::new("nest", width);
    let params = params(&mut b, whole.inputs.len() + whole.outputs.len());
    let (inputs, outputs) = params.pointers.split_at(whole.inputs.len());
    let rows = match whole.outer.is_empty() {
        true => (b.index(0), b.index(1)),
        false => range(&mut b),
    };
    nest(&mut b, whole, inputs, outputs, params.scratch, rows);
    b.finish()
}
