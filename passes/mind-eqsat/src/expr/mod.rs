//! Conditions and computed attributes of rules.

mod functions;
mod predicates;
mod scope;

pub(crate) use functions::{FUNCTIONS, Function};
pub(crate) use predicates::{PREDICATES, Predicate};
pub(crate) use scope::{Argument, Scope};

use mind_ir::types::Dim;
use smallvec::SmallVec;

use crate::egraph::payload::AttrValue;
use crate::pattern::{Reg, Slot};

/// What an expression is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Value,
    DType,
    Int,
    Float,
    Bool,
    Str,
    Ints,
    Dims,
    Padding,
}

impl Kind {
    /// The kind in words.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Kind::Value => "a value",
            Kind::DType => "a dtype",
            Kind::Int => "an integer",
            Kind::Float => "a float",
            Kind::Bool => "true or false",
            Kind::Str => "a name",
            Kind::Ints => "a list of integers",
            Kind::Dims => "a shape",
            Kind::Padding => "a padding",
        }
    }
}

/// A parameter of a function or predicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Param {
    /// A value.
    Value,
    /// A value or a dtype.
    Typed,
    /// A value or a shape.
    Shaped,
    /// An integer or an extent.
    Int,
    /// A list of integers.
    Ints,
    /// An integer or a float; may be left out when it comes last.
    OptionalNumber,
}

impl Param {
    /// Whether an argument of `kind` may stand there.
    pub(crate) fn admits(self, kind: Kind) -> bool {
        match self {
            Param::Value => kind == Kind::Value,
            Param::Typed => matches!(kind, Kind::Value | Kind::DType),
            Param::Shaped => matches!(kind, Kind::Value | Kind::Dims),
            Param::Int => kind == Kind::Int,
            Param::Ints => kind == Kind::Ints,
            Param::OptionalNumber => matches!(kind, Kind::Int | Kind::Float),
        }
    }

    /// What may stand there, in words.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Param::Value => "a value such as `?x`",
            Param::Typed => "a value such as `?x` or a dtype such as `'t`",
            Param::Shaped => "a value such as `?x` or extents such as `..s`",
            Param::Int => "an integer",
            Param::Ints => "a list of integers",
            Param::OptionalNumber => "a number",
        }
    }
}

/// An expression with its names resolved.
#[derive(Debug)]
pub(crate) enum Expression {
    Literal(AttrValue),
    Attr(Slot),
    Register(Reg),
    DType(Slot),
    Dim(Slot),
    Shape(Slot),
    Call(&'static Function, Box<[Expression]>),
}

/// A condition with its names resolved.
#[derive(Debug)]
pub(crate) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Compare(Comparison, Expression, Expression),
    Predicate(&'static Predicate, Box<[Expression]>),
}

/// How two things are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Comparison {
    /// The comparison that `sign` stands for.
    pub(crate) fn parse(sign: &str) -> Option<Comparison> {
        Some(match sign {
            "==" => Comparison::Equal,
            "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterEqual,
            _ => return None,
        })
    }

    fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterEqual => order.is_ge(),
        }
    }
}

impl Expression {
    /// What the expression is for this match; none where it cannot be told.
    pub(crate) fn argument<'a>(&self, scope: &Scope<'a, '_>) -> Option<Argument<'a>> {
        Some(match self {
            Expression::Literal(value) => Argument::Attr(value.clone()),
            Expression::Attr(slot) => Argument::Attr(scope.attr(*slot).clone()),
            Expression::Register(reg) => Argument::Value(scope.value(*reg)),
            Expression::DType(slot) => Argument::DType(scope.slots.dtypes[usize::from(*slot)]?),
            Expression::Dim(slot) => Argument::Dim(scope.slots.dims[usize::from(*slot)]),
            Expression::Shape(slot) => Argument::Shape(&scope.slots.shapes[usize::from(*slot)]),
            Expression::Call(function, arguments) => {
                (function.eval)(&arguments_of(arguments, scope)?)?
            }
        })
    }

    /// The attribute value that the expression gives; none where it cannot be told.
    pub(crate) fn attr(&self, scope: &Scope<'_, '_>) -> Option<AttrValue> {
        match self.argument(scope)? {
            Argument::Attr(value) => Some(value),
            Argument::Dim(Dim::Fixed(extent)) => Some(AttrValue::Int(extent)),
            Argument::Shape(shape) => Some(AttrValue::Dims(shape.into())),
            Argument::Dim(_) | Argument::Value(_) | Argument::DType(_) => None,
        }
    }
}

fn arguments_of<'a>(
    arguments: &[Expression],
    scope: &Scope<'a, '_>,
) -> Option<SmallVec<[Argument<'a>; 4]>> {
    arguments.iter().map(|argument| argument.argument(scope)).collect()
}

impl Condition {
    /// Whether the condition holds for this match; none where it cannot be told, so that `not` of what
    /// is not known does not hold either.
    pub(crate) fn holds(&self, scope: &Scope<'_, '_>) -> Option<bool> {
        match self {
            Condition::All(parts) => {
                let mut known = Some(true);
                for part in parts {
                    match part.holds(scope) {
                        Some(true) => {}
                        Some(false) => return Some(false),
                        None => known = None,
                    }
                }
                known
            }
            Condition::Any(parts) => {
                let mut known = Some(false);
                for part in parts {
                    match part.holds(scope) {
                        Some(false) => {}
                        Some(true) => return Some(true),
                        None => known = None,
                    }
                }
                known
            }
            Condition::Not(inner) => inner.holds(scope).map(|held| !held),
            Condition::Compare(comparison, lhs, rhs) => {
                compare(*comparison, &lhs.argument(scope)?, &rhs.argument(scope)?)
            }
            Condition::Predicate(predicate, arguments) => {
                (predicate.eval)(&arguments_of(arguments, scope)?)
            }
        }
    }
}

fn compare(comparison: Comparison, lhs: &Argument<'_>, rhs: &Argument<'_>) -> Option<bool> {
    if let (Some(lhs), Some(rhs)) = (lhs.int(), rhs.int()) {
        return Some(comparison.holds(lhs.cmp(&rhs)));
    }
    let equal = match (lhs, rhs) {
        // Two symbols may still have one extent: only their equality can be told.
        (Argument::Dim(lhs), Argument::Dim(rhs)) => lhs.surely_equals(*rhs).then_some(true)?,
        (Argument::Attr(lhs), Argument::Attr(rhs)) => lhs == rhs,
        _ => return None,
    };
    match comparison {
        Comparison::Equal => Some(equal),
        Comparison::NotEqual => Some(!equal),
        _ => None,
    }
}
