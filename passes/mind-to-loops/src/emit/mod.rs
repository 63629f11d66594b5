//! Emits kernels as ops of the loops dialect.

mod block;
mod nest;
mod product;
mod slide;

use mind_core::ops::input::Input;
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef, Trait};
use mind_ir::types::QuantFormat;
use mind_ir::verify::VerifyError;
use mind_ir::{Graph, OpId, ValueId};
use mind_loops::extents::known;
use mind_loops::memory::buffer;
use mind_loops::node;
use mind_loops::ops::bitcast::Bitcast;
use mind_loops::ops::block_product::BlockProduct;
use mind_loops::ops::cumulative::Cumulative;
use mind_loops::ops::evaluate::Evaluate;
use mind_loops::ops::movement::{Gather, Join};
use mind_loops::ops::nest::Nest;
use mind_loops::ops::view::View;

use crate::kernel::{Kernel, KernelKind};
use crate::options::Options;
use crate::strided::{Source, StridedView};

/// The result of emitting ops. An error of a shape rule is a bug of the lowering.
pub(crate) type Emitted<T> = Result<T, Box<VerifyError>>;

/// Emits kernels at an insertion point.
pub(crate) struct Emitter<'o, 'g> {
    b: Builder<'g>,
    options: &'o Options,
    /// The results of each kernel of the group that was emitted so far.
    results: Vec<Vec<ValueId>>,
}

impl<'o, 'g> Emitter<'o, 'g> {
    /// Creates an emitter that inserts with `b`.
    pub(crate) fn new(b: Builder<'g>, options: &'o Options) -> Emitter<'o, 'g> {
        Emitter {
            b,
            options,
            results: Vec::new(),
        }
    }

    /// Returns the module.
    pub(crate) fn graph(&self) -> &Graph {
        self.b.graph
    }

    /// Emits the next kernel of the group.
    ///
    /// # Errors
    ///
    /// A bug of the lowering.
    pub(crate) fn kernel(&mut self, kernel: &Kernel) -> Emitted<()> {
        let results = match &kernel.kind {
            KernelKind::Nest { .. } => self.nest(kernel)?,
            KernelKind::Contract(matrix) => self.contract(kernel, *matrix)?,
            KernelKind::Window(origin) => self.window(kernel, *origin)?,
            KernelKind::Block(chain) => self.block(kernel, chain)?,
            KernelKind::Slide(origin) => vec![self.slide(kernel, *origin)?],
            KernelKind::Gather { axis } => {
                let operands = self.values(kernel);
                vec![Gather::with(*axis).build(&mut self.b, operands[0], operands[1])?]
            }
            KernelKind::Cumulative { axis, prefixes } => {
                let operands = self.values(kernel);
                let cumulative = Cumulative::with(*axis, prefixes.kind)
                    .exclusive(prefixes.exclusive)
                    .reverse(prefixes.reverse);
                vec![cumulative.build(&mut self.b, operands[0])?]
            }
            KernelKind::Bitcast { dtype } => {
                let operands = self.values(kernel);
                vec![Bitcast::with(*dtype).build(&mut self.b, operands[0])?]
            }
            KernelKind::BlockProduct { format } => vec![self.block_product(kernel, *format)?],
            KernelKind::Join { axis } => {
                let operands = self.values(kernel);
                vec![Join::with(*axis).build(&mut self.b, &operands)?]
            }
            KernelKind::Evaluate(_) => self.evaluate(kernel)?,
        };
        self.results.push(results);
        Ok(())
    }

    /// Emits a kernel with a body and returns its results.
    fn kernel_with_body(
        &mut self,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
        kernel: &Kernel,
        inputs: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Emitted<Vec<ValueId>>,
    ) -> Emitted<Vec<ValueId>> {
        let outputs = kernel.outputs.len();
        let op = (self.b).create_with_body(def, operands, attrs, outputs, |b, arguments| {
            let inputs = inputs(b, arguments)?;
            let values = node::write(b, &kernel.body, &inputs)?;
            let outputs = kernel.outputs.iter();
            Ok(outputs.map(|&node| values[node]).collect())
        })?;
        Ok(self.b.graph.results(op).into_iter().collect())
    }

    /// Emits a product by block-quantised weights, which are packed.
    fn block_product(&mut self, kernel: &Kernel, format: QuantFormat) -> Emitted<ValueId> {
        let operands = self.values(kernel);
        let blocks = self.pack(operands[2], 0)?;
        let product = BlockProduct::with(Some(format));
        product.build(&mut self.b, operands[0], operands[1], blocks)
    }

    /// Emits a `loops.evaluate` with the original op in its body.
    fn evaluate(&mut self, kernel: &Kernel) -> Emitted<Vec<ValueId>> {
        let operands = self.values(kernel);
        let (attrs, outputs) = (Evaluate::attrs(&[]), kernel.outputs.len());
        let body = |b: &mut Builder<'_>, arguments: &[ValueId]| {
            let copy = b.copy(kernel.origin, arguments);
            Ok(b.graph.results(copy).into_iter().collect())
        };
        let op = (self.b).create_with_body(Evaluate::DEF, &operands, &attrs, outputs, body)?;
        Ok(self.b.graph.results(op).into_iter().collect())
    }

    fn values(&mut self, kernel: &Kernel) -> Vec<ValueId> {
        let views = kernel.operands.iter().map(|operand| &operand.view);
        views.map(|view| self.value(view)).collect()
    }

    /// Returns the value that owns the memory of `source`.
    pub(crate) fn source(&self, source: Source) -> ValueId {
        match source {
            Source::Value(value) => value,
            Source::Kernel { kernel, result } => self.results[kernel][result],
        }
    }

    /// Returns a value with the elements of `view`: its source, or a view of it that is emitted.
    pub(crate) fn value(&mut self, view: &StridedView) -> ValueId {
        let source = self.source(view.source);
        if view.is_dense() && known(self.b.graph, source) == view.extents {
            return source;
        }
        let shape: Vec<i64> = view.extents.iter().map(|&extent| extent as i64).collect();
        let offset = if view.count() == 0 { 0 } else { view.offset };
        let emitted = View::with(&shape, &view.strides).offset(offset);
        let emitted = emitted.build(&mut self.b, source);
        emitted.unwrap_or_else(|why| panic!("a view is in its buffer: {why}"))
    }

    /// Emits a contiguous copy of the elements of `view`.
    pub(crate) fn copy(&mut self, view: &StridedView, origin: OpId) -> Emitted<StridedView> {
        let kernel = Kernel::copy(view.clone(), origin);
        let copy = Source::Value(self.nest(&kernel)?[0]);
        Ok(StridedView::whole(copy, view.extents.clone()))
    }

    /// Returns whether the elements of `source` are the same in every run once weights are bound.
    pub(crate) fn is_fixed(&self, source: Source) -> bool {
        is_fixed(&*self.b.graph, self.source(source), MOST_KERNELS)
    }
}

/// The longest chain of kernels that is searched for weights.
const MOST_KERNELS: usize = 4;

/// Returns whether a buffer is a weight or a constant, or is computed only from weights and constants by a chain of at
/// most `kernels` kernels.
fn is_fixed(g: &Graph, value: ValueId, kernels: usize) -> bool {
    g.defining_op(value).is_some_and(|op| {
        let is_weight = g.view::<Input>(op).is_some_and(|input| input.param(g));
        let is_kernel = g.is::<Nest>(op) || g.is::<Bitcast>(op) || g.is::<Join>(op);
        let reads_fixed = |&operand: &ValueId| is_fixed(g, buffer(g, operand), kernels - 1);
        is_weight
            || g.def(op).has(Trait::Constant)
            || is_kernel && kernels > 0 && g.operands(op).iter().all(reads_fixed)
    })
}

/// Converts extents to an attribute.
pub(crate) fn ints(extents: &[usize]) -> Vec<i64> {
    extents.iter().map(|&extent| extent as i64).collect()
}
