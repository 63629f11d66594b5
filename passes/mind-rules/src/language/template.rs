//! Compilation of the right side of a rule.

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::opdef::OpDef;

use super::ast::{Expr, Name, Operand, Term};
use super::expand::only_in_fusions;
use super::names::{Names, kind_of};
use super::ops::Ops;
use super::written::{check_arity, check_attrs, coerce};
use crate::attr_value::AttrValue;
use crate::expr::{ExprKind, Expression};
use crate::matching::pattern::{Repeated, Template, TemplateOperand, TemplateTerm};
use crate::matching::slots::{Reg, Slot};

/// Compiles `term` to a template over the names that the left side binds. Returns `None` after reporting an error: an
/// unknown name or op, an attribute of the wrong kind, or a written type. Types are allowed only in rules of `both`
/// directions, because the right side of other rules has the type of the left side.
pub(super) fn compile(
    term: &Term<'_>,
    names: &mut Names<'_>,
    ops: Ops<'_>,
    both: bool,
    found: &mut Diagnostics,
) -> Option<Template> {
    let mut compiler = Compiler {
        names,
        ops,
        both,
        terms: Vec::new(),
        lists: None,
        found,
    };
    compiler.term(term)?;
    Some(Template {
        terms: compiler.terms,
    })
}

struct Compiler<'c, 's> {
    names: &'c mut Names<'s>,
    ops: Ops<'c>,
    both: bool,
    terms: Vec<TemplateTerm>,
    /// Within a term repeated for each value of lists: the lists, with the registers of their current value.
    lists: Option<Vec<(Slot, Reg)>>,
    found: &'c mut Diagnostics,
}

impl Compiler<'_, '_> {
    /// Compiles a term and returns its index in the template.
    fn term(&mut self, term: &Term<'_>) -> Option<usize> {
        let compiled = match term {
            Term::Value { name, ty } => {
                if let Some(ty) = ty.as_ref().filter(|_| !self.both) {
                    let span = ty.dtype.map_or(name.span, |dtype| dtype.span);
                    let message = "types are written on the left side only";
                    let help = "leave it out: the right side has the type of the left one";
                    self.found.push(Diagnostic::error(span, message).help(help));
                    return None;
                }
                TemplateTerm::Register(self.names.register(*name, self.found)?)
            }
            Term::Named { name, .. } => {
                let message = format!(
                    "`?{} @` names a matched term: it is only allowed on the left side",
                    name.text
                );
                let help = "write the term without its name";
                self.found
                    .push(Diagnostic::error(name.span, message).help(help));
                return None;
            }
            Term::Any { span, .. } => {
                self.found.push(only_in_fusions("any", *span));
                return None;
            }
            Term::Near { span, .. } => {
                self.found.push(only_in_fusions("near", *span));
                return None;
            }
            Term::Like {
                value,
                number,
                scalar,
                ..
            } => {
                let reg = self.names.register(*value, self.found);
                let vocabulary = self.ops.vocabulary;
                let (expression, kind) = self.names.expression(number, vocabulary, self.found)?;
                self.values_of_lists(number)?;
                if !matches!(kind, ExprKind::Int | ExprKind::Float) {
                    let message = format!("a constant holds a number, found {}", kind.text());
                    let help = "as in `like(?x, 1.0)`";
                    self.found
                        .push(Diagnostic::error(number.span(), message).help(help));
                    return None;
                }
                TemplateTerm::Like {
                    reg: reg?,
                    scalar: *scalar,
                    number: expression,
                }
            }
            Term::Op {
                name,
                operands,
                attrs,
            } => {
                let resolved = self.ops.resolve(*name, self.found);
                if resolved.is_some_and(|(op, _)| self.ops.table.is_projection(op)) {
                    let message = format!("`{}` is matched and cannot be made", name.text);
                    let help = "the right side makes ops of one result";
                    self.found
                        .push(Diagnostic::error(name.span, message).help(help));
                    return None;
                }
                let attrs = resolved.and_then(|(_, def)| {
                    let attrs = self.attrs(*name, def, attrs);
                    check_arity(*name, def, operands, self.found).and(attrs)
                });
                let variadic = resolved.is_some_and(|(_, def)| def.variadic.is_some());
                let operands: Vec<Option<TemplateOperand>> = operands
                    .iter()
                    .map(|operand| self.operand(operand, variadic))
                    .collect();
                TemplateTerm::Op {
                    op: resolved?.0,
                    attrs: attrs?,
                    operands: operands.into_iter().collect::<Option<_>>()?,
                }
            }
        };
        self.terms.push(compiled);
        Some(self.terms.len() - 1)
    }

    fn operand(&mut self, operand: &Operand<'_>, variadic: bool) -> Option<TemplateOperand> {
        let (place, term) = match operand {
            Operand::One(term) => return Some(TemplateOperand::Term(self.term(term)?)),
            Operand::List(name) => {
                let list = self.names.list_slot(*name, self.found)?;
                if self.lists.is_some() {
                    let reg = self.element(*name, list)?;
                    self.terms.push(TemplateTerm::Register(reg));
                    return Some(TemplateOperand::Term(self.terms.len() - 1));
                }
                if variadic {
                    return Some(TemplateOperand::List(list));
                }
                let message = format!(
                    "`?{}..` is a list, but this op takes a fixed number of operands",
                    name.text
                );
                self.found.push(Diagnostic::error(name.span, message));
                return None;
            }
            Operand::Each(term) => (term.span(), term),
        };
        if self.lists.is_some() {
            let message = "a list of lists of operands cannot be made";
            self.found.push(Diagnostic::error(place, message));
            return None;
        }
        let outer = std::mem::take(&mut self.terms);
        self.lists = Some(Vec::new());
        let compiled = self.term(term);
        let terms = std::mem::replace(&mut self.terms, outer);
        let lists = self.lists.take().unwrap_or_default();
        compiled?;
        if lists.is_empty() {
            let message = "the repeated term has no list";
            let help = "a term before `..` needs a list, as in `core.neg(?xs..) ..`";
            self.found
                .push(Diagnostic::error(place, message).help(help));
            return None;
        }
        Some(TemplateOperand::Each(Box::new(Repeated {
            lists: lists.into(),
            template: Template { terms },
        })))
    }

    /// Returns the register of the current value of `list`.
    fn element(&mut self, name: Name<'_>, list: Slot) -> Option<Reg> {
        let known = self.lists.iter().flatten().find(|(own, _)| *own == list);
        if let Some(&(_, reg)) = known {
            return Some(reg);
        }
        let reg = self.names.new_register(name, self.found)?;
        self.lists.as_mut()?.push((list, reg));
        Some(reg)
    }

    /// Returns one expression for each attribute of the op's definition; an omitted attribute has its default.
    fn attrs(
        &mut self,
        op: Name<'_>,
        def: &'static OpDef,
        written: &[(Name<'_>, Expr<'_>)],
    ) -> Option<Box<[Expression]>> {
        check_attrs(def, written, self.found)?;
        let mut attrs = Vec::new();
        for row in def.attrs {
            let given = written.iter().find(|(name, _)| name.text == row.name);
            let expression = match (given, row.default.and_then(AttrValue::of)) {
                (Some((name, expr)), _) => {
                    let (expression, kind) =
                        self.names
                            .attribute(expr, row.kind, self.ops.vocabulary, self.found)?;
                    self.values_of_lists(expr)?;
                    let literal = coerce(expression, row.kind);
                    let fits = match &literal {
                        Expression::Literal(value) => row.kind.admits(&value.as_attr()),
                        Expression::Dims(_) => true,
                        _ => kind_of(row.kind) == Some(kind),
                    };
                    if !fits {
                        let wanted = kind_of(row.kind).map_or("a literal", |kind| kind.text());
                        let message = format!(
                            "attribute `{}` is {wanted}, found {}",
                            name.text,
                            kind.text()
                        );
                        self.found.push(Diagnostic::error(expr.span(), message));
                        return None;
                    }
                    literal
                }
                (None, Some(default)) => Expression::Literal(default),
                (None, None) => {
                    let message =
                        format!("attribute `{}` of `{}` is not written", row.name, def.name);
                    self.found.push(Diagnostic::error(op.span, message));
                    return None;
                }
            };
            attrs.push(expression);
        }
        Some(attrs.into())
    }

    /// Adds the lists whose values the last resolved expression reads to the lists of the repeated term.
    fn values_of_lists(&mut self, expr: &Expr<'_>) -> Option<()> {
        let each = std::mem::take(&mut self.names.each);
        match &mut self.lists {
            _ if each.is_empty() => Some(()),
            Some(lists) => {
                lists.extend(each);
                Some(())
            }
            None => {
                let message = "an attribute of one op cannot depend on each value of a list";
                self.found.push(Diagnostic::error(expr.span(), message));
                None
            }
        }
    }
}
