//! Compiling the right side of a rule.

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::opdef::OpDef;

use super::ast::{Expr, Name, Term};
use super::expand::only_in_fusions;
use super::names::{Names, Ops, kind_of};
use super::pattern::{check_arity, check_attrs, coerce};
use crate::egraph::payload::AttrValue;
use crate::expr::Expression;
use crate::pattern::{Number, Template, TemplateTerm};

/// The template for `term` over the names that the left side binds.
///
/// Errors: those of the names and ops it holds; attributes of the wrong kind; a written type, unless
/// `both` sides are matched in turn.
pub(super) fn compile(
    term: &Term<'_>,
    names: &Names<'_>,
    ops: Ops<'_>,
    both: bool,
    found: &mut Diagnostics,
) -> Option<Template> {
    let mut compiler = Compiler {
        names,
        ops,
        both,
        terms: Vec::new(),
        found,
    };
    compiler.term(term)?;
    Some(Template {
        terms: compiler.terms,
    })
}

struct Compiler<'c> {
    names: &'c Names<'c>,
    ops: Ops<'c>,
    both: bool,
    terms: Vec<TemplateTerm>,
    found: &'c mut Diagnostics,
}

impl Compiler<'_> {
    /// The position of the term's template.
    fn term(&mut self, term: &Term<'_>) -> Option<usize> {
        let compiled = match term {
            Term::Value { name, ty } => {
                if let Some(ty) = ty.as_ref().filter(|_| !self.both) {
                    let span = ty.dtype.map_or(name.span, |dtype| dtype.span);
                    let message = "types are written on the left side only";
                    self.found.push(Diagnostic::error(span, message));
                    return None;
                }
                TemplateTerm::Register(self.names.register(*name, self.found)?)
            }
            Term::Named { name, .. } => {
                let message = format!("`?{} @` names what is matched: left side only", name.text);
                self.found.push(Diagnostic::error(name.span, message));
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
                let reg = self.names.register(*value, self.found)?;
                let Some(parsed) = Number::parse(number.text) else {
                    let message = format!("`{}` is no number", number.text);
                    self.found.push(Diagnostic::error(number.span, message));
                    return None;
                };
                TemplateTerm::Like {
                    reg,
                    scalar: *scalar,
                    number: parsed,
                }
            }
            Term::Op {
                name,
                operands,
                attrs,
            } => {
                let (op, def) = self.ops.resolve(*name, self.found)?;
                check_arity(*name, def, operands.len(), self.found)?;
                let attrs = self.attrs(*name, def, attrs)?;
                let operands: Vec<usize> = operands
                    .iter()
                    .map(|operand| self.term(operand))
                    .collect::<Option<_>>()?;
                TemplateTerm::Op {
                    op,
                    attrs,
                    operands: operands.into(),
                }
            }
        };
        self.terms.push(compiled);
        Some(self.terms.len() - 1)
    }

    /// One expression per row of the table entry; an attribute that is not written has its default.
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
                    let (expression, kind) = self.names.expression(expr, self.found)?;
                    let literal = coerce(expression, row.kind);
                    let fits = match &literal {
                        Expression::Literal(value) => row.kind.admits(&value.as_attr()),
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
}
