//! What the names of one rule stand for while it is compiled.

use std::sync::Arc;

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::attr::AttrKind;
use mind_ir::opdef::{OpDef, Registry, nearest};

use super::ast::{Expr, Name};
use crate::egraph::optable::{OpIx, OpTable};
use crate::egraph::payload::AttrValue;
use crate::expr::{Expression, FUNCTIONS, Kind, Number, Param, Vocabulary};
use crate::pattern::Part;
use crate::slots::{Reg, RuleNames, Slot};

/// The most values that a rule may hold.
const MAX_REGISTERS: usize = 64;

/// What a rule file may name.
#[derive(Clone, Copy)]
pub(crate) struct Ops<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) table: &'a OpTable,
    /// Functions and predicates besides the built-in ones.
    pub(super) vocabulary: &'a Vocabulary,
    /// What `op` stands for in a rule written `for` several.
    pub(crate) op: Option<Name<'a>>,
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
    /// Lists of values.
    pub(super) lists: Vec<(&'s str, Slot)>,
    /// How many registers are in use.
    pub(super) registers: usize,
    /// The lists of which the expression at hand names each value, with the registers for it.
    pub(super) each: Vec<(Slot, Reg)>,
    /// Whether the left side holds an error, so that names may be missing for that alone.
    pub(super) broken: bool,
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
fn unbound(mark: &str, name: Name<'_>, known: &[&str]) -> Diagnostic {
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
    /// The names, for messages.
    pub(super) fn owned(&self) -> RuleNames {
        let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let values = self.values.iter();
        let attrs = self.attrs.iter();
        RuleNames {
            values: values.map(|&(name, reg)| (reg, name.to_owned())).collect(),
            attrs: attrs.map(|&(name, _)| name.to_owned()).collect(),
            dtypes: own(&self.dtypes),
            dims: own(&self.dims),
            shapes: own(&self.shapes),
            lists: self
                .lists
                .iter()
                .map(|&(name, _)| name.to_owned())
                .collect(),
        }
    }

    /// The register of `?name`.
    ///
    /// Errors: a name that is not bound.
    pub(super) fn register(&self, name: Name<'_>, found: &mut Diagnostics) -> Option<Reg> {
        let bound = self.values.iter().find(|(own, _)| *own == name.text);
        if bound.is_none() && self.list(name.text).is_some() {
            let message = format!("`?{}` is a list of values", name.text);
            let help = format!("write `?{}..` among the operands of an op", name.text);
            found.push(Diagnostic::error(name.span, message).help(help));
        } else if bound.is_none() {
            let known: Vec<&str> = self.values.iter().map(|&(own, _)| own).collect();
            self.report_unbound("?", name, &known, found);
        }
        bound.map(|&(_, reg)| reg)
    }

    /// The slot of the list `?name..`, if the left side binds one.
    pub(super) fn list(&self, name: &str) -> Option<Slot> {
        let bound = self.lists.iter().find(|(own, _)| *own == name);
        bound.map(|&(_, slot)| slot)
    }

    /// The slot of the list `?name..`.
    ///
    /// Errors: a name that is not bound.
    pub(super) fn list_slot(&self, name: Name<'_>, found: &mut Diagnostics) -> Option<Slot> {
        let bound = self.list(name.text);
        if bound.is_none() && self.values.iter().any(|(own, _)| *own == name.text) {
            let message = format!("`?{}` is one value, not a list", name.text);
            found.push(Diagnostic::error(name.span, message));
        } else if bound.is_none() {
            let known: Vec<&str> = self.lists.iter().map(|&(own, _)| own).collect();
            self.report_unbound("?", name, &known, found);
        }
        bound
    }

    fn report_unbound(&self, mark: &str, name: Name<'_>, known: &[&str], found: &mut Diagnostics) {
        if !self.broken {
            found.push(unbound(mark, name, known));
        }
    }

    /// The next free register.
    ///
    /// Errors: a rule of too many values, at `place`.
    pub(super) fn new_register(&mut self, place: Name<'_>, found: &mut Diagnostics) -> Option<Reg> {
        if self.registers == MAX_REGISTERS {
            let message = format!("a rule of more than {MAX_REGISTERS} values");
            found.push(Diagnostic::error(place.span, message));
            return None;
        }
        self.registers += 1;
        Some((self.registers - 1) as Reg)
    }

    /// The expression with its names resolved, and what it is. Lists that it names each value of are added
    /// to [`each`](Names::each).
    ///
    /// Errors: names that are not bound, unknown functions, arguments of the wrong number or kind.
    pub(super) fn expression(
        &mut self,
        expr: &Expr<'_>,
        cx: &Vocabulary,
        found: &mut Diagnostics,
    ) -> Option<(Expression, Kind)> {
        match expr {
            Expr::Value(name) => Some((
                Expression::Register(self.register(*name, found)?),
                Kind::Value,
            )),
            Expr::Attr(name) => {
                let Some(at) = self.attrs.iter().position(|(own, _)| *own == name.text) else {
                    let known: Vec<&str> = self.attrs.iter().map(|&(own, _)| own).collect();
                    self.report_unbound("$", *name, &known, found);
                    return None;
                };
                Some((Expression::Attr(at as Slot), self.attrs[at].1))
            }
            Expr::DType(name) => match place(&self.dtypes, *name) {
                Some(slot) => Some((Expression::DType(slot), Kind::DType)),
                None => {
                    self.report_unbound("'", *name, &self.dtypes, found);
                    None
                }
            },
            Expr::Rest(name) => match place(&self.shapes, *name) {
                Some(slot) => Some((Expression::Shape(slot), Kind::Dims)),
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
                Some((Expression::Register(reg), Kind::Value))
            }
            Expr::List(_, items) => self.list_of(items, cx, found),
            Expr::Call { name, arguments } if name.text == "count" => match arguments.as_slice() {
                [Expr::Values(list)] => {
                    Some((Expression::Count(self.list_slot(*list, found)?), Kind::Int))
                }
                _ => {
                    let message = "`count` takes a list such as `?xs..`";
                    found.push(Diagnostic::error(name.span, message));
                    None
                }
            },
            Expr::Call { name, arguments } => {
                let own = cx.functions.iter().rfind(|own| own.name == name.text);
                if let Some(own) = own {
                    let arguments = self.arguments(*name, arguments, &own.params, cx, found)?;
                    return Some((Expression::Own(Arc::clone(own), arguments), own.result));
                }
                let Some(function) = FUNCTIONS.iter().find(|own| own.name == name.text) else {
                    let own = cx.functions.iter().map(|own| own.name.as_str());
                    let known = FUNCTIONS.iter().map(|own| own.name).chain(["count"]);
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

    /// A list, of which the items may be lists of extents too. It is a literal where all items are.
    fn list_of(
        &mut self,
        items: &[Expr<'_>],
        cx: &Vocabulary,
        found: &mut Diagnostics,
    ) -> Option<(Expression, Kind)> {
        let mut resolved = Vec::new();
        for item in items {
            let (expression, kind) = self.expression(item, cx, found)?;
            if !matches!(kind, Kind::Int | Kind::Dims) {
                let message = format!("a list holds integers and extents, found {}", kind.text());
                found.push(Diagnostic::error(item.span(), message));
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
            Some(list) => (Expression::Literal(AttrValue::Ints(list)), Kind::Ints),
            None => (Expression::List(resolved.into()), Kind::Ints),
        })
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
                self.report_unbound("", name, &self.dims, found);
                None
            }
        }
    }

    /// The arguments of a call of `name`, resolved and checked against `params`.
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
            found.push(Diagnostic::error(name.span, message).help(wanted.join(", ")));
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
