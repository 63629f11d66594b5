//! Fusion of ops into one kernel.
//!
//! [`mind_ir::kernel`] decides which ops fuse, both for the pass `fuse` and for this lowering.

use mind_ir::kernel::{AttentionStage, KernelForm, attention_stages, fits_columns};
use mind_ir::opdef::{Op, Trait};
use mind_ir::{Graph, OpId, ValueId};
use mind_loops::extents::known;
use mind_loops::node::Node;
use mind_tensor::ops::contract::Contract;
use mind_tensor::ops::map::Map;
use mind_tensor::ops::reduce::Reduce;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::kernel::{INNER, Kernel, KernelKind, Operand};
use crate::lowering::LoopLowering;
use crate::steps::Steps;
use crate::strided::{Source, StridedView};

/// A kernel and the values that it computes for others.
type Fused = (Kernel, Vec<ValueId>);

impl LoopLowering {
    /// Fuses ops that have this form into one kernel, which is omitted if it has no users. Returns whether that is
    /// possible.
    pub(crate) fn fuse(&mut self, g: &Graph, steps: &Steps<'_>, form: KernelForm) -> bool {
        let before = self.kernels.len();
        let fused = match form {
            KernelForm::Elementwise | KernelForm::Rows => self.nest(g, steps),
            KernelForm::Contraction => self.contraction(g, steps),
            KernelForm::Attention => self.attention(g, steps),
        };
        let Some((kernel, values)) = fused else {
            self.kernels.truncate(before);
            return false;
        };
        if !values.is_empty() {
            let views = self.push(kernel);
            for (value, view) in values.into_iter().zip(views) {
                let view = view.reshaped(&known(g, value));
                let view = view.expect("a dense buffer has any shape");
                self.views.insert(value, view);
            }
        }
        true
    }

    /// Fuses elementwise ops and reductions over one iteration space.
    fn nest(&mut self, g: &Graph, steps: &Steps<'_>) -> Option<Fused> {
        let last = steps.computing().last()?;
        let reduce = steps.computing().find_map(|op| g.view::<Reduce>(op));
        let space = match reduce {
            None => Space::flat(known(g, g.results(last).get(0))),
            Some(reduce) => {
                let shape = known(g, reduce.input(g));
                let rows = Space::rows(shape.clone(), reduce.axes(g));
                let input = match steps.of(reduce.input(g)) {
                    Some(_) => StridedView::whole(Source::Value(reduce.input(g)), shape),
                    None => self.view_of(reduce.input(g)),
                };
                if fits_columns(&steps.steps()) {
                    rows.with_columns(&input)
                } else {
                    rows
                }
            }
        };
        let mut builder = KernelBuilder::new(space.kernel(last));
        builder.add_all(
            g,
            steps,
            |_| true,
            |op, value| space.operand(self, op, value),
        );
        builder.finish(g, steps)
    }

    /// Fuses a product or a convolution with its epilogue.
    fn contraction(&mut self, g: &Graph, steps: &Steps<'_>) -> Option<Fused> {
        let product = steps.computing().find(|&op| steps.contracts(op))?;
        self.product(g, steps, product, |_| true).finish(g, steps)
    }

    /// Fuses a product with the ops of its epilogue for which `is_wanted` holds.
    fn product(
        &mut self,
        g: &Graph,
        steps: &Steps<'_>,
        product: OpId,
        is_wanted: impl Fn(OpId) -> bool,
    ) -> KernelBuilder {
        let mut builder = KernelBuilder::new(self.contract_or_window(g, product));
        builder.nodes.insert(g.result(product), 0);
        let wanted = |op| op != product && is_wanted(op);
        builder.add_all(g, steps, wanted, |_, value| Operand {
            view: self.view_of(value),
            is_row: false,
        });
        builder
    }

    /// Fuses attention: a product, ops on the rows of its result, and a product with these rows on the left side.
    fn attention(&mut self, g: &Graph, steps: &Steps<'_>) -> Option<Fused> {
        let products = || steps.computing().filter(|&op| steps.contracts(op));
        let (first, second) = (products().next()?, products().last()?);
        let stages = attention_stages(&steps.steps(), steps.of(g.result(second))?);
        let stage = |op: OpId| steps.of(g.results(op).get(0)).map(|step| stages[step]);
        let is_in = |wanted: AttentionStage| move |op: OpId| stage(op) == Some(wanted);
        let shape = known(g, g.result(first));
        let inner = |kernel: usize| Source::Kernel {
            kernel: INNER + kernel,
            result: 0,
        };

        let mut scores = self.product(g, steps, first, is_in(AttentionStage::Scores));
        let rows_read = steps
            .computing()
            .filter(|&op| stage(op) == Some(AttentionStage::Rows));
        let mut rows_read = rows_read.flat_map(|op| g.operands(op).iter().copied());
        let score = rows_read.find(|value| scores.nodes.contains_key(value))?;
        scores.yields(score);

        let space = Space::rows(shape.clone(), &[shape.len() as i64 - 1]);
        let mut rows = KernelBuilder::new(space.kernel(second));
        let view = StridedView::whole(inner(0), shape.clone()).permuted(&space.order);
        let view = space.folded(view)?;
        let node = rows.operand(Operand {
            view,
            is_row: false,
        });
        rows.nodes.insert(score, node);
        let left = g.view::<Contract>(second)?.lhs(g);
        rows.add_all(g, steps, is_in(AttentionStage::Rows), |op, value| {
            space.operand(self, op, value)
        });
        rows.yields(left);

        self.views.insert(left, StridedView::whole(inner(1), shape));
        let epilogue = self.product(g, steps, second, is_in(AttentionStage::Epilogue));
        self.views.remove(&left);
        let (last, values) = epilogue.finish(g, steps)?;
        Some((Kernel::block([scores.kernel, rows.kernel, last]), values))
    }
}

/// An iteration space and its dimensions in a nest.
struct Space {
    shape: Vec<usize>,
    /// The axes of the nest's dimensions: the kept ones, then the reduced ones.
    order: Vec<usize>,
    kept: usize,
    is_reduced: bool,
    /// Whether the reduced dimension is the last but one.
    has_columns: bool,
}

impl Space {
    /// Returns the space of `shape` without reductions.
    fn flat(shape: Vec<usize>) -> Space {
        let order: Vec<usize> = (0..shape.len()).filter(|&axis| shape[axis] != 1).collect();
        Space {
            kept: order.len(),
            shape,
            order,
            is_reduced: false,
            has_columns: false,
        }
    }

    /// Returns the space of `shape` with the positions along `axes` reduced.
    fn rows(shape: Vec<usize>, axes: &[i64]) -> Space {
        let is_reduced = |axis: &usize| axes.contains(&(*axis as i64));
        let kept = (0..shape.len()).filter(|axis| !is_reduced(axis) && shape[*axis] != 1);
        let mut order: Vec<usize> = kept.collect();
        let kept = order.len();
        order.extend((0..shape.len()).filter(is_reduced));
        Space {
            shape,
            order,
            kept,
            is_reduced: true,
            has_columns: false,
        }
    }

    /// Moves the reduced dimension to the last but one, if the last kept dimension of `input` is contiguous, so that
    /// the nest vectorises columns.
    fn with_columns(mut self, input: &StridedView) -> Space {
        let rows = self.folded(input.permuted(&self.order));
        self.has_columns = rows.is_some_and(|rows| match self.kept.checked_sub(1) {
            None => false,
            Some(last) => {
                rows.strides[last] == 1
                    && rows.strides[self.kept] != 1
                    && rows.extents[self.kept] != 1
            }
        });
        self
    }

    /// Returns a nest over the space with an empty body.
    fn kernel(&self, origin: OpId) -> Kernel {
        let extents = self.order.iter().map(|&axis| self.shape[axis]).collect();
        let whole = self.folded(StridedView::whole(NOWHERE, extents));
        let dims = whole.expect("a dense buffer collapses").extents;
        let along = self
            .is_reduced
            .then(|| self.kept - usize::from(self.has_columns));
        Kernel::nest(dims, along, origin)
    }

    /// Converts a view with the axes of `order` to the dimensions of the nest; `None` if the reduced ones cannot be
    /// merged.
    fn folded(&self, view: StridedView) -> Option<StridedView> {
        let mut view = match self.order.len() - self.kept {
            _ if !self.is_reduced => view,
            0 => view.with_unit(self.kept),
            _ => view.collapsed(self.kept..self.order.len())?,
        };
        if self.has_columns {
            view.extents.swap(self.kept - 1, self.kept);
            view.strides.swap(self.kept - 1, self.kept);
        }
        Some(view)
    }

    /// Returns `value` as an operand of `reader`, which runs at all positions or once per row. It is copied if strides
    /// cannot express it.
    fn operand(&self, lowering: &mut LoopLowering, reader: OpId, value: ValueId) -> Operand {
        let view = lowering.view_of(value);
        let is_row = self.is_reduced && view.extents != self.shape;
        let view = match is_row {
            true => view.squeezed(),
            false => {
                let view = view.permuted(&self.order);
                self.folded(view.clone()).unwrap_or_else(|| {
                    let copied = lowering.copied(reader, view);
                    self.folded(copied).expect("a dense buffer collapses")
                })
            }
        };
        Operand { view, is_row }
    }
}

/// A placeholder where only the extents of a view are used.
const NOWHERE: Source = Source::Kernel {
    kernel: 0,
    result: 0,
};

/// A kernel under construction.
struct KernelBuilder {
    kernel: Kernel,
    /// The nodes of the values that it computes.
    nodes: FxHashMap<ValueId, usize>,
}

impl KernelBuilder {
    fn new(kernel: Kernel) -> KernelBuilder {
        KernelBuilder {
            kernel,
            nodes: FxHashMap::default(),
        }
    }

    /// Adds the ops for which `is_wanted` holds, and the views of their results.
    fn add_all(
        &mut self,
        g: &Graph,
        steps: &Steps<'_>,
        is_wanted: impl Fn(OpId) -> bool,
        mut operand: impl FnMut(OpId, ValueId) -> Operand,
    ) {
        for &op in steps.ops {
            let computes = g.is::<Map>(op) || g.is::<Reduce>(op);
            if computes && is_wanted(op) {
                self.add(g, op, &mut operand);
            } else if !computes && !steps.contracts(op) {
                let read = g.operands(op).first();
                let node = read.and_then(|value| self.nodes.get(value)).copied();
                self.nodes.extend(node.map(|node| (g.result(op), node)));
            }
        }
    }

    fn add(&mut self, g: &Graph, op: OpId, operand: &mut dyn FnMut(OpId, ValueId) -> Operand) {
        let inputs = g.operands(op).iter();
        let args = inputs.map(|&value| match self.nodes.get(&value) {
            Some(&node) => node,
            None => self.operand(operand(op, value)),
        });
        let args: SmallVec<[usize; 2]> = args.collect();
        if let Some(map) = g.view::<Map>(op) {
            return self.map(g, map, &args);
        }
        let node = match g.view::<Reduce>(op) {
            Some(reduce) => Node::Reduce {
                kind: reduce.kind(g),
                dtype: g.ty(g.result(op)).dtype,
                arg: args[0],
            },
            None => scalar(g, op, &args),
        };
        self.node(g.result(op), node);
    }

    /// Adds the body of a map, with `args` as the nodes of its arguments.
    fn map(&mut self, g: &Graph, map: Map, args: &[usize]) {
        let block = map.body(g);
        self.nodes
            .extend(g.arguments(block).into_iter().zip(args.iter().copied()));
        for op in g.ops(block) {
            let args = g.operands(op).iter().map(|value| self.nodes[value]);
            let args: SmallVec<[usize; 2]> = args.collect();
            if g.def(op).has(Trait::Terminator) {
                self.nodes.extend(g.results(map.id()).into_iter().zip(args));
                return;
            }
            let node = scalar(g, op, &args);
            self.node(g.result(op), node);
        }
    }

    fn node(&mut self, value: ValueId, node: Node) {
        self.nodes.insert(value, self.kernel.body.len());
        self.kernel.body.push(node);
    }

    /// Returns the node of an operand, an existing one if possible. The sides of a product are not shared, because only
    /// the product reads them.
    fn operand(&mut self, operand: Operand) -> usize {
        let sides = match self.kernel.kind {
            KernelKind::Contract(_) | KernelKind::Window(_) => 2,
            _ => 0,
        };
        let body = self.kernel.body.iter();
        let known = body.enumerate().find_map(|(node, own)| match own {
            Node::Input(index) if *index >= sides && self.kernel.operands[*index] == operand => {
                Some(node)
            }
            _ => None,
        });
        known.unwrap_or_else(|| {
            self.kernel.operands.push(operand);
            let index = self.kernel.operands.len() - 1;
            self.kernel.body.push(Node::Input(index));
            self.kernel.body.len() - 1
        })
    }

    fn yields(&mut self, value: ValueId) {
        self.kernel.outputs.push(self.nodes[&value]);
    }

    /// Finishes the kernel, with the values that have outside users as its results. `None` if a result would have a
    /// wrong number of elements, or would vary along a reduced dimension that is not the last.
    fn finish(mut self, g: &Graph, steps: &Steps<'_>) -> Option<Fused> {
        let results = steps.computing().flat_map(|op| g.results(op));
        let values: Vec<ValueId> = results
            .filter(|value| self.nodes.contains_key(value) && steps.leaves(*value))
            .collect();
        values.iter().for_each(|&value| self.yields(value));
        let count = |extents: &[usize]| extents.iter().product::<usize>();
        let fits = |(index, &value): (usize, &ValueId)| {
            count(&self.kernel.extents(index)) == count(&known(g, value))
        };
        let is_whole = values.iter().enumerate().all(fits) && self.kernel.has_writable_results();
        is_whole.then_some((self.kernel, values))
    }
}

/// Returns the node of a scalar op in a verified body.
fn scalar(g: &Graph, op: OpId, args: &[usize]) -> Node {
    Node::scalar(g, op, args).expect("bodies hold scalar ops")
}
