//! Extracts kernels into modules of their own.

use mind_core::ops::input::Input;
use mind_diag::Span;
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Op, Trait};
use mind_ir::{BlockId, OpId, ValueId};
use mind_jit::program::PanelChoice;
use mind_loops::memory::{ALIGNMENT, buffer, bytes, is_kernel};
use mind_loops::ops::contract::Contract;
use mind_loops::ops::evaluate::Evaluate;
use mind_loops::ops::movement::Pack;
use mind_loops::ops::view::View;
use mind_loops::ops::window::Window;
use rustc_hash::{FxHashMap, FxHashSet};

use super::schedule::Schedule;
use crate::cache::digest;

/// A kernel that can be measured in isolation.
pub(super) struct Kernel {
    /// A module with inputs for the kernel's operands, the packing of its panels, and the kernel.
    pub(super) module: Graph,
    /// The kernel in that module.
    pub(super) op: OpId,
    /// The equal kernels in the whole module.
    pub(super) places: Vec<OpId>,
    /// Its default schedule.
    pub(super) default: Schedule,
    /// Whether other kernels read its packed panels, so that the panel width must not change.
    pub(super) shares_panels: bool,
    /// Hash of the kernel; equal kernels are measured once.
    pub(super) digest: blake3::Hash,
}

impl Kernel {
    /// Returns the name of the op and the types of its operands.
    pub(super) fn text(&self) -> String {
        let g = &self.module;
        let operands = g.operands(self.op).iter();
        let types: Vec<String> = operands.map(|&value| g.type_text(value)).collect();
        format!("{} {}", g.def(self.op).short_name(), types.join(", "))
    }
}

/// Returns the kernels of a module at loops level that have a schedule and depend on inputs, in order. Kernels of
/// weights only are excluded, because they run once when weights are bound.
pub(super) fn kernels(g: &Graph, panels: PanelChoice) -> Vec<Kernel> {
    let mut list = KernelList::default();
    list.add_block(g, g.body(), panels);
    list.kernels
}

#[derive(Default)]
struct KernelList {
    kernels: Vec<Kernel>,
    numbers: FxHashMap<blake3::Hash, usize>,
}

impl KernelList {
    fn add_block(&mut self, g: &Graph, block: BlockId, panels: PanelChoice) {
        let mut fixed: FxHashSet<ValueId> = FxHashSet::default();
        for op in g.ops(block) {
            let is_weight = g.view::<Input>(op).is_some_and(|input| input.param(g));
            let evaluate = g.view::<Evaluate>(op);
            let operands = g.operands(op);
            let follows =
                !operands.is_empty() && operands.iter().all(|value| fixed.contains(value));
            if is_weight || g.def(op).has(Trait::Constant) || follows && evaluate.is_none() {
                fixed.extend(g.results(op));
                continue;
            }
            let control = evaluate.and_then(|evaluate| evaluate.control(g));
            for &region in control.map_or(&[][..], |control| g.regions(control)) {
                self.add_block(g, g.block(region), panels);
            }
            if is_kernel(g, op) {
                self.add(g, op, &fixed, panels);
            }
        }
    }

    fn add(&mut self, g: &Graph, op: OpId, fixed: &FxHashSet<ValueId>, panels: PanelChoice) {
        let Some(default) = Schedule::of(g, op) else {
            return;
        };
        let values = g.operands(op).iter().copied().chain(g.results(op));
        let is_empty = |value: ValueId| g.ty(value).count().is_none_or(|count| count == 0);
        if values.into_iter().any(is_empty) {
            return;
        }
        let shares_panels = shares_panels(g, op, fixed, panels);
        let (module, own) = alone(g, op, fixed);
        let digest = digest(&[&[u8::from(shares_panels)]], &module);
        match self.numbers.get(&digest) {
            Some(&number) => self.kernels[number].places.push(op),
            None => {
                self.numbers.insert(digest, self.kernels.len());
                self.kernels.push(Kernel {
                    module,
                    op: own,
                    places: vec![op],
                    default,
                    shares_panels,
                    digest,
                });
            }
        }
    }
}

/// Returns whether the packed panels of a product are shared with other kernels of this program or with other programs.
fn shares_panels(g: &Graph, op: OpId, fixed: &FxHashSet<ValueId>, panels: PanelChoice) -> bool {
    let is_product = g.is::<Contract>(op) || g.is::<Window>(op);
    let Some(&right) = g.operands(op).get(1).filter(|_| is_product) else {
        return false;
    };
    let own = buffer(g, right);
    let is_packed = g
        .defining_op(own)
        .is_some_and(|source| g.is::<Pack>(source));
    let is_shared = match panels {
        PanelChoice::Best => false,
        PanelChoice::Shared => fixed.contains(&own),
    };
    is_packed && (is_shared || g.uses(own).count() > 1)
}

/// Extracts one kernel into a module; returns the module and the kernel in it.
fn alone(g: &Graph, op: OpId, fixed: &FxHashSet<ValueId>) -> (Graph, OpId) {
    let mut copier = Copier {
        from: g,
        to: g.empty_like(),
        fixed,
        copies: FxHashMap::default(),
        inputs: 0,
        workspace: 0,
    };
    let operands: Vec<ValueId> = g
        .operands(op)
        .iter()
        .map(|&value| copier.value(value))
        .collect();
    let own = copier.kernel(op, &operands, &vec![-1; g.results(op).len()]);
    let mut module = copier.to;
    let results: Vec<ValueId> = module.results(own).into_iter().collect();
    module.append(NewOp {
        def: Yield::DEF,
        operands: &results,
        attrs: &[],
        results: 0,
        span: Span::FILE,
    });
    (module, own)
}

/// Copies the operands of a kernel: views and packed panels with their sources, all other values as inputs.
struct Copier<'g> {
    from: &'g Graph,
    to: Graph,
    /// The values that are the same in every run.
    fixed: &'g FxHashSet<ValueId>,
    copies: FxHashMap<ValueId, ValueId>,
    inputs: usize,
    /// Bytes of the workspace used so far.
    workspace: u64,
}

impl Copier<'_> {
    fn value(&mut self, value: ValueId) -> ValueId {
        if let Some(&copy) = self.copies.get(&value) {
            return copy;
        }
        let g = self.from;
        let source = g.defining_op(value);
        let copied = source.filter(|&op| g.is::<View>(op) || g.is::<Pack>(op));
        let copy = match copied {
            None => self.input(value),
            Some(op) => {
                let operand = self.value(g.operands(op)[0]);
                if g.is::<Pack>(op) {
                    let at = self.workspace;
                    self.workspace = (at + bytes(g, value)).next_multiple_of(ALIGNMENT);
                    let copy = self.kernel(op, &[operand], &[at as i64]);
                    self.to.result(copy)
                } else {
                    let end = InsertPoint::End(self.to.body());
                    let copy = self.to.copy_from(g, end, op, &[operand]);
                    self.to.result(copy)
                }
            }
        };
        self.copies.insert(value, copy);
        copy
    }

    /// Copies a kernel and places its results at these offsets.
    fn kernel(&mut self, op: OpId, operands: &[ValueId], places: &[i64]) -> OpId {
        let end = InsertPoint::End(self.to.body());
        let copy = self.to.copy_from(self.from, end, op, operands);
        let at = self.from.def(op).attr_index("at");
        let at = at.expect("a kernel has places");
        self.to.set_attr(copy, at, Attr::Ints(places));
        copy
    }

    fn input(&mut self, value: ValueId) -> ValueId {
        let name = format!("x{}", self.inputs);
        self.inputs += 1;
        let name = self.to.intern(&name);
        let ty = self
            .from
            .type_id(value)
            .expect("a verified value has a type");
        let attrs = Input::attrs(name, self.fixed.contains(&value), None);
        let end = InsertPoint::End(self.to.body());
        let mut b = Builder::new(&mut self.to, end, Span::FILE);
        let op = b.create_typed(Input::DEF, &[], &attrs, &[ty]);
        self.to.result(op)
    }
}
