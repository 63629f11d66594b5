//! Compilation of the left side of a rule to matcher instructions.

mod lists;
mod parts;

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::opdef::Trait;

use super::ast::{Expr, Name, Operand, Term};
use super::expand::only_in_fusions;
use super::names::Names;
use super::ops::Ops;
use super::written::check_arity;
use crate::expr::Number;
use crate::matching::pattern::{Instruction, Pattern};
use crate::matching::slots::{Reg, Slot};

/// The largest number of attributes, dtypes, extents, shapes or lists that a rule may name.
const MAX_NAMES: usize = 200;

/// Compiles `term` to a pattern, and returns the names it binds. The pattern is `None` after an error was reported: an
/// unknown name or op, or a `term` that is only a value, because such a pattern would match everything.
pub(super) fn compile<'s>(
    term: &Term<'s>,
    ops: Ops<'_>,
    found: &mut Diagnostics,
) -> (Option<Pattern>, Names<'s>) {
    let mut compiler = Compiler {
        ops,
        names: Names {
            registers: 1,
            ..Names::default()
        },
        code: Vec::new(),
        lists: 0,
        repeated: Repeated::No,
        found,
    };
    let compiled = compiler.term(term, 0);
    let root = match compiler.code.first() {
        Some(Instruction::Open { op, .. } | Instruction::OpenList { op, .. }) => Some(*op),
        _ => None,
    };
    if compiled.is_some() && root.is_none() {
        let message = "a lone value matches everything";
        let help = "the left side starts with an op; write `=>` where the right side does not";
        compiler
            .found
            .push(Diagnostic::error(term.span(), message).help(help));
    }
    let Compiler {
        mut names,
        code,
        lists,
        ..
    } = compiler;
    let most = [
        names.attrs.len(),
        names.dtypes.len(),
        names.dims.len(),
        names.shapes.len(),
        lists,
    ];
    if most.into_iter().any(|count| count > MAX_NAMES) {
        let message = format!("a rule of more than {MAX_NAMES} names of one kind");
        found.push(Diagnostic::error(term.span(), message));
        return (None, names);
    }
    let pattern = compiled.and(root).map(|root| Pattern {
        root,
        instructions: code,
        opens_constants: true,
        registers: names.registers,
        attrs: names.attrs.len(),
        dtypes: names.dtypes.len(),
        dims: names.dims.len(),
        shapes: names.shapes.len(),
        lists,
    });
    names.broken = pattern.is_none();
    (pattern, names)
}

/// Whether the term is compiled for the values of a list.
enum Repeated {
    No,
    /// For the first value.
    First,
    /// For each other value; registers to append to lists when it has matched.
    Other(Vec<(Reg, Slot)>),
}

struct Compiler<'s, 'c> {
    ops: Ops<'c>,
    names: Names<'s>,
    code: Vec<Instruction>,
    lists: usize,
    repeated: Repeated,
    found: &'c mut Diagnostics,
}

impl<'s> Compiler<'s, '_> {
    fn term(&mut self, term: &Term<'s>, reg: Reg) -> Option<()> {
        match term {
            Term::Value { name, ty } => {
                self.value(*name, reg)?;
                match ty {
                    Some(ty) => self.ty(ty, reg),
                    None => Some(()),
                }
            }
            Term::Named { name, term } => {
                self.value(*name, reg)?;
                self.term(term, reg)
            }
            Term::Op {
                name,
                operands,
                attrs,
            } => self.op(*name, operands, attrs, reg),
            Term::Near { number, .. } => {
                let parsed = Number::parse(number.text);
                let Some(value) = parsed.map(Number::to_f64) else {
                    let message = format!("`{}` is not a number", number.text);
                    self.found.push(Diagnostic::error(number.span, message));
                    return None;
                };
                self.code.push(Instruction::Near { reg, value });
                Some(())
            }
            Term::Any { span, .. } => {
                self.found.push(only_in_fusions("any", *span));
                None
            }
            Term::Like { span, .. } => {
                let message = "`like` makes a constant and cannot be matched";
                let help = "match a value and require `is_splat(?c, v)` under `where`";
                self.found
                    .push(Diagnostic::error(*span, message).help(help));
                None
            }
        }
    }

    fn value(&mut self, name: Name<'s>, reg: Reg) -> Option<()> {
        if self.names.list(name.text).is_some() {
            return self.both_kinds(name);
        }
        match self.names.values.iter().find(|(own, _)| *own == name.text) {
            Some(&(_, first)) => self.code.push(Instruction::Same(first, reg)),
            None => self.names.values.push((name.text, reg)),
        }
        Some(())
    }

    fn both_kinds(&mut self, name: Name<'s>) -> Option<()> {
        let message = format!("`?{}` cannot be a value and a list of values", name.text);
        self.found.push(Diagnostic::error(name.span, message));
        None
    }

    fn op(
        &mut self,
        name: Name<'s>,
        operands: &[Operand<'s>],
        attrs: &[(Name<'s>, Expr<'s>)],
        reg: Reg,
    ) -> Option<()> {
        let resolved = self.ops.resolve(name, self.found);
        let Some((op, def)) = resolved else {
            self.check_operands(name, operands);
            return None;
        };
        let attrs = self.attrs(name, def, attrs);
        let arity = check_arity(name, def, operands, self.found);
        let (Some(attrs), Some(())) = (attrs, arity) else {
            self.check_operands(name, operands);
            return None;
        };
        let one = |operand: &Operand<'_>| match operand {
            Operand::One(_) => true,
            Operand::List(_) => def.variadic.is_none(),
            Operand::Each(_) => false,
        };
        if !operands.iter().all(one) {
            return self.op_of_lists(name, op, attrs, operands, reg);
        }
        let out = self.names.registers;
        for _ in operands {
            self.names.new_register(name, self.found)?;
        }
        self.code.push(Instruction::Open {
            reg,
            op,
            attrs,
            out: out as Reg,
            operands: operands.len() as Reg,
            swap: def.has(Trait::Commutative) && operands.len() == 2,
        });
        let each = operands.iter().zip(out..);
        let compiled: Vec<Option<()>> = each
            .map(|(operand, reg)| match operand {
                Operand::One(term) | Operand::Each(term) => self.term(term, reg as Reg),
                Operand::List(name) => self.element(*name, reg as Reg),
            })
            .collect();
        compiled.into_iter().collect()
    }

    /// Reports errors in the operands of an op that could not be resolved.
    fn check_operands(&mut self, name: Name<'s>, operands: &[Operand<'s>]) {
        for operand in operands {
            if let Operand::One(term) | Operand::Each(term) = operand
                && let Some(reg) = self.names.new_register(name, self.found)
            {
                self.term(term, reg);
            }
        }
    }
}
