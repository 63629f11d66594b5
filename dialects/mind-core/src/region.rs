//! Outlining of closed regions to modules, whose inputs are the region's arguments and whose outputs are the yielded
//! values.

use mind_diag::Span;
use mind_ir::builder::Builder;
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Op, Trait};
use mind_ir::types::TensorType;
use mind_ir::{BlockId, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ops::control::{Scan, join};
use crate::ops::input::Input;

/// Copies the closed region with block `block` to a module. Its inputs are named `arg0`, `arg1` and so on; those that
/// `is_param` selects are weights.
///
/// Values keep their labels.
pub fn outline(g: &Graph, block: BlockId, is_param: impl Fn(usize) -> bool) -> Graph {
    let mut module = g.empty_like();
    let mut copies: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    for (at, argument) in g.arguments(block).into_iter().enumerate() {
        let ty = g.type_id(argument).expect("a verified argument has a type");
        let attrs = Input::attrs(module.intern(&format!("arg{at}")), is_param(at), None);
        let end = InsertPoint::End(module.body());
        let mut builder = Builder::new(&mut module, end, Span::FILE);
        let input = builder.create_typed(Input::DEF, &[], &attrs, &[ty]);
        let value = module.result(input);
        module.set_label(value, g.label(argument));
        copies.insert(argument, value);
    }
    copy_ops(&mut module, g, block, &mut copies);
    module
}

/// Replaces the ops of `block` by those of `module`, which [`outline`] created from it and passes may have changed.
pub fn inline(g: &mut Graph, block: BlockId, module: &Graph) {
    g.catch_up(module);
    while let Some(op) = g.ops(block).next_back() {
        g.erase(op);
    }
    let mut copies: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let inputs = module
        .ops(module.body())
        .filter(|&op| module.is::<Input>(op));
    for input in inputs {
        let name = module.name(Input::from_id(input).name(module));
        let at = name.strip_prefix("arg").and_then(|at| at.parse().ok());
        let at: usize = at.expect("an input of an outlined region");
        copies.insert(module.result(input), g.arguments(block).get(at));
    }
    let end = InsertPoint::End(block);
    for op in module.ops(module.body()) {
        if !module.is::<Input>(op) {
            copy_op(g, end, module, op, &mut copies);
        }
    }
}

/// Appends copies of the ops of a block to a module.
fn copy_ops(
    module: &mut Graph,
    g: &Graph,
    block: BlockId,
    copies: &mut FxHashMap<ValueId, ValueId>,
) {
    for op in g.ops(block) {
        let end = InsertPoint::End(module.body());
        copy_op(module, end, g, op, copies);
    }
}

fn copy_op(
    to: &mut Graph,
    at: InsertPoint,
    from: &Graph,
    op: OpId,
    copies: &mut FxHashMap<ValueId, ValueId>,
) {
    let operands: Vec<ValueId> = from
        .operands(op)
        .iter()
        .map(|value| copies[value])
        .collect();
    if from.def(op).has(Trait::Terminator) {
        let new = NewOp {
            def: Yield::DEF,
            operands: &operands,
            attrs: &[],
            results: 0,
            span: from.span(op),
        };
        to.insert(at, new);
        return;
    }
    let copy = to.copy_from(from, at, op, &operands);
    copies.extend(from.results(op).into_iter().zip(to.results(copy)));
}

/// Returns the blocks of the control flow ops in `block`, in order; nested ones are not included.
pub fn controlled(g: &Graph, block: BlockId) -> Vec<BlockId> {
    let control = g.ops(block).filter(|&op| g.def(op).arguments.is_some());
    let regions = control.flat_map(|op| g.regions(op).iter());
    regions.map(|&region| g.block(region)).collect()
}

/// Returns the values of a module's body that depend only on weights and constants. They are the same in every run.
pub fn settled(g: &Graph) -> FxHashSet<ValueId> {
    let mut settled: FxHashSet<ValueId> = FxHashSet::default();
    for op in g.ops(g.body()) {
        let (def, operands) = (g.def(op), g.operands(op));
        let is_settled = match g.view::<Input>(op) {
            Some(input) => input.param(g),
            None if operands.is_empty() => def.has(Trait::Constant),
            None => {
                let is_plain = def.has(Trait::Pure) && def.arguments.is_none();
                is_plain && operands.iter().all(|value| settled.contains(value))
            }
        };
        if is_settled {
            settled.extend(g.results(op));
        }
    }
    settled
}

/// For each of the `blocks` of control flow ops in a module's body, returns the indices of the arguments that are
/// [`settled`] values in every step: those for loop-invariant operands of a scan.
pub fn settled_arguments(g: &Graph, blocks: &[BlockId]) -> Vec<FxHashSet<usize>> {
    if blocks.is_empty() {
        return Vec::new();
    }
    let settled = settled(g);
    let arguments = |block: &BlockId| -> FxHashSet<usize> {
        let scan = g.block_owner(*block).and_then(|op| g.view::<Scan>(op));
        let Some(scan) = scan else {
            return FxHashSet::default();
        };
        let first = scan.operands(g).len() - scan.fixed(g).len();
        let fixed = scan.fixed(g).iter().enumerate();
        let places = fixed.filter(|(_, value)| settled.contains(value));
        places.map(|(at, _)| first + at).collect()
    };
    blocks.iter().map(arguments).collect()
}

/// The types of the values that a loop carries, while an importer builds the loop. The ops that it emits for a step
/// depend on the types of the arguments, so that the importer rebuilds the loop if the step changes extents.
pub struct Carried {
    /// For each carried value the type with open extents, if its extents change.
    open: Vec<Option<TensorType>>,
    /// The region that computes the next carried values.
    step: usize,
    /// Whether a step changed extents that the loop was built with.
    pub changes: bool,
}

impl Carried {
    /// Creates the state of `count` carried values, which region `step` computes.
    pub fn new(count: usize, step: usize) -> Carried {
        Carried {
            open: vec![None; count],
            step,
            changes: false,
        }
    }

    /// Returns the number of carried values.
    pub fn count(&self) -> usize {
        self.open.len()
    }

    /// Sets the types of the arguments whose extents are known to change.
    pub fn open(&self, g: &mut Graph, region: usize, arguments: &[ValueId]) {
        for (ty, &argument) in self.open.iter().zip(arguments) {
            let Some(ty) = ty else { continue };
            let ty = g.intern_type(ty.view());
            g.set_type(argument, ty);
            if region == self.step {
                g.declare(argument, ty);
            }
        }
    }

    /// Records the extents of arguments that differ from those of the values after a step.
    pub fn widen(&mut self, g: &Graph, region: usize, arguments: &[ValueId], next: &[ValueId]) {
        if region != self.step {
            return;
        }
        for ((open, &argument), &next) in self.open.iter_mut().zip(arguments).zip(next) {
            let own = g.ty(argument);
            if let Some(joined) = join(own, g.ty(next)).filter(|joined| joined.view() != own) {
                *open = Some(joined);
                self.changes = true;
            }
        }
    }
}
