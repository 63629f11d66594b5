//! Rules compiled for matching.

use mind_ir::attr::AttrKind;

use crate::attr_value::AttrValue;
use crate::expr::{Condition, Expression};
use crate::matching::operand_filter::OperandFilter;
use crate::matching::slots::{Reg, RuleNames, Slot};
use crate::op_table::{OpIx, OpTable};
use crate::ruleset::fast_math::FastMath;
use crate::ruleset::rule_info::RuleIx;
use crate::ruleset::rule_info::{Engine, Phase};

/// One direction of a rule, for one op.
#[derive(Debug)]
pub struct Rule {
    /// The source rule.
    pub name: RuleIx,
    /// The op substituted for `op`.
    pub op: Option<OpIx>,
    /// The phase in which the e-graph applies it.
    pub phase: Phase,
    /// Whether this is the right-to-left direction of `<=>`.
    pub reversed: bool,
    /// The fast-math class that must be enabled for the rule.
    pub class: FastMath,
    /// The relative error allowed by the class `approx`.
    pub(crate) tolerance: f64,
    /// The engines that use it.
    pub engine: Engine,
    /// The left side, compiled.
    pub pattern: Pattern,
    pub(crate) operand_filter: OperandFilter,
    /// The condition on a match.
    pub condition: Option<Condition>,
    /// The effect of a match.
    pub effect: Effect,
    /// The names in the source of everything the rule binds.
    pub names: RuleNames,
}

/// The effect of a match.
#[derive(Debug)]
pub enum Effect {
    /// The root is equal to this template.
    Rewrite(Template),
    /// Matches that differ in one value only are merged: the root of each is a part of this template applied to the
    /// concatenation of these values.
    Merge(Template, Join),
    /// The matched ops may be fused as a group of this kind.
    Group(&'static str),
}

/// Instructions for the matching machine, and the number of registers and slots of each kind that they use.
#[derive(Debug)]
#[expect(missing_docs, reason = "each item says what its fields are")]
pub struct Pattern {
    /// The op of the root.
    pub root: OpIx,
    pub instructions: Vec<Instruction>,
    /// Whether ops that compute a constant may match. Fusions exclude them because a group does not compute a constant,
    /// and because an e-graph has countless ops that compute a constant such as 0.
    pub opens_constants: bool,
    pub registers: usize,
    pub attrs: usize,
    pub dtypes: usize,
    pub dims: usize,
    pub shapes: usize,
    pub lists: usize,
}

impl Pattern {
    /// Returns whether the pattern matches a result of a multi-result op.
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

    /// Returns the number of ops on the longest path from the root to a value.
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

/// The number of ops above the contents of each register and list. Registers that are not listed hold the root.
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

/// One step of matching, which fails or continues with the next one.
#[derive(Debug)]
#[expect(missing_docs, reason = "each item says what its fields are")]
pub enum Instruction {
    /// For each op of this definition that computes the value in `reg` and has `operands` operands and matching
    /// attributes: loads its operands into the registers from `out`. With `swap`, the operands are also tried in
    /// reverse order.
    Open {
        reg: Reg,
        op: OpIx,
        attrs: Box<[AttrPattern]>,
        out: Reg,
        operands: Reg,
        swap: bool,
    },
    /// The same for an op with any number of operands, split in every way that `items` allow.
    OpenList {
        reg: Reg,
        op: OpIx,
        attrs: Box<[AttrPattern]>,
        items: Box<[Item]>,
    },
    /// The value in `reg` is a splat of this number, up to the precision of its dtype.
    Near { reg: Reg, value: f64 },
    /// Both registers hold the same value.
    Same(Reg, Reg),
    /// Both lists hold the same values.
    SameList(Slot, Slot),
    /// The value in `reg` has a matching type.
    Type { reg: Reg, ty: TypePattern },
    /// Loads the first value of a list into `reg`; fails if the list is empty.
    First { list: Slot, reg: Reg },
    /// Sets the list to the single value in `reg`.
    Start { reg: Reg, list: Slot },
    /// Matches all values of a list except the first.
    Each(Each),
}

/// A pattern for all values of a list except the first, which is matched by the instructions before it.
#[derive(Debug)]
pub struct Each {
    /// The list.
    pub list: Slot,
    /// The register that holds the current value for `body`.
    pub reg: Reg,
    /// The pattern of each value.
    pub body: Box<[Instruction]>,
    /// Registers that are appended to lists after the body has matched.
    pub collect: Box<[(Reg, Slot)]>,
}

/// An operand in a pattern with any number of operands.
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// One operand.
    One(Reg),
    /// Any number of operands.
    Many(Slot),
}

/// A pattern for an attribute.
#[derive(Clone, Debug)]
pub enum AttrPattern {
    /// Any value; binds the slot.
    Bind(Slot),
    /// The value bound to the slot.
    Same(Slot),
    /// This value.
    Equals(AttrValue),
}

/// A name in a pattern: its first occurrence binds, every other one compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotUse {
    /// The first occurrence.
    Bind(Slot),
    /// A later occurrence.
    Same(Slot),
}

/// A pattern for a type.
#[derive(Debug)]
pub struct TypePattern {
    /// The dtype, if the rule constrains it.
    pub dtype: Option<SlotUse>,
    /// The shape, if the rule constrains it.
    pub shape: Option<ShapePattern>,
}

/// A pattern for a shape: leading extents, any number of others, trailing extents.
#[derive(Debug)]
pub struct ShapePattern {
    /// The leading extents.
    pub front: Box<[DimPattern]>,
    /// The name of the extents in between, if they are allowed.
    pub rest: Option<SlotUse>,
    /// The trailing extents.
    pub back: Box<[DimPattern]>,
}

/// A pattern for an extent.
#[derive(Clone, Copy, Debug)]
pub enum DimPattern {
    /// This extent.
    Fixed(i64),
    /// A named extent.
    Named(SlotUse),
}

/// The replacement of a match: terms in topological order, the last of which is the root.
#[derive(Debug)]
pub struct Template {
    /// The terms; each reads only earlier ones.
    pub terms: Vec<TemplateTerm>,
}

/// The operand of a template that is concatenated over several matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Join {
    /// The position of the concatenating op among the terms.
    pub term: usize,
    /// The register of the value that is concatenated.
    pub reg: Reg,
}

impl Template {
    /// Returns the first variadic op whose only attribute is an axis and whose only operand is a matched value, for
    /// example a `concat` of one value.
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

    /// Returns whether the template has the same number of terms for every match.
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
    /// The value in a register.
    Register(Reg),
    /// An op over earlier terms, with one expression for each attribute of its definition.
    Op {
        op: OpIx,
        attrs: Box<[Expression]>,
        operands: Box<[TemplateOperand]>,
    },
    /// The constant `number` in the dtype of the value in `reg`: a scalar, or a splat of that value's shape.
    Like {
        reg: Reg,
        scalar: bool,
        number: Expression,
    },
}

/// An operand of an op of a template.
#[derive(Debug)]
pub enum TemplateOperand {
    /// An earlier term of the same template.
    Term(usize),
    /// All values of a list.
    List(Slot),
    /// One term for each position of some lists of equal length.
    Each(Box<Repeated>),
}

/// A template that is instantiated for each position of some lists.
#[derive(Debug)]
pub struct Repeated {
    /// The lists, each with the register that holds its current value.
    pub lists: Box<[(Slot, Reg)]>,
    /// The template of each position.
    pub template: Template,
}
