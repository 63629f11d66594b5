//! Kernels, identified by the data that they are generated from.

use mind_ir::OpId;
use mind_ir::opdef::OpDef;
use smallvec::SmallVec;

use super::block::Chain;
use super::block_product;
use super::contract::Contraction;
use super::grid::{Params, Shared, Task, Work};
use super::nest::{Shape, append_nest};
use super::pack::StackedPacking;
use super::window::Convolution;
use super::{Makers, ProgramBuilder};
use crate::lower::nest::Nest;
use crate::lower::product::{BlockProduct, QuantPacking, pack_quantised};
use crate::lower::slide::{Slide, slide};
use crate::lower::{Lines, prefixes};
use crate::program::assembly::{KernelSignature, make_all};
use mind_vir::ir::{Builder, Function, Signature};
use mind_vir::program::{Axis, Call, Region, Step};

/// All inputs of a kernel's code generation: equal specs share one kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::program) struct KernelSpec {
    /// Vector lanes.
    lanes: u32,
    /// Size in bytes of the buffer of each pointer parameter.
    buffers: SmallVec<[usize; 6]>,
    /// Number of indices of a task, and of ranges after them.
    task: (usize, usize),
    computation: Computation,
}

/// The computation of a kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Computation {
    Block(Box<(Chain, Shared)>),
    BlockProduct(BlockProduct),
    Contract(Box<Contraction>),
    /// Copy of one input of a join.
    Copy(Nest),
    Cumulative(Lines),
    Nest(Shape),
    Pack(StackedPacking),
    PackQuantised(QuantPacking),
    Slide(Box<Slide>),
    Window(Box<Convolution>),
}

impl Computation {
    /// Returns the name of the kernel in listings, for example `contract`.
    fn name(&self) -> &'static str {
        match self {
            Computation::Block(_) => "block",
            Computation::BlockProduct(_) => "block_product",
            Computation::Contract(_) => "contract",
            Computation::Copy(_) => "copy",
            Computation::Cumulative(_) => "cumulative",
            Computation::Nest(_) => "nest",
            Computation::Pack(_) | Computation::PackQuantised(_) => "pack",
            Computation::Slide(_) => "slide",
            Computation::Window(_) => "window",
        }
    }

    fn append(&self, b: &mut Builder, params: &Params) {
        let Params { pointers, task } = params;
        match self {
            Computation::Block(block) => {
                let (chain, shared) = &**block;
                shared.each(b, task, &mut |b, indices, ranges| {
                    chain.append(b, pointers, indices, ranges[0]);
                });
            }
            Computation::BlockProduct(product) => block_product::append(b, product, params),
            Computation::Contract(contraction) => contraction.append(b, params),
            Computation::Copy(nest) => append_nest(b, nest, params),
            Computation::Cumulative(lines) => {
                prefixes(b, lines, pointers[0], pointers[1], task.ranges[0]);
            }
            Computation::Nest(shape) => shape.append(b, params),
            Computation::Pack(packing) => packing.append(b, params),
            Computation::PackQuantised(packing) => {
                pack_quantised(b, packing, pointers[0], pointers[1], task.ranges[0]);
            }
            Computation::Slide(windows) => {
                let range = task.rows(b, Some(windows.extent()));
                slide(b, windows, pointers, range);
            }
            Computation::Window(convolution) => convolution.append(b, params),
        }
    }
}

impl KernelSpec {
    /// Returns the kernel in vector IR.
    fn function(&self) -> Function {
        let mut signature = Signature::new(self.computation.name(), self.lanes);
        let pointers = self.buffers.iter().map(|&bytes| signature.buffer(bytes));
        let params = Params {
            pointers: pointers.collect(),
            task: Task::new(&mut signature, self.task),
        };
        let mut b = signature.body();
        self.computation.append(&mut b, &params);
        b.finish()
    }
}

/// A call of a kernel that may not have been built yet.
#[derive(Debug)]
pub(super) struct KernelCall {
    /// The op that is compiled.
    pub(super) op: OpId,
    pub(super) computation: Computation,
    /// Vector lanes of the kernel.
    pub(super) lanes: u32,
    /// Region of each pointer argument: the kernel accesses only these bytes.
    pub(super) args: SmallVec<[Region; 6]>,
    /// The grid of tasks: indices, then ranges.
    pub(super) grid: SmallVec<[Axis; 4]>,
    pub(super) work: Work,
}

impl ProgramBuilder<'_> {
    /// Adds a call of a kernel, which is created unless an equal one exists.
    pub(super) fn call(&mut self, call: KernelCall) {
        let def: &'static OpDef = self.g.def(call.op);
        let is_index = |axis: &&Axis| matches!(axis, Axis::Each(_));
        let indices = call.grid.iter().take_while(is_index).count();
        let spec = KernelSpec {
            lanes: call.lanes,
            buffers: call.args.iter().map(|region| region.bytes).collect(),
            task: (indices, call.grid.len() - indices),
            computation: call.computation,
        };
        let known = self.kernels.entry(spec);
        let kernel = known.index();
        known.or_insert(def.name);
        let step = Call {
            kernel,
            args: call.args,
            // Set once the kernel exists in vector IR.
            has_scratch: false,
            grid: call.grid,
            cost: call.work.cost(self.target.lanes(32)),
            products: call.work.products,
            op: def.name,
        };
        self.push(call.op, Step::Call(step));
    }

    /// Generates the vector IR of all kernels, unless their machine code is known.
    pub(super) fn make_functions(&mut self, makers: Makers<'_>) {
        let functions: Vec<Function> = match makers {
            Makers::Nobody(known) if known.len() == self.kernels.len() => {
                self.signatures = known.to_vec();
                Vec::new()
            }
            Makers::Pool(pool) => {
                let kernels: Vec<&KernelSpec> = self.kernels.keys().collect();
                let order: Vec<usize> = (0..kernels.len()).collect();
                make_all(pool, &order, || (), |(), at| kernels[at].function())
            }
            Makers::Nobody(_) | Makers::Caller => {
                self.kernels.keys().map(KernelSpec::function).collect()
            }
        };
        if !functions.is_empty() {
            self.signatures = functions.iter().map(KernelSignature::of).collect();
        }
        self.functions = functions
            .into_iter()
            .zip(self.kernels.values().copied())
            .collect();
        for step in self.bind_steps.iter_mut().chain(&mut self.steps) {
            if let Step::Call(call) = step {
                call.has_scratch = self.signatures[call.kernel].scratch.is_some();
            }
        }
    }
}
