//! Plans for building instances of a rule's left side: values that are unified, and ops in topological order.

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

/// A left side prepared for building.
#[derive(Clone, Debug)]
pub(crate) struct Plan<'r> {
    /// The number of values in each list of operands.
    pub(crate) listed: usize,
    /// The ops in topological order.
    pub(crate) ops: Vec<PlanOp<'r>>,
    /// The value that is rewritten.
    pub(crate) root: usize,
    /// The number of values.
    pub(crate) values: usize,
    /// The dtype family of each value.
    pub(crate) families: Vec<Family>,
    /// The number of dtypes that are drawn independently of the main one.
    pub(crate) others: usize,
    /// The requirements of the condition. Equal values are represented by the first of them.
    pub(crate) hints: Vec<Hint>,
    /// The types written for values, which are represented in the same way.
    pub(crate) types: Vec<(usize, LhsType)>,
    /// The value that the rule merges with that of another match.
    pub(crate) joined: Option<usize>,
    /// The number of named attributes.
    pub(crate) attrs: usize,
    /// Whether every op is elementwise.
    pub(crate) elementwise: bool,
    /// Whether an op is a convolution.
    pub(crate) convolves: bool,
    /// Whether an op has an attribute that is the dtype of its result.
    pub(crate) casts: bool,
    /// Whether an op accumulates many elements, so that their order may affect the result.
    pub(crate) reduces: bool,
}

/// The plans for a form. A rule with lists of operands has one for each length that is tried.
#[derive(Clone, Debug)]
pub(crate) struct Plans<'r>(Vec<Plan<'r>>);

/// The lengths of lists that are tried; the first one is that of [`Plans::usual`].
const LENGTHS: [usize; 4] = [2, 1, 3, 4];

impl<'r> Plans<'r> {
    /// Creates the plans for a form's left side.
    ///
    /// # Errors
    ///
    /// If no module can have the left side, because a value is computed by two ops or from itself.
    pub(crate) fn new(form: RuleInstance<'r>) -> Result<Plans<'r>, String> {
        let mut plans = vec![Plan::new(form, LENGTHS[0])?];
        if form.has_lists() {
            let others = LENGTHS[1..].iter();
            plans.extend(others.filter_map(|&listed| Plan::new(form, listed).ok()));
        }
        Ok(Plans(plans))
    }

    /// Returns the plan for lists of the usual length.
    pub(crate) fn usual(&self) -> &Plan<'r> {
        &self.0[0]
    }

    /// Returns the plan for lists of `listed` values.
    pub(crate) fn of(&self, listed: usize) -> &Plan<'r> {
        let own = self.0.iter().find(|plan| plan.listed == listed);
        own.unwrap_or_else(|| self.usual())
    }

    /// Returns a random one of the plans.
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
    /// The op of the left side.
    pub(crate) left: LhsOp<'r>,
    /// The value that it computes.
    pub(crate) result: usize,
    /// The values that it reads.
    pub(crate) operands: Vec<usize>,
}

/// Returns whether `def` is one of `ops`.
pub(crate) fn is_any(def: &'static OpDef, ops: &[&'static OpDef]) -> bool {
    ops.iter().any(|own| std::ptr::eq(*own, def))
}

/// Returns whether the operand at `index` of `def` holds indices into operand 0.
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
    /// Creates the plan for a form's left side, with `listed` values for each list of operands.
    ///
    /// # Errors
    ///
    /// If no module can have the left side, because a value is computed by two ops or from itself.
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

    /// Returns the dtype of a value that is not an index if the main dtype is `dtype`; `None` if it is drawn.
    pub(crate) fn dtype_of(&self, value: usize, dtype: DType) -> Option<DType> {
        match self.families.get(value)? {
            Family::Main => Some(dtype),
            Family::Fixed(own) => Some(*own),
            Family::Other(_) => None,
        }
    }

    /// Returns the dtype of a value if the main dtype is `dtype` and the drawn ones are `others`.
    pub(crate) fn dtype_with(&self, value: usize, dtype: DType, others: &[DType]) -> Option<DType> {
        match self.families.get(value)? {
            Family::Main => Some(dtype),
            Family::Fixed(own) => Some(*own),
            Family::Other(number) => others.get(*number).copied(),
        }
    }

    /// Returns every combination of the drawn dtypes, without the main one; empty if there are more than two of them,
    /// because those combinations are too many to try.
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

    /// Returns whether the ops take inputs of `dtype`. If no value has the main dtype, only `bool` is admitted, so that
    /// the rule is tried once.
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

    /// Returns the rank that the condition requires of a value; `None` if it requires none.
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

/// Returns the representative of each value: the first of the values that it is equal to.
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
    /// Visits `value` after its operands. The recursion depth is bounded, because the parser bounds the depth of
    /// patterns.
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
