//! Lowers ops to kernels. Layout-only ops become strided views.

use mind_core::ops::block_matmul::BlockMatMul;
use mind_core::ops::input::Input;
use mind_ir::attr::OPEN_END;
use mind_ir::opdef::{Op, OpDef, Trait};
use mind_ir::{Graph, OpId, ValueId};
use mind_loops::extents::known;
use mind_loops::node::Node;
use mind_loops::ops::slide::vector_axis;
use mind_tensor::ops::bitcast::Bitcast;
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::contract::Contract;
use mind_tensor::ops::cumulative::Cumulative;
use mind_tensor::ops::group::Group;
use mind_tensor::ops::index::{Gather, Index, Slice};
use mind_tensor::ops::join::Concat;
use mind_tensor::ops::reshape::Reshape;
use mind_tensor::ops::slide::Slide;
use mind_tensor::ops::transpose::Transpose;
use mind_tensor::ops::window::Window;
use rustc_hash::FxHashMap;

use crate::kernel::{Kernel, KernelKind, Matrix, Operand};
use crate::steps::Steps;
use crate::strided::{Source, StridedView};

/// The strided views of the values of a block.
pub(crate) type ValueViews = FxHashMap<ValueId, StridedView>;

/// An op that was not lowered, and why.
#[derive(Debug)]
pub(crate) struct Unlowered {
    /// The op.
    pub(crate) op: OpId,
    /// The reason.
    pub(crate) problem: Problem,
}

/// The reason why an op was not lowered.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The op belongs to a dialect that this lowering does not accept.
    Foreign,
    /// A constant index is out of bounds.
    Outside {
        axis: usize,
        index: i64,
        extent: usize,
    },
}

/// The largest number of ops that is tried as one kernel, if the complete group is not one. It bounds the time of the
/// search.
const LONGEST: usize = 64;

/// Lowers a group or a single op to a list of kernels.
#[derive(Default)]
pub(crate) struct LoopLowering {
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) views: ValueViews,
}

impl LoopLowering {
    /// Returns the strided view of `value`.
    pub(crate) fn view_of(&self, value: ValueId) -> StridedView {
        self.views[&value].clone()
    }

    /// Lowers ops in order, fusing as many as possible into each kernel.
    ///
    /// # Errors
    ///
    /// The first op without a lowering.
    pub(crate) fn lower(&mut self, g: &Graph, mut ops: &[OpId]) -> Result<(), Unlowered> {
        loop {
            self.lower_views(g, ops)?;
            let open = |op: &OpId| {
                g.results(*op)
                    .into_iter()
                    .any(|value| !self.views.contains_key(&value))
            };
            let Some(first) = ops.iter().position(open) else {
                return Ok(());
            };
            ops = &ops[first..];
            let count = self.lower_first(g, ops)?;
            self.lower_views(g, &ops[..count])?;
            ops = &ops[count..];
        }
    }

    /// Lowers the longest fusible prefix of the ops and returns its length.
    fn lower_first(&mut self, g: &Graph, ops: &[OpId]) -> Result<usize, Unlowered> {
        let counts = std::iter::once(ops.len()).chain((2..=ops.len().min(LONGEST)).rev());
        for count in counts.filter(|&count| count > 1) {
            let steps = Steps::read(g, &ops[..count], &self.views);
            if let Some(form) = steps.form()
                && self.fuse(g, &steps, form)
            {
                return Ok(count);
            }
        }
        let alone = &ops[..1];
        let steps = Steps::read(g, alone, &self.views);
        let form = steps.single_form();
        if form.is_none_or(|form| !self.fuse(g, &steps, form)) {
            self.lower_single(g, ops[0])?;
        }
        Ok(1)
    }

    /// Creates the views of constants and of layout-only ops whose operand has a view.
    fn lower_views(&mut self, g: &Graph, ops: &[OpId]) -> Result<(), Unlowered> {
        for &op in ops
            .iter()
            .filter(|&&op| g.def(op).has(Trait::Constant) || row(VIEWS, g.def(op)).is_some())
        {
            let read = g.operands(op).first();
            let has_place = |value| self.views.contains_key(value);
            if read.is_none_or(has_place) && !has_place(&g.result(op)) {
                self.lower_single(g, op)?;
            }
        }
        Ok(())
    }

    /// Lowers a single op: a constant, a layout-only op, a group, or a kernel of its own.
    fn lower_single(&mut self, g: &Graph, op: OpId) -> Result<(), Unlowered> {
        let def = g.def(op);
        if let Some(group) = g.view::<Group>(op) {
            return self.group(g, group);
        }
        if mind_core::ops::OPS
            .iter()
            .any(|own| std::ptr::eq(*own, def))
            && !def.has(Trait::Constant)
        {
            match g.view::<BlockMatMul>(op) {
                Some(product) if self.is_fixed(g, product.blocks(g)) => {
                    self.block_product(g, product);
                }
                _ => self.evaluated(g, op),
            }
            return Ok(());
        }
        let view = if def.has(Trait::Constant) {
            let result = g.result(op);
            Ok(StridedView::whole(Source::Value(result), known(g, result)))
        } else {
            let lower = row(VIEWS, def).or_else(|| row(MOVES, def));
            lower.map_or(Err(Problem::Foreign), |lower| lower(self, g, op))
        };
        let view = view.map_err(|problem| Unlowered { op, problem })?;
        self.views.insert(g.result(op), view);
        Ok(())
    }

    /// Lowers the ops of a group.
    ///
    /// # Errors
    ///
    /// The first op without a lowering.
    pub(crate) fn group(&mut self, g: &Graph, group: Group) -> Result<(), Unlowered> {
        let block = group.body(g);
        for (argument, &input) in g.arguments(block).into_iter().zip(group.inputs(g)) {
            let view = self.view_of(input);
            self.views.insert(argument, view);
        }
        let ops: Vec<OpId> = g.ops(block).collect();
        let Some((&end, ops)) = ops.split_last() else {
            return Ok(());
        };
        self.lower(g, ops)?;
        for (result, value) in g.results(group.id()).into_iter().zip(g.operands(end)) {
            let view = self.view_of(*value);
            self.views.insert(result, view);
        }
        Ok(())
    }

    /// Adds a kernel and returns the views of its results.
    pub(crate) fn push(&mut self, kernel: Kernel) -> Vec<StridedView> {
        let number = self.kernels.len();
        let outputs = 0..kernel.outputs.len();
        let views = outputs.map(|result| {
            let source = Source::Kernel {
                kernel: number,
                result,
            };
            StridedView::whole(source, kernel.extents(result))
        });
        let views = views.collect();
        self.kernels.push(kernel);
        views
    }

    /// Adds a contiguous copy of the elements of `view`.
    pub(crate) fn copied(&mut self, origin: OpId, view: StridedView) -> StridedView {
        let extents = view.extents.clone();
        let view = self.push(Kernel::copy(view, origin)).remove(0);
        view.reshaped(&extents)
            .expect("a dense buffer has any shape")
    }

    /// Returns a contiguous row-major view of `value`, which is copied if necessary.
    fn dense(&mut self, origin: OpId, value: ValueId) -> StridedView {
        let view = self.view_of(value);
        if view.is_dense() {
            view
        } else {
            self.copied(origin, view)
        }
    }

    fn moved(
        &mut self,
        g: &Graph,
        op: OpId,
        kind: KernelKind,
        operands: Vec<StridedView>,
    ) -> StridedView {
        let result = g.result(op);
        let kernel = Kernel {
            kind,
            dims: known(g, result),
            operands: operands
                .into_iter()
                .map(|view| Operand {
                    view,
                    is_row: false,
                })
                .collect(),
            body: vec![Node::Input(0)],
            outputs: vec![0],
            origin: op,
        };
        self.push(kernel).remove(0)
    }

    /// Returns whether a value, possibly in a group, is a weight or a constant.
    fn is_fixed(&self, g: &Graph, value: ValueId) -> bool {
        let Source::Value(value) = self.view_of(value).source else {
            return false;
        };
        g.defining_op(value).is_some_and(|op| {
            let is_weight = g.view::<Input>(op).is_some_and(|input| input.param(g));
            is_weight || g.def(op).has(Trait::Constant)
        })
    }

    /// Lowers a product by block-quantised weights, which are the same in every run.
    fn block_product(&mut self, g: &Graph, op: BlockMatMul) {
        let format = op.format(g).expect("a verified format");
        let operands = [op.lhs(g), op.scale(g), op.blocks(g)];
        let operands = operands.map(|value| self.dense(op.id(), value));
        let kind = KernelKind::BlockProduct { format };
        let view = self.moved(g, op.id(), kind, operands.to_vec());
        self.views.insert(op.result(g), view);
    }

    /// Lowers a core op without a lowering of its own to a call of its `eval`.
    fn evaluated(&mut self, g: &Graph, op: OpId) {
        let operands = g.operands(op).iter().map(|&value| Operand {
            view: self.dense(op, value),
            is_row: false,
        });
        let operands = operands.collect();
        let results: Vec<ValueId> = g.results(op).into_iter().collect();
        let extents = results.iter().map(|&value| known(g, value)).collect();
        let views = self.push(Kernel {
            kind: KernelKind::Evaluate(extents),
            dims: Vec::new(),
            operands,
            body: Vec::new(),
            outputs: (0..results.len()).collect(),
            origin: op,
        });
        self.views.extend(results.into_iter().zip(views));
    }

    /// Returns the kernel of a product or a convolution, without results.
    pub(crate) fn contract_or_window(&mut self, g: &Graph, op: OpId) -> Kernel {
        match g.view::<Contract>(op) {
            Some(contract) => self.contract(g, contract),
            None => self.window(g, Window::from_id(op)),
        }
    }

    fn contract(&mut self, g: &Graph, contract: Contract) -> Kernel {
        let usizes =
            |axes: &[i64]| -> Vec<usize> { axes.iter().map(|&axis| axis as usize).collect() };
        let sides = [
            (
                contract.lhs(g),
                usizes(contract.lhs_batch(g)),
                usizes(contract.lhs_contract(g)),
            ),
            (
                contract.rhs(g),
                usizes(contract.rhs_batch(g)),
                usizes(contract.rhs_contract(g)),
            ),
        ];
        let mut free = [0, 0];
        let mut operands = Vec::new();
        for (side, (value, batch, contracted)) in sides.iter().enumerate() {
            let view = self.view_of(*value);
            let named = |axis: &usize| batch.contains(axis) || contracted.contains(axis);
            let own: Vec<usize> = (0..view.extents.len())
                .filter(|axis| !named(axis))
                .collect();
            free[side] = own.len();
            let order = match side {
                0 => [&batch[..], &own, contracted].concat(),
                _ => [&batch[..], contracted, &own].concat(),
            };
            let first = if side == 0 {
                batch.len() + own.len()
            } else {
                batch.len()
            };
            let range = first..first + contracted.len();
            let view = view.permuted(&order);
            let collapse = |view: &StridedView| match contracted.len() {
                0 => Some(view.with_unit(first)),
                _ => view.collapsed(range.clone()),
            };
            let view = collapse(&view).unwrap_or_else(|| {
                let dense = self.copied(contract.id(), view);
                collapse(&dense).expect("a dense buffer collapses")
            });
            operands.push(Operand {
                view,
                is_row: false,
            });
        }
        Kernel {
            kind: KernelKind::Contract(Matrix {
                batch: sides[0].1.len(),
                rows: free[0],
                columns: free[1],
                parts: contract.parts(g),
            }),
            dims: known(g, contract.result(g)),
            operands,
            body: vec![Node::Input(0)],
            outputs: Vec::new(),
            origin: contract.id(),
        }
    }

    fn window(&mut self, g: &Graph, window: Window) -> Kernel {
        let operands = [window.input(g), window.filter(g)];
        let operands = operands.map(|value| Operand {
            view: self.dense(window.id(), value),
            is_row: false,
        });
        Kernel {
            kind: KernelKind::Window(window.id()),
            dims: known(g, window.result(g)),
            operands: operands.to_vec(),
            body: vec![Node::Input(0)],
            outputs: Vec::new(),
            origin: window.id(),
        }
    }
}

/// Lowers an op to a view; a kernel that is needed is added.
type Lower = fn(&mut LoopLowering, &Graph, OpId) -> Result<StridedView, Problem>;

/// Layout-only ops.
static VIEWS: &[(&OpDef, Lower)] = &[
    (Transpose::DEF, |lowering, g, op| {
        let transpose = Transpose::from_id(op);
        let order = transpose.permutation(g).iter().map(|&axis| axis as usize);
        let order: Vec<usize> = order.collect();
        Ok(lowering.view_of(transpose.input(g)).permuted(&order))
    }),
    (Reshape::DEF, |lowering, g, op| {
        let reshape = Reshape::from_id(op);
        let (input, extents) = (
            lowering.view_of(reshape.input(g)),
            known(g, reshape.result(g)),
        );
        Ok(input.reshaped(&extents).unwrap_or_else(|| {
            let copied = lowering.copied(op, input);
            let copied = copied.reshaped(&extents);
            copied.expect("a dense buffer has any shape")
        }))
    }),
    (Broadcast::DEF, |lowering, g, op| {
        let broadcast = Broadcast::from_id(op);
        let dims: Vec<usize> = broadcast
            .dims(g)
            .iter()
            .map(|&axis| axis as usize)
            .collect();
        let extents = known(g, broadcast.result(g));
        Ok(lowering
            .view_of(broadcast.inputs(g)[0])
            .broadcast(&dims, &extents))
    }),
    (Slice::DEF, |lowering, g, op| {
        let slice = Slice::from_id(op);
        let extents = known(g, slice.result(g));
        debug_assert!(slice.ends(g).iter().all(|&end| end >= 0 || end == OPEN_END));
        let input = lowering.view_of(slice.input(g));
        Ok(input.sliced(slice.starts(g), slice.steps(g), &extents))
    }),
    (Index::DEF, |lowering, g, op| {
        let index = Index::from_id(op);
        let (input, at) = (lowering.view_of(index.input(g)), index.indices(g));
        let extents = input.extents.iter().copied();
        for (axis, (&index, extent)) in at.iter().zip(extents).enumerate() {
            if !(0..extent as i64).contains(&index) {
                return Err(Problem::Outside {
                    axis,
                    index,
                    extent,
                });
            }
        }
        let ones = vec![1; at.len()];
        let view = input.sliced(at, &ones, &vec![1; at.len()]);
        Ok(StridedView {
            extents: Vec::new(),
            strides: Vec::new(),
            ..view
        })
    }),
];

/// Ops with a kernel of their own, which is never fused.
static MOVES: &[(&OpDef, Lower)] = &[
    (Gather::DEF, |lowering, g, op| {
        let gather = Gather::from_id(op);
        let axis = gather.axis(g);
        let operands = [gather.data(g), gather.indices(g)];
        let operands = operands.map(|value| lowering.dense(op, value));
        Ok(lowering.moved(g, op, KernelKind::Gather { axis }, operands.to_vec()))
    }),
    (Cumulative::DEF, |lowering, g, op| {
        let cumulative = Cumulative::from_id(op);
        let (axis, prefixes) = (cumulative.axis(g), cumulative.prefixes(g));
        let input = lowering.dense(op, cumulative.input(g));
        Ok(lowering.moved(
            g,
            op,
            KernelKind::Cumulative { axis, prefixes },
            vec![input],
        ))
    }),
    (Bitcast::DEF, |lowering, g, op| {
        let bitcast = Bitcast::from_id(op);
        let (dtype, input) = (bitcast.dtype(g), lowering.dense(op, bitcast.input(g)));
        Ok(lowering.moved(g, op, KernelKind::Bitcast { dtype }, vec![input]))
    }),
    (Concat::DEF, |lowering, g, op| {
        let join = Concat::from_id(op);
        let axis = join.axis(g);
        let operands = join.inputs(g).iter().map(|&value| lowering.view_of(value));
        let operands = operands.collect();
        Ok(lowering.moved(g, op, KernelKind::Join { axis }, operands))
    }),
    (Slide::DEF, |lowering, g, op| {
        let slide = Slide::from_id(op);
        let positions = known(g, slide.result(g));
        let vector = vector_axis(positions.into_iter());
        let operands = slide.inputs(g).iter().map(|&value| {
            let view = lowering.view_of(value);
            let is_strided = |axis: usize| !matches!(view.strides[axis], 0 | 1);
            if vector.is_some_and(is_strided) {
                lowering.copied(op, view)
            } else {
                view
            }
        });
        let operands = operands.collect();
        Ok(lowering.moved(g, op, KernelKind::Slide(op), operands))
    }),
];

fn row(rows: &[(&OpDef, Lower)], def: &OpDef) -> Option<Lower> {
    let row = rows.iter().find(|(own, _)| std::ptr::eq(*own, def));
    row.map(|&(_, lower)| lower)
}
