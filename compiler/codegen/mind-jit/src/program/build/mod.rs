//! Builds kernels and steps from ops of the loops dialect.

mod algorithm;
mod bitcast;
mod block;
mod block_product;
mod contract;
mod control;
mod cumulative;
mod epilogue;
mod folded_converts;
mod grid;
mod kernel;
mod movement;
mod nest;
mod pack;
mod product;
mod quantised;
mod slide;
mod window;

use indexmap::IndexMap;
use mind_ir::graph::Graph;
use mind_ir::{OpId, ValueId};
use mind_loops::extents::{dense, known};
use mind_loops::memory::{buffer, is_kernel};
use mind_loops::ops::bitcast::Bitcast;
use mind_loops::ops::block::Block;
use mind_loops::ops::block_product::BlockProduct;
use mind_loops::ops::contract::Contract;
use mind_loops::ops::cumulative::Cumulative;
use mind_loops::ops::evaluate::Evaluate;
use mind_loops::ops::movement::{Gather, Join, Pack};
use mind_loops::ops::nest::Nest;
use mind_loops::ops::slide::Slide;
use mind_loops::ops::view::View;
use mind_loops::ops::window::Window;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::assembly::KernelSignature;
use super::error::ProgramError;
use super::layout::Layout;
use super::panels::PanelChoice;
use super::routine::Routine;
use super::weights::Weights;
use crate::lower::product::Rhs;
use crate::pool::Pool;
use crate::profile::Origin;
use mind_vir::ir::Function;
use mind_vir::program::{Base, Region, Step, Transfer};
use mind_vir::target::TargetInfo;

pub(super) use folded_converts::FoldedConverts;
pub(super) use kernel::KernelSpec;
pub(super) use quantised::Quantised;

/// Layout of a value in its buffer: strides in elements over its dimensions.
///
/// All indices along a dimension with stride 0 refer to the same element. The layout of an empty value has no elements.
#[derive(Clone, Debug)]
pub(super) struct Strided {
    /// The buffer.
    pub(super) buffer: Region,
    pub(super) extents: Vec<usize>,
    pub(super) strides: Vec<i64>,
    /// Offset of the first element.
    pub(super) offset: i64,
}

impl Strided {
    /// Returns the number of elements from the start of the buffer to the end of the last element.
    fn reach(&self) -> usize {
        if self.extents.contains(&0) {
            return 0;
        }
        let steps = self.extents.iter().zip(&self.strides);
        let steps = steps.map(|(&extent, &stride)| (extent as i64 - 1) * stride.max(0));
        usize::try_from(self.offset + steps.sum::<i64>() + 1).unwrap_or(0)
    }

    /// Returns whether the value is dense and row-major from the start of the buffer.
    fn is_dense(&self) -> bool {
        let dense = dense(&self.extents);
        let mut steps = self.extents.iter().zip(self.strides.iter().zip(&dense));
        self.extents.contains(&0)
            || self.offset == 0 && steps.all(|(&extent, (own, dense))| extent == 1 || own == dense)
    }
}

/// Layout of a result of `loops.pack`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    pub(super) rhs: Rhs,
    /// Number of matrices, terms of a column, and columns.
    pub(super) sizes: [usize; 3],
}

impl Packed {
    /// Returns the bytes of all matrices.
    fn bytes(&self) -> usize {
        let [stack, k, n] = self.sizes;
        match self.rhs {
            Rhs::Panels(panels) => panels.bytes(n, k) * stack,
            Rhs::Quantised(panels) => panels.bytes(n, k),
            Rhs::Rows { .. } | Rhs::Columns { .. } => 0,
        }
    }
}

/// Memory in bytes that a program needs besides inputs, weights, outputs and constants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    /// Bound memory, which is computed once per set of weights.
    pub(super) bound: u64,
    /// Workspace of one run.
    pub(super) workspace: u64,
    /// Scratch memory of a thread.
    pub(super) scratch: usize,
}

/// Builder of the kernels and steps of a module.
pub(super) struct ProgramBuilder<'g> {
    pub(super) g: &'g Graph,
    pub(super) target: &'g TargetInfo,
    pub(super) layout: Layout,
    /// The kernels, each with the op that first needed it.
    pub(super) kernels: IndexMap<KernelSpec, &'static str, FxBuildHasher>,
    /// The kernels in vector IR, once all are known.
    pub(super) functions: Vec<(Function, &'static str)>,
    /// Interface of each kernel.
    pub(super) signatures: Vec<KernelSignature>,
    pub(super) bind_steps: Vec<Step>,
    pub(super) steps: Vec<Step>,
    /// The ops that each of `steps` was built from.
    pub(super) origins: Vec<Origin>,
    /// Routines that the steps call for ops without a kernel.
    pub(super) routines: Vec<Routine>,
    /// Control-flow regions, as separate modules.
    pub(super) regions: Vec<Graph>,
    /// How the panel widths of weights are chosen.
    pub(super) choice: PanelChoice,
    /// Weights that are packed in their narrow format.
    folded: FoldedConverts,
    /// Weights that are bound in their quantised format.
    quantised: Quantised,
    /// Layouts of the results of `loops.pack`.
    panels: FxHashMap<ValueId, Packed>,
    /// The block whose kernels are being built.
    owner: Option<OpId>,
}

/// Where the vector IR of kernels is generated.
#[derive(Clone, Copy)]
pub(super) enum Makers<'p> {
    /// On the calling thread.
    Caller,
    /// On the threads of a pool.
    Pool(&'p Pool),
    /// Nowhere, because machine code of the kernels exists. These are their signatures.
    Nobody(&'p [KernelSignature]),
}

/// Builds the kernels and steps of a verified module. `weights` is the lifetime of weights.
///
/// # Errors
///
/// An op has no kernel.
pub(super) fn build<'g>(
    g: &'g Graph,
    target: &'g TargetInfo,
    choice: PanelChoice,
    weights: Weights,
    makers: Makers<'_>,
) -> Result<ProgramBuilder<'g>, ProgramError> {
    let folded = match choice {
        PanelChoice::Shared => FoldedConverts::of(g),
        PanelChoice::Best => FoldedConverts::default(),
    };
    let quantised = match choice {
        PanelChoice::Shared => Quantised::of(g, target),
        PanelChoice::Best => Quantised::of_bytes(g, target),
    };
    let mut layout = Layout::of(g, &folded, &quantised, weights)?;
    let mut builder = ProgramBuilder {
        g,
        target,
        bind_steps: layout.kept.drain(..).map(Step::Transfer).collect(),
        layout,
        choice,
        folded,
        quantised,
        kernels: IndexMap::default(),
        functions: Vec::new(),
        signatures: Vec::new(),
        steps: Vec::new(),
        origins: Vec::new(),
        routines: Vec::new(),
        regions: Vec::new(),
        panels: FxHashMap::default(),
        owner: None,
    };
    for op in g.ops(g.body()) {
        if is_kernel(g, op) && !builder.folded.absorbs(g, op) {
            builder.kernel(op)?;
        }
    }
    builder.repeat_outputs();
    builder.make_functions(makers);
    Ok(builder)
}

impl ProgramBuilder<'_> {
    /// Appends copies for outputs that yield the same value as an earlier output.
    fn repeat_outputs(&mut self) {
        for (first, outputs) in std::mem::take(&mut self.layout.repeats) {
            let bytes = self.layout.outputs[first as usize].bytes();
            let output = |number| Region::whole(Base::Output(number), bytes);
            for copy in outputs.into_iter().filter(|_| bytes > 0) {
                let (from, to) = (output(first), output(copy));
                self.steps.push(Step::Transfer(Transfer { from, to }));
                self.origins.push(Origin::default());
            }
        }
    }

    fn kernel(&mut self, op: OpId) -> Result<(), ProgramError> {
        let g = self.g;
        let is_product = g.is::<Contract>(op) || g.is::<Window>(op);
        let misread = |(index, &value): (usize, &ValueId)| {
            let reads_panels = index == 1 && is_product
                || index == 2 && g.is::<BlockProduct>(op)
                || g.is::<Block>(op);
            self.panels.contains_key(&buffer(g, value)) && !reads_panels
        };
        if g.operands(op).iter().enumerate().any(misread) {
            return self.refuse(op, "only products can read panels");
        }
        if writes_nothing(g, op) {
            return Ok(());
        }
        if let Some(nest) = g.view::<Nest>(op) {
            self.nest(nest)
        } else if let Some(contract) = g.view::<Contract>(op) {
            self.contract(contract)
        } else if let Some(product) = g.view::<BlockProduct>(op) {
            self.block_product(product)
        } else if let Some(window) = g.view::<Window>(op) {
            self.window(window)
        } else if let Some(slide) = g.view::<Slide>(op) {
            self.slide(slide)
        } else if let Some(pack) = g.view::<Pack>(op) {
            self.pack(pack)
        } else if let Some(gather) = g.view::<Gather>(op) {
            self.gather(gather)
        } else if let Some(join) = g.view::<Join>(op) {
            self.join(join)
        } else if let Some(cumulative) = g.view::<Cumulative>(op) {
            self.cumulative(cumulative)
        } else if let Some(bitcast) = g.view::<Bitcast>(op) {
            self.bitcast(bitcast)
        } else if let Some(block) = g.view::<Block>(op) {
            self.block(block)
        } else if let Some(evaluate) = g.view::<Evaluate>(op) {
            self.evaluate(evaluate)
        } else {
            let reason = "not an op of the loops dialect".to_owned();
            Err(ProgramError::Op {
                op: g.def(op).name,
                reason,
            })
        }
    }

    /// Returns the layout of `value`.
    pub(super) fn strided(&self, value: ValueId) -> Strided {
        let (g, extents) = (self.g, known(self.g, value));
        let buffer = self.layout.buffer(g, value);
        let view = g.defining_op(value).and_then(|op| g.view::<View>(op));
        match view {
            _ if extents.contains(&0) => Strided {
                buffer,
                strides: vec![1; extents.len()],
                extents,
                offset: 0,
            },
            Some(view) => Strided {
                buffer,
                extents,
                strides: view.strides(g).to_vec(),
                offset: view.offset(g),
            },
            None => Strided {
                buffer,
                strides: dense(&extents),
                extents,
                offset: 0,
            },
        }
    }

    /// Checks that the values that `op` reads are dense and row-major from the start of their buffers.
    ///
    /// # Errors
    ///
    /// A value has another layout.
    pub(super) fn check_dense(&self, op: OpId, values: &[ValueId]) -> Result<(), ProgramError> {
        if values.iter().all(|&value| self.strided(value).is_dense()) {
            return Ok(());
        }
        self.refuse(op, "an operand is a view that is not dense")
    }

    /// Returns the part of the buffer of `value` that `op` accesses: its elements, or all of its panels.
    ///
    /// # Errors
    ///
    /// The buffer is smaller than that.
    pub(super) fn region(&self, op: OpId, value: ValueId) -> Result<Region, ProgramError> {
        let strided = self.strided(value);
        let bytes = match self.panels.get(&buffer(self.g, value)) {
            Some(packed) => packed.bytes(),
            None => strided.reach() * self.g.ty(value).dtype.size(),
        };
        self.part(op, strided.buffer, bytes)
    }

    /// Returns the regions of `values`, in order.
    ///
    /// # Errors
    ///
    /// Those of [`region`](ProgramBuilder::region).
    pub(super) fn regions<A: FromIterator<Region>>(
        &self,
        op: OpId,
        values: impl IntoIterator<Item = ValueId>,
    ) -> Result<A, ProgramError> {
        let regions = values.into_iter().map(|value| self.region(op, value));
        regions.collect()
    }

    /// Returns the first `bytes` bytes of `whole`.
    ///
    /// # Errors
    ///
    /// `whole` is smaller than that.
    pub(super) fn part(
        &self,
        op: OpId,
        whole: Region,
        bytes: usize,
    ) -> Result<Region, ProgramError> {
        if bytes <= whole.bytes {
            return Ok(Region { bytes, ..whole });
        }
        let name = self.g.def(op).name;
        Err(ProgramError::Memory(format!(
            "`{name}` needs {bytes} bytes of a buffer of {}, at {} of {:?}",
            whole.bytes, whole.offset, whole.base
        )))
    }

    /// Returns the memory that the steps need.
    pub(super) fn needs(&self) -> Needs {
        let end = |base: Base| {
            let steps = self.bind_steps.iter().chain(&self.steps);
            let regions = steps.flat_map(Step::regions);
            let ends = regions.filter(|region| region.base == base);
            ends.map(|region| region.end()).max().unwrap_or(0)
        };
        let scratch = self.signatures.iter();
        let scratch = scratch.filter_map(|signature| signature.scratch);
        Needs {
            bound: end(Base::Bound),
            workspace: end(Base::Workspace),
            scratch: scratch.max().unwrap_or(0),
        }
    }

    /// Adds a step of an op.
    pub(super) fn push(&mut self, op: OpId, step: Step) {
        if self.layout.is_fixed(self.owner.unwrap_or(op)) {
            self.bind_steps.push(step);
        } else {
            self.steps.push(step);
            self.origins.push(Origin::of(self.g, op));
        }
    }

    pub(super) fn refuse<T>(&self, op: OpId, reason: &str) -> Result<T, ProgramError> {
        Err(ProgramError::Op {
            op: self.g.def(op).name,
            reason: reason.to_owned(),
        })
    }
}

/// Returns whether an op can be skipped because its results are empty. Gathers and evaluated ops are not skipped,
/// because they may fail; packs are not, because their readers need the layout of the panels.
fn writes_nothing(g: &Graph, op: OpId) -> bool {
    let is_empty = |value: ValueId| known(g, value).contains(&0);
    let may_fail = g.is::<Gather>(op) || g.is::<Evaluate>(op);
    !may_fail && !g.is::<Pack>(op) && g.results(op).into_iter().all(is_empty)
}
