//! What the names of one rule stand for while it is compiled.

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::attr::AttrKind;
use mind_ir::opdef::{OpDef, Registry, nearest};

use super::ast::{Expr, Name};
use crate::egraph::optable::{OpIx, OpTable};
use crate::egraph::payload::AttrValue;
use crate::expr::{Expression, FUNCTIONS, Kind, Param};
use crate::pattern::{Number, Part};
use crate::slots::{Reg, Slot};

/// The ops that a rule file may name.
#[derive(Clone, Copy)]
pub(super) struct Ops<'a> {
    pub(super) registry: &'a Registry,
    pub(super) table: &'a OpTable,
    /// What `op` stands for in a rule written `for` several.
    pub(super) op: Option<Name<'a>>,
}

impl Ops<'_> {
    /// The op called `name`.
    ///
    /// Errors: an unknown op; one that the e-graph does not look into.
    pub(super) fn resolve(
        &self,
        name: Name<'_>,
        found: &mut Diagnostics,
    ) -> Option<(OpIx, &'static OpDef)> {
        let text = self
            .op
            .filter(|_| name.text == "op")
            .map_or(name.text, |op| op.text);
        let Some(def) = self.registry.get(text) else {
            let error = Diagnostic::error(name.span, format!("unknown op `{text}`"));
            let names = self.registry.ops().map(|def| def.name);
            found.push(match nearest(text, names) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None if text == "op" => {
                    error.help("`op` needs a clause such as `for op in core.add`")
                }
                None => error,
            });
            return None;
        };
        let number = self.table.transparent(def);
        if number.is_none() {
            let message = format!("`{text}` cannot stand in a rule");
            let help =
                "rules are about pure ops of one result, without regions, whose type is inferred";
            found.push(Diagnostic::error(name.span, message).help(help));
        }
        Some((number?, def))
    }
}

/// The names that the left side of a rule binds.
#[derive(Default)]
pub(super) struct Names<'s> {
    pub(super) values: Vec<(&'s str, Reg)>,
    pub(super) attrs: Vec<(&'s str, Kind)>,
    pub(super) dtypes: Vec<&'s str>,
    pub(super) dims: Vec<&'s str>,
    pub(super) shapes: Vec<&'s str>,
}

/// The place of `name` in `names`, binding it where it is new.
pub(super) fn bind<'s>(names: &mut Vec<&'s str>, name: &'s str) -> Part {
    match names.iter().position(|own| *own == name) {
        Some(at) => Part::Same(at as Slot),
        None => {
            names.push(name);
            Part::Bind((names.len() - 1) as Slot)
        }
    }
}

/// The kind of an attribute in expressions.
pub(super) fn kind_of(kind: AttrKind) -> Option<Kind> {
    Some(match kind {
        AttrKind::Int => Kind::Int,
        AttrKind::Bool => Kind::Bool,
        AttrKind::Float => Kind::Float,
        AttrKind::Str => Kind::Str,
        AttrKind::Ints => Kind::Ints,
        AttrKind::Dims => Kind::Dims,
        AttrKind::Pad => Kind::Padding,
        AttrKind::LiteralData => return None,
    })
}

fn place(names: &[&str], name: Name<'_>) -> Option<Slot> {
    names
        .iter()
        .position(|own| *own == name.text)
        .map(|at| at as Slot)
}

/// The error for a name that the left side does not bind.
fn unbound(mark: &str, name: Name<'_>, known: Vec<&str>) -> Diagnostic {
    let message = format!("`{mark}{}` is not bound by the left side", name.text);
    let error = Diagnostic::error(name.span, message);
    match nearest(name.text, known.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{mark}{near}`?")),
        None if known.is_empty() => error,
        None => {
            let known: Vec<String> = known.iter().map(|name| format!("`{mark}{name}`")).collect();
            error.help(format!("it binds {}", known.join(", ")))
        }
    }
}

impl<'s> Names<'s> {
    /// The register of `?name`.
    ///
    /// Errors: a name that is not bound.
    pub(super) fn register(&self, name: Name<'_>, found: &mut Diagnostics) -> Option<Reg> {
        let bound = self.values.iter().find(|(own, _)| *own == name.text);
        if bound.is_none() {
            found.push(unbound(
                "?",
                name,
                self.values.iter().map(|&(own, _)| own).collect(),
            ));
        }
        bound.map(|&(_, reg)| reg)
    }

    /// The expression with its names resolved, and what it is.
    ///
    /// Errors: names that are not bound, unknown functions, arguments of the wrong number or kind.
    pub(super) fn expression(
        &self,
        expr: &Expr<'_>,
        found: &mut Diagnostics,
    ) -> Option<(Expression, Kind)> {
        match expr {
            Expr::Value(name) => Some((
                Expression::Register(self.register(*name, found)?),
                Kind::Value,
            )),
            Expr::Attr(name) => {
                let Some(at) = self.attrs.iter().position(|(own, _)| *own == name.text) else {
                    let known = self.attrs.iter().map(|&(own, _)| own).collect();
                    found.push(unbound("$", *name, known));
                    return None;
                };
                Some((Expression::Attr(at as Slot), self.attrs[at].1))
            }
            Expr::DType(name) => match place(&self.dtypes, *name) {
                Some(slot) => Some((Expression::DType(slot), Kind::DType)),
                None => {
                    found.push(unbound("'", *name, self.dtypes.clone()));
                    None
                }
            },
            Expr::Rest(name) => match place(&self.shapes, *name) {
                Some(slot) => Some((Expression::Shape(slot), Kind::Dims)),
                None => {
                    found.push(unbound("..", *name, self.shapes.clone()));
                    None
                }
            },
            Expr::Word(name) => self.word(*name, found),
            Expr::Number(name) => number(*name, found),
            Expr::List(_, items) => {
                let mut list = Vec::new();
                for item in items {
                    let value = self.expression(item, found)?;
                    let (Expression::Literal(AttrValue::Int(value)), _) = value else {
                        let message = "a list holds integers only";
                        found.push(Diagnostic::error(item.span(), message));
                        return None;
                    };
                    list.push(value);
                }
                Some((
                    Expression::Literal(AttrValue::Ints(list.into())),
                    Kind::Ints,
                ))
            }
            Expr::Call { name, arguments } => {
                let Some(function) = FUNCTIONS.iter().find(|own| own.name == name.text) else {
                    found.push(unknown(
                        "function",
                        *name,
                        FUNCTIONS.iter().map(|own| own.name),
                    ));
                    return None;
                };
                let arguments = self.arguments(*name, arguments, function.params, found)?;
                Some((Expression::Call(function, arguments), function.result))
            }
        }
    }

    fn word(&self, name: Name<'_>, found: &mut Diagnostics) -> Option<(Expression, Kind)> {
        match (name.text, place(&self.dims, name)) {
            (_, Some(slot)) => Some((Expression::Dim(slot), Kind::Int)),
            ("true" | "false", None) => {
                let value = AttrValue::Bool(name.text == "true");
                Some((Expression::Literal(value), Kind::Bool))
            }
            ("valid", None) => Some((Expression::Literal(AttrValue::Valid), Kind::Padding)),
            ("same", None) => Some((Expression::Literal(AttrValue::Same), Kind::Padding)),
            ("inf", None) => number(name, found),
            (_, None) => {
                found.push(unbound("", name, self.dims.clone()));
                None
            }
        }
    }

    /// The arguments of a call of `name`, resolved and checked against `params`.
    pub(super) fn arguments(
        &self,
        name: Name<'_>,
        arguments: &[Expr<'_>],
        params: &[Param],
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
            found.push(Diagnostic::error(name.span, message).help(wanted.join(", ")));
            return None;
        }
        let mut resolved = Vec::new();
        for (argument, param) in arguments.iter().zip(params) {
            let (expression, kind) = self.expression(argument, found)?;
            if !param.admits(kind) {
                let message = format!(
                    "`{}` takes {} here, found {}",
                    name.text,
                    param.text(),
                    kind.text()
                );
                found.push(Diagnostic::error(argument.span(), message));
                return None;
            }
            resolved.push(expression);
        }
        Some(resolved.into())
    }
}

fn number(name: Name<'_>, found: &mut Diagnostics) -> Option<(Expression, Kind)> {
    match Number::parse(name.text) {
        Some(Number::Int(value)) => Some((Expression::Literal(AttrValue::Int(value)), Kind::Int)),
        Some(Number::Float(value)) => Some((
            Expression::Literal(AttrValue::Float(value.to_bits())),
            Kind::Float,
        )),
        None => {
            found.push(Diagnostic::error(
                name.span,
                format!("`{}` is no number", name.text),
            ));
            None
        }
    }
}

/// The error for a word outside a closed list.
pub(super) fn unknown<'a>(
    what: &str,
    name: Name<'_>,
    known: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let error = Diagnostic::error(name.span, format!("unknown {what} `{}`", name.text));
    match nearest(name.text, known) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error,
    }
}
