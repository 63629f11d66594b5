//! Filter on the operands of the root, which rejects most ops before matching.

use mind_ir::opdef::{OpDef, Trait};
use smallvec::SmallVec;

use crate::expr::{Condition, Expression};
use crate::matching::pattern::{Instruction, Pattern};
use crate::matching::slots::Reg;
use crate::op_table::OpTable;

/// Necessary conditions on the operands of the root.
#[derive(Debug, Default)]
pub(crate) struct OperandFilter {
    /// The requirement for each operand; empty if nothing is known.
    operands: SmallVec<[Need; 2]>,
    /// Whether the operands commute.
    swap: bool,
    /// Whether both operands must be the same value.
    same: bool,
}

/// Requirement for an operand.
#[derive(Clone, Copy, Debug)]
enum Need {
    Any,
    /// The result of this op.
    Op(&'static OpDef),
    /// A constant.
    Constant,
}

impl OperandFilter {
    /// Returns the filter of a rule with this pattern and condition.
    pub(crate) fn new(
        pattern: &Pattern,
        condition: Option<&Condition>,
        ops: &OpTable,
    ) -> OperandFilter {
        let [root, rest @ ..] = pattern.instructions.as_slice() else {
            return OperandFilter::default();
        };
        let &Instruction::Open {
            out,
            operands,
            swap,
            ..
        } = root
        else {
            return OperandFilter::default();
        };
        let need = |reg: Reg| {
            let opened = rest.iter().find_map(|instruction| match instruction {
                Instruction::Open { reg: own, op, .. }
                | Instruction::OpenList { reg: own, op, .. }
                    if *own == reg =>
                {
                    Some(Need::Op(ops.def(*op)))
                }
                _ => None,
            });
            let constant = condition.is_some_and(|own| needs_constant(own, reg));
            opened.unwrap_or(if constant { Need::Constant } else { Need::Any })
        };
        let same = |instruction: &Instruction| match instruction {
            Instruction::Same(a, b) => *a.min(b) == out && *a.max(b) == out + 1,
            _ => false,
        };
        OperandFilter {
            operands: (out..out + operands).map(need).collect(),
            swap,
            same: operands == 2 && rest.iter().any(same),
        }
    }

    /// Returns whether the rule may match an op of its root whose operands are defined by `defs`; `same` says whether
    /// the first two operands are one value.
    pub(crate) fn admits(&self, defs: &[Option<&'static OpDef>], same: bool) -> bool {
        match (self.operands.as_slice(), defs) {
            ([need], &[def]) => need.admits(def),
            ([first, second], &[left, right]) => {
                let direct = first.admits(left) && second.admits(right);
                let swapped = || self.swap && first.admits(right) && second.admits(left);
                (!self.same || same) && (direct || swapped())
            }
            _ => true,
        }
    }
}

impl Need {
    /// Returns whether an operand defined by `def`, if by an op, satisfies the requirement.
    fn admits(self, def: Option<&'static OpDef>) -> bool {
        match self {
            Need::Any => true,
            Need::Op(wanted) => def.is_some_and(|def| std::ptr::eq(def, wanted)),
            Need::Constant => {
                def.is_some_and(|def| def.operands.is_empty() && def.has(Trait::Constant))
            }
        }
    }
}

/// Returns whether `condition` can hold only if the value in `reg` is a constant.
fn needs_constant(condition: &Condition, reg: Reg) -> bool {
    match condition {
        Condition::All(parts) => parts.iter().any(|part| needs_constant(part, reg)),
        Condition::Any(parts) => parts.iter().all(|part| needs_constant(part, reg)),
        Condition::Predicate(predicate, arguments) => arguments[..predicate.constants]
            .iter()
            .any(|argument| matches!(argument, Expression::Register(own) if *own == reg)),
        Condition::Not(_) | Condition::Compare(..) | Condition::Own(..) | Condition::Each(..) => {
            false
        }
    }
}
