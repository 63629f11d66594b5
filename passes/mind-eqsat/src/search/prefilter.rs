//! A cheap filter that rejects patterns before matching.
//!
//! Most rules need operands that few ops have, for example the result of another op, a constant or a certain dtype. A
//! *fingerprint* has a bit for each of these in a class; a *prefilter* has the bits that a pattern needs. It only
//! rejects patterns that matching would reject.

use mind_ir::types::DType;
use smallvec::SmallVec;

use super::fingerprint::{CONSTANT, Fingerprint, OpBits, dtype_bit};
use super::view::View;
use crate::egraph::language::Node;
use mind_rules::expr::{Argument, Condition, Expression, Param};
use mind_rules::matching::pattern::{Instruction, Item, Pattern, Rule};
use mind_rules::matching::slots::Reg;

/// The requirements of a pattern on the class of a value.
#[derive(Clone, Copy, Debug)]
struct Need {
    own: u64,
    below: u64,
    dtypes: u32,
}

impl Need {
    const NOTHING: Need = Need {
        own: 0,
        below: 0,
        dtypes: u32::MAX,
    };

    fn met(&self, fingerprint: Fingerprint) -> bool {
        fingerprint.own & self.own == self.own
            && fingerprint.below & self.below == self.below
            && fingerprint.dtype & self.dtypes != 0
    }
}

/// The requirements of a pattern on an e-node at its root.
#[derive(Debug)]
pub(crate) struct Prefilter {
    root: Need,
    /// The requirements on each operand; empty for a pattern with any number of operands.
    operands: SmallVec<[Need; 2]>,
    /// Whether the two operands may be swapped.
    swap: bool,
    /// Whether the first two operands must be the same value.
    same: bool,
}

impl Prefilter {
    /// Returns the prefilter of `rule`; ops in its pattern are assigned bits.
    pub(crate) fn of(rule: &Rule, bits: &mut OpBits) -> Prefilter {
        let needs = needs(rule, bits);
        let root = needs[0];
        match rule.pattern.instructions.first() {
            Some(&Instruction::Open {
                out,
                operands,
                swap,
                ..
            }) => {
                let own = usize::from(out)..usize::from(out) + usize::from(operands);
                let one = |each: &Instruction| match *each {
                    Instruction::Same(a, b) => (a.min(b), a.max(b)) == (out, out + 1),
                    _ => false,
                };
                Prefilter {
                    root,
                    operands: needs[own].into(),
                    swap,
                    same: operands == 2 && rule.pattern.instructions.iter().any(one),
                }
            }
            _ => Prefilter {
                root,
                operands: SmallVec::new(),
                swap: false,
                same: false,
            },
        }
    }

    /// Returns the bits that the children of the root's class must have.
    pub(crate) fn below(&self) -> u64 {
        self.root.below
    }

    /// Returns whether the pattern may match at `node`, an e-node of a class with this fingerprint.
    pub(crate) fn admits(&self, view: &View<'_>, class: Fingerprint, node: &Node) -> bool {
        if !self.root.met(class) {
            return false;
        }
        let operand = |at: usize| view.fingerprint(node.children[at]);
        match *self.operands.as_slice() {
            [] => true,
            _ if self.operands.len() != node.children.len() => false,
            [only] => only.met(operand(0)),
            [first, second] => {
                if self.same && node.children[0] != node.children[1] {
                    return false;
                }
                let (lhs, rhs) = (operand(0), operand(1));
                first.met(lhs) && second.met(rhs) || self.swap && first.met(rhs) && second.met(lhs)
            }
            ref all => {
                let mut all = all.iter().enumerate();
                all.all(|(at, need)| need.met(operand(at)))
            }
        }
    }
}

/// Returns the requirements on the value of each register.
fn needs(rule: &Rule, bits: &mut OpBits) -> Vec<Need> {
    let Pattern {
        instructions,
        registers,
        lists,
        ..
    } = &rule.pattern;
    let mut needs = vec![Need::NOTHING; *registers];
    let mut firsts: Vec<Option<Reg>> = vec![None; *lists];
    for each in instructions {
        match each {
            // The op of the root needs no bit, because rules are indexed by it.
            Instruction::Open { reg: 0, .. } | Instruction::OpenList { reg: 0, .. } => {}
            Instruction::Open { reg, op, .. } | Instruction::OpenList { reg, op, .. } => {
                needs[usize::from(*reg)].own |= bits.claim(*op);
            }
            Instruction::Near { reg, .. } => needs[usize::from(*reg)].own |= CONSTANT,
            Instruction::First { list, reg } => firsts[usize::from(*list)] = Some(*reg),
            _ => {}
        }
    }
    match &rule.condition {
        None => {}
        Some(Condition::All(parts)) => parts.iter().for_each(|part| add_needs(part, &mut needs)),
        Some(condition) => add_needs(condition, &mut needs),
    }
    for each in instructions {
        let (reg, read): (Reg, SmallVec<[Reg; 4]>) = match each {
            Instruction::Open {
                reg, out, operands, ..
            } => (*reg, (*out..*out + *operands).collect()),
            Instruction::OpenList { reg, items, .. } => {
                let read = items.iter().filter_map(|item| match item {
                    Item::One(reg) => Some(*reg),
                    Item::Many(list) => firsts[usize::from(*list)],
                });
                (*reg, read.collect())
            }
            _ => continue,
        };
        let below = read.iter().map(|&reg| needs[usize::from(reg)].own);
        let below = below.fold(0, |all, each| all | each);
        needs[usize::from(reg)].below |= below;
    }
    needs
}

/// Adds the requirements of a part of the condition on single values.
fn add_needs(condition: &Condition, needs: &mut [Need]) {
    let Condition::Predicate(predicate, arguments) = condition else {
        return;
    };
    let need = |argument: &Expression| match argument {
        Expression::Register(reg) => Some(usize::from(*reg)).filter(|&reg| reg < needs.len()),
        _ => None,
    };
    let registers: SmallVec<[Option<usize>; 4]> = arguments.iter().map(need).collect();
    for reg in registers.iter().take(predicate.constants).flatten() {
        needs[*reg].own |= CONSTANT;
    }
    if let ([Param::Typed], [Some(reg)]) = (predicate.params, registers.as_slice()) {
        let holds = |dtype: &&DType| (predicate.eval)(&[Argument::DType(**dtype)]) == Some(true);
        let held = DType::ALL.iter().filter(holds);
        let held = held.fold(0, |all, &dtype| all | dtype_bit(dtype));
        needs[*reg].dtypes &= held;
    }
}
