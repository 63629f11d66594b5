//! Rules made ready for matching.

use mind_ir::attr::AttrKind;

use crate::attr_value::AttrValue;
use crate::expr::{Condition, Expression};
use crate::matching::operand_filter::OperandFilter;
use crate::matching::slots::{Reg, RuleNames, Slot};
use crate::op_table::{OpIx, OpTable};
use crate::ruleset::fast_math::FastMath;
use crate::ruleset::rule_info::RuleIx;
use crate::ruleset::rule_info::{Engine, Phase};

/// One direction of a rule for one op.
#[derive(Debug)]
pub struct Rule {
    /// The rule.
    pub name: RuleIx,
    /// The op that `op` names.
    pub op: Option<OpIx>,
    /// When it acts in the e-graph.
    pub phase: Phase,
    /// Whether this is `<=>` read from right to left.
    pub reversed: bool,
    /// What must be allowed for the rule to act.
    pub class: FastMath,
    /// The relative error that `approx` allows.
    pub(crate) tolerance: f64,
    /// Which engines use it.
    pub engine: Engine,
    /// The left side.
    pub pattern: Pattern,
    pub(crate) operand_filter: OperandFilter,
    /// What must hold of a match.
    pub condition: Option<Condition>,
    /// What a match leads to.
    pub effect: Effect,
    /// What the rule calls what it binds.
    pub names: RuleNames,
}

/// What a match leads to.
#[derive(Debug)]
pub enum Effect {
    /// The root equals this.
    Rewrite(Template),
    /// All matches that differ in one value alone are parts of this, over that value joined.
    Merge(Template, Join),
    /// The matched ops may run as one group of this kind.
    Group(&'static str),
}

/// What to look for: instructions for the matching machine, and how many registers and slots of each kind they use.
#[derive(Debug)]
#[expect(missing_docs, reason = "each item says what its fields are")]
pub struct Pattern {
    /// The op of the root.
    pub root: OpIx,
    pub instructions: Vec<Instruction>,
    /// Whether ops that compute a constant match. No group computes one, and a constant such as 0 is what countless ops
    /// in an e-graph compute.
    pub opens_constants: bool,
    pub registers: usize,
    pub attrs: usize,
    pub dtypes: usize,
    pub dims: usize,
    pub shapes: usize,
    pub lists: usize,
}

impl Pattern {
    /// Whether it matches a result of an op of several.
    pub fn matches_projection(&self, ops: &OpTable) -> bool {
        fn any(instructions: &[Instruction], ops: &OpTable) -> bool {
            instructions.iter().any(|each| match each {
                Instruction::Open { op, .. } | Instruction::OpenList { op, .. } => {
                    ops.is_projection(*op)
                }
                Instruction::Each(each) => any(&each.body, ops),
                Instruction::Near { .. }
                | Instruction::Same(..)
                | Instruction::SameList(..)
                | Instruction::Type { .. }
                | Instruction::First { .. }
                | Instruction::Start { .. } => false,
            })
        }
        any(&self.instructions, ops)
    }

    /// How many ops lie on the longest way from its root to a value.
    pub fn depth(&self) -> usize {
        fn depths(instructions: &[Instruction], of: &mut Depths) {
            for each in instructions {
                match each {
                    Instruction::Open {
                        reg, out, operands, ..
                    } => {
                        let below = of.register(*reg) + 1;
                        (*out..*out + *operands).for_each(|reg| of.registers.push((reg, below)));
                    }
                    Instruction::OpenList { reg, items, .. } => {
                        let below = of.register(*reg) + 1;
                        for item in items {
                            match *item {
                                Item::One(reg) => of.registers.push((reg, below)),
                                Item::Many(list) => of.lists.push((list, below)),
                            }
                        }
                    }
                    Instruction::First { list, reg } => {
                        let depth = of.list(*list);
                        of.registers.push((*reg, depth));
                    }
                    Instruction::Start { reg, list } => {
                        let depth = of.register(*reg);
                        of.lists.push((*list, depth));
                    }
                    Instruction::Each(each) => {
                        let depth = of.list(each.list);
                        of.registers.push((each.reg, depth));
                        depths(&each.body, of);
                    }
                    Instruction::Near { .. }
                    | Instruction::Same(..)
                    | Instruction::SameList(..)
                    | Instruction::Type { .. } => {}
                }
            }
        }
        let mut of = Depths::default();
        depths(&self.instructions, &mut of);
        let all = of.registers.iter().chain(&of.lists);
        all.map(|&(_, depth)| depth).max().unwrap_or(0)
    }
}

/// How many ops lie above what registers and lists hold; those not named are the root.
#[derive(Default)]
struct Depths {
    registers: Vec<(Reg, usize)>,
    lists: Vec<(Slot, usize)>,
}

impl Depths {
    fn register(&self, reg: Reg) -> usize {
        Depths::deepest(&self.registers, reg)
    }

    fn list(&self, list: Slot) -> usize {
        Depths::deepest(&self.lists, list)
    }

    fn deepest(all: &[(u8, usize)], wanted: u8) -> usize {
        let own = all.iter().filter(|(each, _)| *each == wanted);
        own.map(|&(_, depth)| depth).max().unwrap_or(0)
    }
}

/// One step of matching. Each either fails or goes on to the next.
#[derive(Debug)]
#[expect(missing_docs, reason = "each item says what its fields are")]
pub enum Instruction {
    /// For every op of this kind with `operands` operands that computes the value in `reg`, and has such
    /// attributes: puts its operands into the registers from `out` on. With `swap`, also the other way
    /// round.
    Open {
        reg: Reg,
        op: OpIx,
        attrs: Box<[AttrPattern]>,
        out: Reg,
        operands: Reg,
        swap: bool,
    },
    /// The same for any number of operands, split in every way that `items` allow.
    OpenList {
        reg: Reg,
        op: OpIx,
        attrs: Box<[AttrPattern]>,
        items: Box<[Item]>,
    },
    /// The value in `reg` is a splat of this one, within its dtype.
    Near { reg: Reg, value: f64 },
    /// Both registers hold one value.
    Same(Reg, Reg),
    /// Both lists hold the same values.
    SameList(Slot, Slot),
    /// The value in `reg` has such a type.
    Type { reg: Reg, ty: TypePattern },
    /// Puts the first value of a list into `reg`; an empty list fails.
    First { list: Slot, reg: Reg },
    /// Makes the list in `list` the one value in `reg`.
    Start { reg: Reg, list: Slot },
    /// Matches every value of a list but the first.
    Each(Each),
}

/// What every value of a list but the first must be.
#[derive(Debug)]
pub struct Each {
    /// The list.
    pub list: Slot,
    /// Where each value is put for `body`.
    pub reg: Reg,
    /// The pattern of each value.
    pub body: Box<[Instruction]>,
    /// What is added to a list when the body has matched.
    pub collect: Box<[(Reg, Slot)]>,
}

/// An operand of a pattern for any number of operands.
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// One operand.
    One(Reg),
    /// Any number of them.
    Many(Slot),
}

/// What an attribute must be.
#[derive(Clone, Debug)]
pub enum AttrPattern {
    /// Anything; the slot holds it from here on.
    Bind(Slot),
    /// What the slot holds.
    Same(Slot),
    /// This.
    Equals(AttrValue),
}

/// A part of a pattern that binds at its first place and compares at every other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The first place.
    Bind(Slot),
    /// Another place.
    Same(Slot),
}

/// What a type must be.
#[derive(Debug)]
pub struct TypePattern {
    /// The dtype, if it is written.
    pub dtype: Option<Part>,
    /// The shape, if it is written.
    pub shape: Option<ShapePattern>,
}

/// What a shape must be: some extents, any number of others, some extents.
#[derive(Debug)]
pub struct ShapePattern {
    /// The extents written first.
    pub front: Box<[DimPattern]>,
    /// The name of the others, if there may be any.
    pub rest: Option<Part>,
    /// The extents written last.
    pub back: Box<[DimPattern]>,
}

/// What an extent must be.
#[derive(Clone, Copy, Debug)]
pub enum DimPattern {
    /// This extent.
    Fixed(i64),
    /// A named one.
    Part(Part),
}

/// What replaces a match: terms, each after those it reads; the last one is the root.
#[derive(Debug)]
pub struct Template {
    /// Each after those it reads.
    pub terms: Vec<TemplateTerm>,
}

/// The value that a template joins over several matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Join {
    /// The position of the joining op among the terms.
    pub term: usize,
    /// The register of what is joined.
    pub reg: Reg,
}

impl Template {
    /// The first op that takes any number of operands, along the axis that is its one attribute, and is
    /// given one value.
    pub fn join(&self, ops: &OpTable) -> Option<Join> {
        let joins = |term: usize| match &self.terms[term] {
            TemplateTerm::Op { op, operands, .. } => {
                let def = ops.def(*op);
                let axis = matches!(def.attrs, [axis] if axis.kind == AttrKind::Int);
                let [TemplateOperand::Term(operand)] = operands.as_ref() else {
                    return None;
                };
                match self.terms[*operand] {
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

    /// Whether it is of one length for every match.
    pub fn is_fixed(&self) -> bool {
        let fixed = |term: &TemplateTerm| match term {
            TemplateTerm::Op { operands, .. } => operands
                .iter()
                .all(|operand| matches!(operand, TemplateOperand::Term(_))),
            TemplateTerm::Register(_) | TemplateTerm::Like { .. } => true,
        };
        self.terms.iter().all(fixed)
    }
}

/// A term of a template.
#[derive(Debug)]
#[expect(missing_docs, reason = "each item says what its fields are")]
pub enum TemplateTerm {
    /// What a register holds.
    Register(Reg),
    /// An op over earlier terms; one attribute per row of its table entry.
    Op {
        op: OpIx,
        attrs: Box<[Expression]>,
        operands: Box<[TemplateOperand]>,
    },
    /// `number` at every position of a value like the one in `reg`, or once, in its dtype.
    Like {
        reg: Reg,
        scalar: bool,
        number: Expression,
    },
}

/// An operand of a template's op.
#[derive(Debug)]
pub enum TemplateOperand {
    /// An earlier term of the same template.
    Term(usize),
    /// Every value of a list.
    List(Slot),
    /// One term per value of some lists of one length.
    Each(Box<Repeated>),
}

/// A template for each value of some lists.
#[derive(Debug)]
pub struct Repeated {
    /// The lists, each with the register that holds its value in turn.
    pub lists: Box<[(Slot, Reg)]>,
    /// What each value becomes.
    pub template: Template,
}
