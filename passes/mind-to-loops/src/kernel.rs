//! Kernels before they are ops.

use mind_core::parts::Parts;
use mind_ir::OpId;
use mind_ir::types::{DType, QuantFormat};
use mind_loops::node::Node;
use mind_loops::ops::cumulative::Prefixes;

use crate::strided::StridedView;

/// What a kernel reads.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Operand {
    /// The elements: over the kernel's dimensions, or over those without the reduced one for a row.
    pub(crate) place: StridedView,
    /// Whether it lacks the reduced dimension.
    pub(crate) is_row: bool,
}

/// The dimensions of a product.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Matrix {
    /// Dimensions that both sides have, in front.
    pub(crate) batch: usize,
    /// Dimensions of the left side alone.
    pub(crate) rows: usize,
    /// Dimensions of the right side alone.
    pub(crate) columns: usize,
    /// The integers that elements hold.
    pub(crate) parts: Parts,
}

/// What a kernel does besides its body.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Runs its body at every position; the dimension that its reductions run over.
    Nest { along: Option<usize> },
    /// Multiplies stacks of matrices: `[batch.., rows.., k]` by `[batch.., k, columns..]`.
    Contract(Matrix),
    /// Convolves; the op says with which strides and padding.
    Window(OpId),
    /// Slides windows; the op says how.
    Slide(OpId),
    /// Takes slices along an axis.
    Gather { axis: i64 },
    /// Keeps what the elements along an axis up to each place are combined to.
    Cumulative { axis: i64, prefixes: Prefixes },
    /// Copies bits as elements of another dtype.
    Bitcast { dtype: DType },
    /// Integers by blocks of quantised numbers.
    BlockProduct { format: QuantFormat },
    /// Puts operands one after the other along an axis.
    Join { axis: i64 },
    /// Runs the `eval` of its origin, with the extents of each result.
    Evaluate(Vec<Vec<usize>>),
    /// Kernels in a row, a few rows at a time. Their places count the kernels here.
    Block(Vec<Kernel>),
}

/// What the numbers of the kernels inside a block count from.
pub(crate) const INNER: usize = usize::MAX / 2;

/// A kernel before it is an op.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) kind: Kind,
    /// The extents of the positions that the body runs at.
    pub(crate) dims: Vec<usize>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) body: Vec<Node>,
    /// The nodes that are written.
    pub(crate) outputs: Vec<usize>,
    /// The op that it comes from.
    pub(crate) origin: OpId,
}

impl Kernel {
    /// The reduced dimension.
    pub(crate) fn along(&self) -> Option<usize> {
        match self.kind {
            Kind::Nest { along } => along,
            _ => None,
        }
    }

    /// A nest over `dims` that does nothing yet.
    pub(crate) fn nest(dims: Vec<usize>, along: Option<usize>, origin: OpId) -> Kernel {
        Kernel {
            kind: Kind::Nest { along },
            dims,
            operands: Vec::new(),
            body: Vec::new(),
            outputs: Vec::new(),
            origin,
        }
    }

    /// A nest that writes the elements at `place`, as they are.
    pub(crate) fn copy(place: StridedView, origin: OpId) -> Kernel {
        let place = place.squeezed();
        Kernel {
            operands: vec![Operand {
                place: place.clone(),
                is_row: false,
            }],
            body: vec![Node::Input(0)],
            outputs: vec![0],
            ..Kernel::nest(place.extents, None, origin)
        }
    }

    /// Kernels in a row as one; what they read of each other counts from [`INNER`].
    pub(crate) fn block(chain: [Kernel; 3]) -> Kernel {
        let last = &chain[2];
        Kernel {
            dims: last.dims.clone(),
            operands: Vec::new(),
            body: Vec::new(),
            outputs: last.outputs.clone(),
            origin: last.origin,
            kind: Kind::Block(chain.into()),
        }
    }

    /// The places that it reads.
    pub(crate) fn places_mut(&mut self) -> Box<dyn Iterator<Item = &mut StridedView> + '_> {
        let own = self.operands.iter_mut().map(|operand| &mut operand.place);
        match &mut self.kind {
            Kind::Block(chain) => {
                Box::new(own.chain(chain.iter_mut().flat_map(Kernel::places_mut)))
            }
            _ => Box::new(own),
        }
    }

    /// Whether nothing that it writes varies along a reduced dimension that is not the last.
    pub(crate) fn reduces_what_it_can_write(&self) -> bool {
        let uniform = self.uniform();
        let is_last = |axis: usize| axis + 1 == self.dims.len();
        let mut outputs = self.outputs.iter();
        self.along().is_none_or(is_last) || outputs.all(|&node| uniform[node])
    }

    /// Whether something is written, at each position, by a loop that reduces nothing: one after all reductions.
    pub(crate) fn writes_after_reducing(&self) -> bool {
        let mut levels: Vec<usize> = Vec::with_capacity(self.body.len());
        for node in &self.body {
            let before = node.args().iter().map(|&arg| levels[arg]).max();
            let own = usize::from(matches!(node, Node::Reduce { .. }));
            levels.push(before.unwrap_or(0) + own);
        }
        let last = self.outputs.iter().map(|&node| levels[node]).max();
        let uniform = self.uniform();
        let mut outputs = self.outputs.iter();
        outputs.any(|&node| Some(levels[node]) == last && !uniform[node])
    }

    /// Whether each node is the same all along the reduced dimension.
    pub(crate) fn uniform(&self) -> Vec<bool> {
        let mut uniform: Vec<bool> = Vec::with_capacity(self.body.len());
        for node in &self.body {
            let is = match node {
                Node::Input(index) => self.operands[*index].is_row,
                Node::Reduce { .. } => true,
                _ => node.args().iter().all(|&arg| uniform[arg]),
            };
            uniform.push(is && self.along().is_some());
        }
        uniform
    }

    /// The extents of an output.
    pub(crate) fn extents(&self, output: usize) -> Vec<usize> {
        if let Kind::Evaluate(results) = &self.kind {
            return results[output].clone();
        }
        let mut extents = self.dims.clone();
        if let Some(axis) = self.along()
            && self.uniform()[self.outputs[output]]
        {
            extents.remove(axis);
        }
        extents
    }
}
