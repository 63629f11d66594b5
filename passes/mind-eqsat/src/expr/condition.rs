//! Evaluating conditions and expressions for a match.

use mind_ir::types::Dim;
use smallvec::SmallVec;

use super::functions::Function;
use super::predicates::Predicate;
use super::scope::{Argument, Scope};
use crate::egraph::payload::AttrValue;
use crate::slots::{Reg, Slot};

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

    /// The sign that stands for the comparison.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
        }
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
    arguments
        .iter()
        .map(|argument| argument.argument(scope))
        .collect()
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
