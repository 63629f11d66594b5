//! Rules made ready for matching.

use mind_ir::attr::AttrKind;

use crate::egraph::optable::{OpIx, OpTable};
use crate::egraph::payload::AttrValue;
use crate::expr::{Condition, Expression};
use crate::fast_math::FastMath;
use crate::report::RuleIx;
use crate::slots::{Reg, Slot};

/// When a rule acts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Phase {
    /// Makes the region smaller.
    Simplify,
    /// Moves layouts about.
    Layout,
    /// Makes one op of several that share an operand.
    Merge,
    /// Regroups sums and products; opt-in.
    Reassociate,
    /// Names groups.
    Fusion,
}

/// One direction of a rule for one op.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) name: RuleIx,
    pub(crate) phase: Phase,
    /// Whether this is `<=>` read from right to left.
    pub(crate) reversed: bool,
    /// What must be allowed for the rule to act.
    pub(crate) class: FastMath,
    /// The relative error that `approx` allows.
    pub(crate) tolerance: f64,
    /// Whether the e-graph uses it.
    pub(crate) egraph: bool,
    pub(crate) pattern: Pattern,
    pub(crate) condition: Option<Condition>,
    pub(crate) effect: Effect,
}

/// What a match leads to.
#[derive(Debug)]
pub(crate) enum Effect {
    /// The root equals this.
    Rewrite(Template),
    /// All matches that differ in one value alone are parts of this, over that value joined.
    Merge(Template, Join),
    /// The matched ops may run as one group of this kind.
    Group(&'static str),
}

/// What to look for: instructions for the matching machine.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// The op of the root.
    pub(crate) root: OpIx,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) registers: usize,
    pub(crate) attrs: usize,
    pub(crate) dtypes: usize,
    pub(crate) dims: usize,
    pub(crate) shapes: usize,
}

impl Pattern {
    /// The op of every term.
    pub(crate) fn ops(&self) -> impl Iterator<Item = OpIx> {
        self.instructions.iter().filter_map(|each| match each {
            Instruction::Open { op, .. } => Some(*op),
            Instruction::Near { .. } | Instruction::Same(..) | Instruction::Type { .. } => None,
        })
    }
}

/// One step of matching. Each either fails or goes on to the next.
#[derive(Debug)]
pub(crate) enum Instruction {
    /// For every e-node of `op` in the class in `reg` with such attributes and `arity` children: puts
    /// these into the registers from `out` on. With `swap`, also the other way round.
    Open {
        reg: Reg,
        op: OpIx,
        attrs: Box<[AttrPattern]>,
        arity: usize,
        out: Reg,
        swap: bool,
    },
    /// The class in `reg` is a splat of this value, within its dtype.
    Near { reg: Reg, value: f64 },
    /// Both registers hold one class.
    Same(Reg, Reg),
    /// The class in `reg` has such a type.
    Type { reg: Reg, ty: TypePattern },
}

/// What an attribute must be.
#[derive(Clone, Debug)]
pub(crate) enum AttrPattern {
    /// Anything; the slot holds it from here on.
    Bind(Slot),
    /// What the slot holds.
    Same(Slot),
    /// This.
    Equals(AttrValue),
}

/// A part of a pattern that binds at its first place and compares at every other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Bind(Slot),
    Same(Slot),
}

/// What a type must be.
#[derive(Debug)]
pub(crate) struct TypePattern {
    pub(crate) dtype: Option<Part>,
    pub(crate) shape: Option<ShapePattern>,
}

/// What a shape must be: some extents, any number of others, some extents.
#[derive(Debug)]
pub(crate) struct ShapePattern {
    pub(crate) front: Box<[DimPattern]>,
    pub(crate) rest: Option<Part>,
    pub(crate) back: Box<[DimPattern]>,
}

/// What an extent must be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DimPattern {
    Fixed(i64),
    Part(Part),
}

/// What replaces a match: terms, each after those it reads; the last one is the root.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) terms: Vec<TemplateTerm>,
}

/// The value that a template joins over several matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Join {
    /// The position of the joining op among the terms.
    pub(crate) term: usize,
    /// The register of what is joined.
    pub(crate) reg: Reg,
}

impl Template {
    /// The first op that takes any number of operands, along the axis that is its one attribute, and is
    /// given one value.
    pub(crate) fn join(&self, ops: &OpTable) -> Option<Join> {
        let joins = |term: usize| match &self.terms[term] {
            TemplateTerm::Op { op, operands, .. } => {
                let def = ops.def(*op);
                let axis = matches!(def.attrs, [axis] if axis.kind == AttrKind::Int);
                let &[operand] = operands.as_ref() else {
                    return None;
                };
                match self.terms[operand] {
                    TemplateTerm::Register(reg) if axis && def.variadic.is_some() => {
                        Some(Join { term, reg })
                    }
                    _ => None,
                }
            }
            TemplateTerm::Register(_) | TemplateTerm::Like { .. } => None,
        };
        (0..self.terms.len()).find_map(joins)
    }
}

/// A term of a template.
#[derive(Debug)]
pub(crate) enum TemplateTerm {
    /// What a register holds.
    Register(Reg),
    /// An op over earlier terms; one attribute per row of its table entry.
    Op {
        op: OpIx,
        attrs: Box<[Expression]>,
        operands: Box<[usize]>,
    },
    /// `number` at every position of a value like the one in `reg`, or once, in its dtype.
    Like {
        reg: Reg,
        scalar: bool,
        number: Number,
    },
}

/// A number of a rule file, as exact as it can be kept.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    /// The number that `text` spells.
    pub(crate) fn parse(text: &str) -> Option<Number> {
        match text.parse() {
            Ok(value) => Some(Number::Int(value)),
            Err(_) => text.parse().ok().map(Number::Float),
        }
    }

    /// The number as a float.
    pub(crate) fn to_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }
}
