//! Resolution of the names of expressions.

use std::sync::Arc;

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::attr::AttrKind;
use mind_ir::types::DType;

use super::ast::{Expr, Name};
use super::names::{Names, unknown};
use crate::attr_value::AttrValue;
use crate::expr::{ExprKind, Expression, FUNCTIONS, Number, OF_LISTS, Param, Vocabulary};
use crate::matching::slots::Slot;

impl Names<'_> {
    /// Resolves the names of an expression and returns its kind. Lists whose values it reads are added to
    /// [`each`](Names::each). Returns `None` if it has an unbound name, an unknown function, or arguments of the wrong
    /// number or kind, after reporting it.
    pub(super) fn expression(
        &mut self,
        expr: &Expr<'_>,
        cx: &Vocabulary,
        found: &mut Diagnostics,
    ) -> Option<(Expression, ExprKind)> {
        match expr {
            Expr::Value(name) => Some((
                Expression::Register(self.register(*name, found)?),
                ExprKind::Value,
            )),
            Expr::Attr(name) => {
                let Some(at) = self.attrs.iter().position(|(own, _)| *own == name.text) else {
                    let known: Vec<&str> = self.attrs.iter().map(|&(own, _)| own).collect();
                    self.report_unbound("$", *name, &known, found);
                    return None;
                };
                Some((Expression::Attr(at as Slot), self.attrs[at].1))
            }
            Expr::DType(name) => match slot_of(&self.dtypes, *name) {
                Some(slot) => Some((Expression::DType(slot), ExprKind::DType)),
                None => {
                    self.report_unbound("'", *name, &self.dtypes, found);
                    None
                }
            },
            Expr::Rest(name) => match slot_of(&self.shapes, *name) {
                Some(slot) => Some((Expression::Shape(slot), ExprKind::Dims)),
                None => {
                    self.report_unbound("..", *name, &self.shapes, found);
                    None
                }
            },
            Expr::Word(name) => self.word(*name, found),
            Expr::Number(name) => number(*name, found),
            Expr::Values(name) => {
                let list = self.list_slot(*name, found)?;
                let known = self.each.iter().find(|(own, _)| *own == list);
                let reg = match known {
                    Some(&(_, reg)) => reg,
                    None => {
                        let reg = self.new_register(*name, found)?;
                        self.each.push((list, reg));
                        reg
                    }
                };
                Some((Expression::Register(reg), ExprKind::Value))
            }
            Expr::List(_, items) => self.list_of(items, cx, found),
            Expr::Call { name, arguments } if OF_LISTS.contains(&name.text) => {
                let [Expr::Values(list)] = arguments.as_slice() else {
                    let own = name.text;
                    let message = format!("`{own}` takes a list such as `?xs..`");
                    let help = format!(
                        "write `{own}(?xs..)`, for operands that the left side binds as `?xs..`"
                    );
                    found.push(Diagnostic::error(name.span, message).help(help));
                    return None;
                };
                let list = self.list_slot(*list, found)?;
                Some(match name.text {
                    "count" => (Expression::Count(list), ExprKind::Int),
                    _ => (Expression::Integers(list), ExprKind::Ints),
                })
            }
            Expr::Call { name, arguments } => {
                let own = cx.functions.iter().rfind(|own| own.name == name.text);
                if let Some(own) = own {
                    let arguments = self.arguments(*name, arguments, &own.params, cx, found)?;
                    return Some((Expression::Own(Arc::clone(own), arguments), own.result));
                }
                let Some(function) = FUNCTIONS.iter().find(|own| own.name == name.text) else {
                    let own = cx.functions.iter().map(|own| own.name.as_str());
                    let known = FUNCTIONS.iter().map(|own| own.name).chain(OF_LISTS);
                    found.push(unknown("function", *name, known.chain(own)));
                    for argument in arguments {
                        self.expression(argument, cx, found);
                    }
                    return None;
                };
                let arguments = self.arguments(*name, arguments, function.params, cx, found)?;
                Some((Expression::Call(function, arguments), function.result))
            }
        }
    }

    /// Resolves the value of an attribute: a word of its set, the name of a dtype, or any other expression.
    pub(super) fn attribute(
        &mut self,
        expr: &Expr<'_>,
        kind: AttrKind,
        cx: &Vocabulary,
        found: &mut Diagnostics,
    ) -> Option<(Expression, ExprKind)> {
        let Expr::Word(name) = expr else {
            return self.expression(expr, cx, found);
        };
        let literal = match kind {
            AttrKind::Word(words) => {
                let word = words.iter().find(|word| **word == name.text);
                if word.is_none() {
                    found.push(unknown("word", *name, words.iter().copied()));
                }
                (AttrValue::Word(word?), ExprKind::Word)
            }
            AttrKind::ElementType => {
                let dtype = DType::parse(name.text);
                if dtype.is_none() {
                    let names = DType::ALL.iter().map(|dtype| dtype.name());
                    found.push(unknown("dtype", *name, names));
                }
                (AttrValue::DType(dtype?), ExprKind::DType)
            }
            _ => return self.expression(expr, cx, found),
        };
        Some((Expression::Literal(literal.0), literal.1))
    }

    /// Resolves a list, whose items may be lists of extents. A list of literals is folded to a literal.
    fn list_of(
        &mut self,
        items: &[Expr<'_>],
        cx: &Vocabulary,
        found: &mut Diagnostics,
    ) -> Option<(Expression, ExprKind)> {
        let mut resolved = Vec::new();
        for item in items {
            let (expression, kind) = self.expression(item, cx, found)?;
            if !matches!(kind, ExprKind::Int | ExprKind::Dims) {
                let message = format!("a list holds integers and extents, found {}", kind.text());
                let help = "as in `[0, 1]`, `[m, n]` or `[..s, 1]`";
                found.push(Diagnostic::error(item.span(), message).help(help));
                return None;
            }
            resolved.push(expression);
        }
        let literal = |item: &Expression| match item {
            Expression::Literal(AttrValue::Int(value)) => Some(*value),
            _ => None,
        };
        let literals: Option<Box<[i64]>> = resolved.iter().map(literal).collect();
        Some(match literals {
            Some(list) => (Expression::Literal(AttrValue::Ints(list)), ExprKind::Ints),
            None => (Expression::List(resolved.into()), ExprKind::Ints),
        })
    }

    fn word(&self, name: Name<'_>, found: &mut Diagnostics) -> Option<(Expression, ExprKind)> {
        match (name.text, slot_of(&self.dims, name)) {
            (_, Some(slot)) => Some((Expression::Dim(slot), ExprKind::Int)),
            ("true" | "false", None) => {
                let value = AttrValue::Bool(name.text == "true");
                Some((Expression::Literal(value), ExprKind::Bool))
            }
            ("valid", None) => Some((Expression::Literal(AttrValue::Valid), ExprKind::Padding)),
            ("same", None) => Some((Expression::Literal(AttrValue::Same), ExprKind::Padding)),
            ("inf", None) => number(name, found),
            (_, None) => {
                self.report_unbound("", name, &self.dims, found);
                None
            }
        }
    }

    /// Resolves the arguments of a call of `name` and checks them against `params`.
    pub(super) fn arguments(
        &mut self,
        name: Name<'_>,
        arguments: &[Expr<'_>],
        params: &[Param],
        cx: &Vocabulary,
        found: &mut Diagnostics,
    ) -> Option<Box<[Expression]>> {
        let least = params
            .iter()
            .filter(|param| **param != Param::OptionalNumber)
            .count();
        if arguments.len() < least || arguments.len() > params.len() {
            let given = arguments.len();
            let plural = if least == 1 { "" } else { "s" };
            let message = format!(
                "`{}` takes {least} argument{plural}, found {given}",
                name.text
            );
            let wanted: Vec<&str> = params.iter().map(|param| param.text()).collect();
            let help = format!("it takes {}", wanted.join(", "));
            found.push(Diagnostic::error(name.span, message).help(help));
            return None;
        }
        let mut resolved = Vec::new();
        for (argument, param) in arguments.iter().zip(params) {
            let (expression, kind) = self.expression(argument, cx, found)?;
            if !param.admits(kind) {
                let message = format!(
                    "`{}` takes {} here, found {}",
                    name.text,
                    param.text(),
                    kind.text()
                );
                let wanted: Vec<&str> = params.iter().map(|param| param.text()).collect();
                let help = format!("`{}` takes {}", name.text, wanted.join(", "));
                found.push(Diagnostic::error(argument.span(), message).help(help));
                return None;
            }
            resolved.push(expression);
        }
        Some(resolved.into())
    }
}

fn slot_of(names: &[&str], name: Name<'_>) -> Option<Slot> {
    names
        .iter()
        .position(|own| *own == name.text)
        .map(|at| at as Slot)
}

fn number(name: Name<'_>, found: &mut Diagnostics) -> Option<(Expression, ExprKind)> {
    match Number::parse(name.text) {
        Some(Number::Int(value)) => {
            Some((Expression::Literal(AttrValue::Int(value)), ExprKind::Int))
        }
        Some(Number::Float(value)) => Some((
            Expression::Literal(AttrValue::Float(value.to_bits())),
            ExprKind::Float,
        )),
        None => {
            found.push(Diagnostic::error(
                name.span,
                format!("`{}` is not a number", name.text),
            ));
            None
        }
    }
}
