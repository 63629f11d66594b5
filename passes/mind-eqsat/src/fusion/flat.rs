//! Converts ops of the module into steps of a kernel, with fused ops inlined.

use mind_ir::attr::Attr;
use mind_ir::graph::Graph;
use mind_ir::kernel::{self, Read, Source, Step, StepKind};
use mind_ir::opdef::Trait;
use mind_ir::types::{Dim, TypeView};
use mind_ir::{OpId, ValueId};
use smallvec::SmallVec;

use super::build::is_copied_along;
use crate::cost::{CostClass, CostTable, Inner};

/// The most dimensions of a value in a group.
const MAX_RANK: usize = 32;

/// Marks values that no step defines.
const OUTSIDE: u32 = u32::MAX;

/// Marks block arguments that are constants of the group.
const CONSTANT: u32 = u32::MAX - 1;

/// Converts ops of one module into steps. Its tables are reused from call to call.
pub(crate) struct Flattener<'a> {
    g: &'a Graph,
    costs: &'a CostTable<'a>,
    /// The step that defines each value.
    steps: Vec<u32>,
    touched: Vec<ValueId>,
}

impl<'a> Flattener<'a> {
    /// Creates a flattener for the ops of `g`.
    pub(crate) fn new(g: &'a Graph, costs: &'a CostTable<'a>) -> Flattener<'a> {
        Flattener {
            g,
            costs,
            steps: vec![OUTSIDE; g.value_bound()],
            touched: Vec::new(),
        }
    }

    /// Returns the steps of `ops`, which are in program order; constants in bodies give no steps. Returns `None` if an
    /// op cannot be in a group, for example because it has an unnamed dynamic extent or too many dimensions.
    pub(crate) fn steps(&mut self, ops: impl Iterator<Item = OpId>) -> Option<Vec<Step<'a>>> {
        let ops: SmallVec<[OpId; 16]> = ops.collect();
        let mut steps = Vec::new();
        let complete = ops.iter().all(|&op| self.add(op, &mut steps));
        for &op in &ops {
            for result in self.g.results(op) {
                let outside = |(user, _)| !ops.contains(&user);
                let step = self.steps[result.index()];
                if ![OUTSIDE, CONSTANT].contains(&step) && self.g.uses(result).any(outside) {
                    steps[step as usize].leaves = true;
                }
            }
        }
        for value in self.touched.drain(..) {
            self.steps[value.index()] = OUTSIDE;
        }
        complete.then_some(steps)
    }

    fn add(&mut self, op: OpId, steps: &mut Vec<Step<'a>>) -> bool {
        let g = self.g;
        let [region] = *g.regions(op) else {
            return self.step(op, steps);
        };
        let block = g.block(region);
        for (argument, &operand) in g.arguments(block).into_iter().zip(g.operands(op)) {
            let step = match self.steps[operand.index()] {
                OUTSIDE if is_copied_along(g, operand) => CONSTANT,
                step => step,
            };
            self.define(argument, step);
        }
        for inner in g.ops(block) {
            let def = g.def(inner);
            if def.has(Trait::Terminator) {
                for (result, &value) in g.results(op).into_iter().zip(g.operands(inner)) {
                    self.define(result, self.steps[value.index()]);
                }
            } else if !def.has(Trait::Constant) && !self.step(inner, steps) {
                return false;
            }
        }
        true
    }

    fn define(&mut self, value: ValueId, step: u32) {
        if step != OUTSIDE {
            self.steps[value.index()] = step;
            self.touched.push(value);
        }
    }

    fn step(&mut self, op: OpId, steps: &mut Vec<Step<'a>>) -> bool {
        let g = self.g;
        let mut results = g.results(op).into_iter();
        let (Some(result), None) = (results.next(), results.next()) else {
            return false;
        };
        let values = std::iter::once(result).chain(g.operands(op).iter().copied());
        let types = values.map(|value| g.ty(value));
        let width = kernel::width(types.clone().map(|ty| ty.dtype));
        let mut shapes = types.clone().map(|ty| ty.shape);
        if !g.regions(op).is_empty() || !shapes.all(is_groupable) {
            return false;
        }
        let class = self.costs.class_of(g.def(op));
        let rank = || g.operands(op).first().map(|&value| g.ty(value).rank());
        let attr = |name: &str| Some(g.attr(op, g.def(op).attr_index(name)?));
        let Some(axes) = axes(class, rank, attr) else {
            return false;
        };
        let reads = g.operands(op).iter().map(|&operand| {
            let from = match self.steps[operand.index()] {
                CONSTANT => Source::Constant,
                OUTSIDE if is_copied_along(g, operand) => Source::Constant,
                OUTSIDE => Source::Operand,
                step => Source::Step(step as usize),
            };
            Read {
                from,
                shape: g.ty(operand).shape,
            }
        });
        let step = Step {
            kind: step_kind(class, types),
            width,
            axes,
            result: g.ty(result).shape,
            reads: reads.collect(),
            leaves: false,
        };
        self.define(result, steps.len() as u32);
        steps.push(step);
        true
    }
}

fn is_groupable(shape: &[Dim]) -> bool {
    shape.len() <= MAX_RANK && !shape.contains(&Dim::Dynamic)
}

/// Returns the kind of step of an op of `class`; `types` are those of its result and its operands.
pub(super) fn step_kind<'t>(
    class: CostClass,
    mut types: impl Iterator<Item = TypeView<'t>>,
) -> StepKind {
    match class {
        CostClass::Elementwise => StepKind::Elementwise,
        CostClass::Reduction => StepKind::Reduction,
        CostClass::Normalisation(_) => StepKind::Normalisation,
        CostClass::Contraction(Inner::LastOfLhs) => StepKind::Product,
        CostClass::Contraction(Inner::AllButLastOfRhs) => StepKind::Contraction,
        CostClass::Scaled(_) if has_one_scale(&mut types) => StepKind::Elementwise,
        CostClass::View => StepKind::View,
        CostClass::Permute => StepKind::Permute,
        CostClass::Free
        | CostClass::Move
        | CostClass::Lookup
        | CostClass::Product
        | CostClass::Scaled(_)
        | CostClass::Convolution => StepKind::Other,
    }
}

/// Returns whether quantisation is per tensor, with a scalar scale in operand 1, and its integer differences fit into
/// 32 bits.
fn has_one_scale<'t>(types: &mut impl Iterator<Item = TypeView<'t>>) -> bool {
    let (Some(result), Some(input), Some(scale)) = (types.next(), types.next(), types.next())
    else {
        return false;
    };
    let is_narrow = |ty: TypeView<'_>| ty.dtype.is_float() || ty.dtype.size() <= 2;
    scale.rank() == 0 && is_narrow(result) && is_narrow(input)
}

/// Returns the axes that a reduction runs over as a bit set; 0 for other ops. `None` if its attributes are not
/// understood.
pub(super) fn axes<'a>(
    class: CostClass,
    rank: impl FnOnce() -> Option<usize>,
    attr: impl Fn(&str) -> Option<Attr<'a>>,
) -> Option<u64> {
    let bit = |axis: i64, rank: usize| {
        let axis = if axis < 0 { axis + rank as i64 } else { axis };
        let known = (0..rank as i64).contains(&axis);
        known.then(|| 1u64 << axis)
    };
    match class {
        CostClass::Reduction => {
            let rank = rank()?;
            let Some(Attr::Ints(axes)) = attr("axes") else {
                return None;
            };
            if axes.is_empty() {
                return Some((1 << rank) - 1);
            }
            axes.iter()
                .try_fold(0, |all, &axis| Some(all | bit(axis, rank)?))
        }
        CostClass::Normalisation(_) => {
            let rank = rank()?;
            match attr("axis") {
                Some(Attr::Int(axis)) => bit(axis, rank),
                _ => bit(-1, rank),
            }
        }
        _ => Some(0),
    }
}
