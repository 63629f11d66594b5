//! How to build instances of a rule's left side: which values are one, which op comes when.

use mind_core::ops::contract::{Dot, MatMul};
use mind_core::ops::conv::Conv2d;
use mind_core::ops::convolution::{Conv, ConvTranspose};
use mind_core::ops::cumulative::Cumulative;
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::index::Gather;
use mind_core::ops::normalize::{LayerNorm, Softmax};
use mind_core::ops::reduce::{Max, Mean, Min, Prod, Sum};
use mind_core::ops::solve::{Cholesky, TriangularSolve};
use mind_core::ops::window::ReduceWindow;
use mind_ir::attr::AttrKind;
use mind_ir::opdef::{Op, OpDef, OperandClass, Trait};
use mind_ir::types::DType;
use mind_rules::{Hint, Lhs, LhsOp, LhsType, RuleInstance};

use crate::dtypes::{Family, families};
use mind_ir::random::Rng;

/// A left side made ready for building.
#[derive(Clone, Debug)]
pub(crate) struct Plan<'r> {
    /// How many values stand for a list of operands.
    pub(crate) listed: usize,
    /// The ops, each after those that compute its operands.
    pub(crate) ops: Vec<PlanOp<'r>>,
    /// The value that is rewritten.
    pub(crate) root: usize,
    /// How many values there are.
    pub(crate) values: usize,
    /// Which dtype each value has.
    pub(crate) families: Vec<Family>,
    /// How many dtypes are drawn besides the one that the rule is tried on.
    pub(crate) others: usize,
    /// What the condition asks for, over values that stand for those they equal.
    pub(crate) hints: Vec<Hint>,
    /// The types written for values, likewise.
    pub(crate) types: Vec<(usize, LhsType)>,
    /// The value that the rule joins with that of another match.
    pub(crate) joined: Option<usize>,
    /// How many attributes have numbers.
    pub(crate) attrs: usize,
    /// Whether every op works position by position.
    pub(crate) elementwise: bool,
    /// Whether an op slides a filter over images.
    pub(crate) convolves: bool,
    /// Whether an op has results of a dtype that is one of its attributes.
    pub(crate) casts: bool,
    /// Whether an op sums up many elements, so that their order can be seen.
    pub(crate) reduces: bool,
}

/// The plans for a form: for a rule with lists of operands one for each length that is tried.
#[derive(Clone, Debug)]
pub(crate) struct Plans<'r>(Vec<Plan<'r>>);

/// The lengths of lists that are tried; the first one is what a form is known by.
const LENGTHS: [usize; 4] = [2, 1, 3, 4];

impl<'r> Plans<'r> {
    /// The plans for a form's left side.
    ///
    /// # Errors
    ///
    /// A left side that no module has: a value computed by two ops or from itself.
    pub(crate) fn new(form: RuleInstance<'r>) -> Result<Plans<'r>, String> {
        let mut plans = vec![Plan::new(form, LENGTHS[0])?];
        if form.has_lists() {
            let others = LENGTHS[1..].iter();
            plans.extend(others.filter_map(|&listed| Plan::new(form, listed).ok()));
        }
        Ok(Plans(plans))
    }

    /// The plan for lists of the usual length.
    pub(crate) fn usual(&self) -> &Plan<'r> {
        &self.0[0]
    }

    /// The plan for lists of `listed` values.
    pub(crate) fn of(&self, listed: usize) -> &Plan<'r> {
        let own = self.0.iter().find(|plan| plan.listed == listed);
        own.unwrap_or_else(|| self.usual())
    }

    /// Any of the plans.
    pub(crate) fn pick(&self, rng: &mut Rng) -> &Plan<'r> {
        match self.0.as_slice() {
            [only] => only,
            several => rng.pick(several),
        }
    }
}

/// An op of a plan.
#[derive(Clone, Debug)]
pub(crate) struct PlanOp<'r> {
    /// The op as the left side has it.
    pub(crate) left: LhsOp<'r>,
    /// The value it computes.
    pub(crate) result: usize,
    /// The values it reads.
    pub(crate) operands: Vec<usize>,
}

/// Whether `def` is one of `ops`.
pub(crate) fn is_any(def: &'static OpDef, ops: &[&'static OpDef]) -> bool {
    ops.iter().any(|own| std::ptr::eq(*own, def))
}

/// Whether the operand at `index` of `def` holds positions along axes of operand 0.
pub(crate) fn is_index(def: &'static OpDef, index: usize) -> bool {
    let class = def.operand(index).map(|operand| operand.class);
    class == Some(OperandClass::Index) || (index == 1 && is_any(def, &[Gather::DEF]))
}

const REDUCING: [&OpDef; 17] = [
    Sum::DEF,
    Mean::DEF,
    Max::DEF,
    Min::DEF,
    Prod::DEF,
    Cumulative::DEF,
    ReduceWindow::DEF,
    MatMul::DEF,
    Dot::DEF,
    DotGeneral::DEF,
    Cholesky::DEF,
    TriangularSolve::DEF,
    Conv2d::DEF,
    Conv::DEF,
    ConvTranspose::DEF,
    Softmax::DEF,
    LayerNorm::DEF,
];

impl<'r> Plan<'r> {
    /// The plan for a form's left side, with `listed` values for each list of operands.
    ///
    /// # Errors
    ///
    /// A left side that no module has: a value computed by two ops or from itself.
    fn new(form: RuleInstance<'r>, listed: usize) -> Result<Plan<'r>, String> {
        let left = form.left(listed);
        let one = representatives(&left);
        let mut producers: Vec<Option<usize>> = vec![None; left.values];
        for (at, op) in left.ops.iter().enumerate() {
            if producers[one[op.result]].replace(at).is_some() {
                return Err("two ops compute one value".to_owned());
            }
        }
        let mut order = Order {
            left: &left,
            one: &one,
            producers: &producers,
            state: vec![VisitState::New; left.ops.len()],
            ops: Vec::new(),
        };
        order.visit(one[0])?;
        let ops: Vec<PlanOp<'r>> = order
            .ops
            .iter()
            .map(|&at| PlanOp {
                left: left.ops[at].clone(),
                result: one[left.ops[at].result],
                operands: left.ops[at].operands.clone().map(|v| one[v]).collect(),
            })
            .collect();
        let named = |op: &PlanOp<'_>| op.left.attrs.iter().filter_map(number).max();
        let elementwise = |op: &PlanOp<'_>| op.left.def.has(Trait::Elementwise);
        let types = left.types.iter();
        let types: Vec<(usize, LhsType)> =
            types.map(|(value, ty)| (one[*value], ty.clone())).collect();
        let hints = form.hints(listed);
        let hints: Vec<Hint> = hints.iter().map(|hint| moved(hint, &one)).collect();
        let (families, others) = families(&ops, &hints, &types, left.values);
        let families = one.iter().map(|&value| families[value]).collect();
        Ok(Plan {
            listed,
            root: one[0],
            joined: form.joined().map(|value| one[value]),
            values: left.values,
            families,
            others,
            hints,
            types,
            attrs: ops
                .iter()
                .filter_map(named)
                .max()
                .map_or(0, |most| most + 1),
            elementwise: ops.iter().all(elementwise),
            convolves: ops
                .iter()
                .any(|op| is_any(op.left.def, &[Conv2d::DEF, Conv::DEF])),
            casts: ops.iter().any(|op| {
                let mut rows = op.left.def.attrs.iter();
                rows.any(|row| row.kind == AttrKind::ElementType) && !op.operands.is_empty()
            }),
            reduces: ops.iter().any(|op| is_any(op.left.def, &REDUCING)),
            ops,
        })
    }

    /// The dtype of a value that is no list of positions, where the rule is tried on `dtype`; `None` if it is drawn.
    pub(crate) fn dtype_of(&self, value: usize, dtype: DType) -> Option<DType> {
        match self.families.get(value)? {
            Family::Main => Some(dtype),
            Family::Fixed(own) => Some(*own),
            Family::Other(_) => None,
        }
    }

    /// The dtype of a value, where the rule is tried on `dtype` and the drawn ones are `others`.
    pub(crate) fn dtype_with(&self, value: usize, dtype: DType, others: &[DType]) -> Option<DType> {
        match self.families.get(value)? {
            Family::Main => Some(dtype),
            Family::Fixed(own) => Some(*own),
            Family::Other(number) => others.get(*number).copied(),
        }
    }

    /// Every choice of the dtypes that are drawn besides the one that the rule is tried on; empty if there are more than
    /// two of them, because those are too many to try.
    pub(crate) fn all_others(&self) -> Vec<Vec<DType>> {
        let mut all = vec![Vec::new()];
        if self.others > 2 {
            return Vec::new();
        }
        for _ in 0..self.others {
            let longer = |others: &Vec<DType>| {
                let next = |&dtype: &DType| [&others[..], &[dtype]].concat();
                DType::ALL.iter().map(next).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    /// Whether the ops take inputs of `dtype`; where no value has the dtype that the rule is tried on, that is `bool`.
    pub(crate) fn admits(&self, dtype: DType) -> bool {
        let varies = self.families.contains(&Family::Main) || dtype == DType::Bool;
        varies
            && self.ops.iter().all(|op| {
                op.operands.iter().enumerate().all(|(at, &value)| {
                    let operand = op.left.def.operand(at);
                    let admits = |own| operand.is_none_or(|operand| operand.class.admits(own));
                    is_index(op.left.def, at) || self.dtype_of(value, dtype).is_none_or(admits)
                })
            })
    }

    /// The rank that the condition gives a value.
    pub(crate) fn rank(&self, value: usize) -> Option<i64> {
        self.hints.iter().find_map(|hint| match *hint {
            Hint::Rank(own, rank) if own == value => Some(rank),
            _ => None,
        })
    }
}

fn number(attr: &mind_rules::LhsAttr<'_>) -> Option<usize> {
    match attr {
        mind_rules::LhsAttr::Named(number) => Some(*number),
        mind_rules::LhsAttr::Fixed(_) => None,
    }
}

/// For every value, the first of those it equals.
fn representatives(left: &Lhs<'_>) -> Vec<usize> {
    let mut one: Vec<usize> = (0..left.values).collect();
    for &(a, b) in &left.same {
        let (a, b) = (one[a].min(one[b]), one[a].max(one[b]));
        one.iter_mut()
            .filter(|own| **own == b)
            .for_each(|own| *own = a);
    }
    one
}

fn moved(hint: &Hint, one: &[usize]) -> Hint {
    match *hint {
        Hint::Constant(value) => Hint::Constant(one[value]),
        Hint::Truth(value) => Hint::Truth(one[value]),
        Hint::Splat(value, number) => Hint::Splat(one[value], number),
        Hint::PowerOfTwo(value) => Hint::PowerOfTwo(one[value]),
        Hint::AllOnes(value) => Hint::AllOnes(one[value]),
        Hint::Lowest(value) => Hint::Lowest(one[value]),
        Hint::Highest(value) => Hint::Highest(one[value]),
        Hint::Positive(value) => Hint::Positive(one[value]),
        Hint::Identity(value) => Hint::Identity(one[value]),
        Hint::Positions(value) => Hint::Positions(one[value]),
        Hint::Indices(value) => Hint::Indices(one[value]),
        Hint::Fact(value, facts) => Hint::Fact(one[value], facts),
        Hint::Rank(value, rank) => Hint::Rank(one[value], rank),
        Hint::SameShape(a, b) => Hint::SameShape(one[a], one[b]),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VisitState {
    New,
    Open,
    Done,
}

struct Order<'p, 'r> {
    left: &'p Lhs<'r>,
    one: &'p [usize],
    producers: &'p [Option<usize>],
    state: Vec<VisitState>,
    ops: Vec<usize>,
}

impl Order<'_, '_> {
    /// The depth is that of the pattern, which its parser bounds.
    fn visit(&mut self, value: usize) -> Result<(), String> {
        let Some(at) = self.producers[value] else {
            return Ok(());
        };
        match self.state[at] {
            VisitState::Done => return Ok(()),
            VisitState::Open => return Err("a value is computed from itself".to_owned()),
            VisitState::New => self.state[at] = VisitState::Open,
        }
        for operand in self.left.ops[at].operands.clone() {
            self.visit(self.one[operand])?;
        }
        self.state[at] = VisitState::Done;
        self.ops.push(at);
        Ok(())
    }
}
