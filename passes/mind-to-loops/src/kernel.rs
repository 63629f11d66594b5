//! Kernels before they are emitted as ops.

use mind_core::parts::Parts;
use mind_ir::OpId;
use mind_ir::types::{DType, QuantFormat};
use mind_loops::node::Node;
use mind_loops::ops::cumulative::Prefixes;

use crate::strided::StridedView;

/// An operand of a kernel.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Operand {
    /// The elements, over the dimensions of the kernel, or for a row over those without the reduced one.
    pub(crate) view: StridedView,
    /// Whether it lacks the reduced dimension.
    pub(crate) is_row: bool,
}

/// The numbers of dimensions of a product.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Matrix {
    /// Leading batch dimensions, which both sides have.
    pub(crate) batch: usize,
    /// Row dimensions, of the left side only.
    pub(crate) rows: usize,
    /// Column dimensions, of the right side only.
    pub(crate) columns: usize,
    /// The integers packed in an element.
    pub(crate) parts: Parts,
}

/// The kind of a kernel and the parameters of that kind.
#[derive(Clone, Debug)]
pub(crate) enum KernelKind {
    /// Runs its body at every position; `along` is the dimension of its reductions.
    Nest { along: Option<usize> },
    /// A batch of matrix products: `[batch.., rows.., k]` by `[batch.., k, columns..]`.
    Contract(Matrix),
    /// A convolution, with the strides and padding of the op.
    Window(OpId),
    /// Sliding windows, with the attributes of the op.
    Slide(OpId),
    /// A gather of slices along an axis.
    Gather { axis: i64 },
    /// A prefix operation along an axis.
    Cumulative { axis: i64, prefixes: Prefixes },
    /// A bitcast.
    Bitcast { dtype: DType },
    /// A product of integers by block-quantised weights.
    BlockProduct { format: QuantFormat },
    /// A concatenation along an axis.
    Join { axis: i64 },
    /// A call of the `eval` of its origin, with the extents of each result.
    Evaluate(Vec<Vec<usize>>),
    /// A sequence of kernels, run a few rows at a time. Its operands refer to kernels of the sequence by [`INNER`] plus
    /// their index.
    Block(Vec<Kernel>),
}

/// The index of the first kernel in a block, which distinguishes it from kernels outside.
pub(crate) const INNER: usize = usize::MAX / 2;

/// A kernel before it is emitted as an op.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) kind: KernelKind,
    /// The extents of the positions at which the body runs.
    pub(crate) dims: Vec<usize>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) body: Vec<Node>,
    /// The nodes of the results.
    pub(crate) outputs: Vec<usize>,
    /// The op from which it was lowered.
    pub(crate) origin: OpId,
}

impl Kernel {
    /// Returns the reduced dimension.
    pub(crate) fn along(&self) -> Option<usize> {
        match self.kind {
            KernelKind::Nest { along } => along,
            _ => None,
        }
    }

    /// Creates a nest over `dims` with an empty body.
    pub(crate) fn nest(dims: Vec<usize>, along: Option<usize>, origin: OpId) -> Kernel {
        Kernel {
            kind: KernelKind::Nest { along },
            dims,
            operands: Vec::new(),
            body: Vec::new(),
            outputs: Vec::new(),
            origin,
        }
    }

    /// Creates a nest that copies the elements of `view`.
    pub(crate) fn copy(view: StridedView, origin: OpId) -> Kernel {
        let view = view.squeezed();
        Kernel {
            operands: vec![Operand {
                view: view.clone(),
                is_row: false,
            }],
            body: vec![Node::Input(0)],
            outputs: vec![0],
            ..Kernel::nest(view.extents, None, origin)
        }
    }

    /// Creates a block from a sequence of kernels, which refer to each other from [`INNER`] on.
    pub(crate) fn block(chain: [Kernel; 3]) -> Kernel {
        let last = &chain[2];
        Kernel {
            dims: last.dims.clone(),
            operands: Vec::new(),
            body: Vec::new(),
            outputs: last.outputs.clone(),
            origin: last.origin,
            kind: KernelKind::Block(chain.into()),
        }
    }

    /// Returns the views that it reads.
    pub(crate) fn views_mut(&mut self) -> Box<dyn Iterator<Item = &mut StridedView> + '_> {
        let own = self.operands.iter_mut().map(|operand| &mut operand.view);
        match &mut self.kind {
            KernelKind::Block(chain) => {
                Box::new(own.chain(chain.iter_mut().flat_map(Kernel::views_mut)))
            }
            _ => Box::new(own),
        }
    }

    /// Returns whether the results are valid for a nest: if the reduced dimension is not the last, none varies along
    /// it.
    pub(crate) fn has_writable_results(&self) -> bool {
        let uniform = self.uniform();
        let is_last = |axis: usize| axis + 1 == self.dims.len();
        let mut outputs = self.outputs.iter();
        self.along().is_none_or(is_last) || outputs.all(|&node| uniform[node])
    }

    /// Returns whether results are written by an elementwise loop after the last reduction.
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

    /// Returns for each node whether it is invariant along the reduced dimension.
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

    /// Returns the extents of a result.
    pub(crate) fn extents(&self, output: usize) -> Vec<usize> {
        if let KernelKind::Evaluate(results) = &self.kind {
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
