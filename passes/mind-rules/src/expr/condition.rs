//! Evaluating conditions and expressions for a match.

use std::sync::Arc;

use mind_ir::types::Dim;

use super::contents;
use super::functions::Function;
use super::number::Number;
use super::predicates::Predicate;
use super::scope::{Argument, Scope};
use super::vocabulary::{OwnFunction, OwnPredicate};
use crate::attr_value::AttrValue;
use crate::matching::slots::{Reg, Slot};
use crate::matching::subject::Subject;

/// An expression with its names resolved.
#[derive(Debug)]
pub enum Expression {
    /// A constant.
    Literal(AttrValue),
    /// A bound attribute.
    Attr(Slot),
    /// A value.
    Register(Reg),
    /// A bound dtype.
    DType(Slot),
    /// A bound extent.
    Dim(Slot),
    /// A bound list of extents.
    Shape(Slot),
    /// How many values a list holds.
    Count(Slot),
    /// The integers that the values of a list are, each a constant of one element.
    Integers(Slot),
    /// Integers, each an item, and lists of extents in between.
    List(Box<[Expression]>),
    /// The same as a shape.
    Dims(Box<[Expression]>),
    /// A call of a built-in function.
    Call(&'static Function, Box<[Expression]>),
    /// A call of a function that a program adds.
    Own(Arc<OwnFunction>, Box<[Expression]>),
}

/// A condition with its names resolved.
#[derive(Debug)]
pub enum Condition {
    /// `and`.
    All(Vec<Condition>),
    /// `or`.
    Any(Vec<Condition>),
    /// `not`.
    Not(Box<Condition>),
    /// A comparison of two expressions.
    Compare(Comparison, Expression, Expression),
    /// A call of a built-in predicate.
    Predicate(&'static Predicate, Box<[Expression]>),
    /// A call of a predicate that a program adds.
    Own(Arc<OwnPredicate>, Box<[Expression]>),
    /// The condition holds for every value of some lists of one length, put into registers in turn.
    Each(Box<[(Slot, Reg)]>, Box<Condition>),
}

/// How two things are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Comparison {
    /// The comparison that `sign` stands for.
    pub fn parse(sign: &str) -> Option<Comparison> {
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
    pub fn sign(self) -> &'static str {
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
    /// What the expression is for this match; `None` if it cannot be told.
    pub fn argument<'a, S: Subject>(&self, scope: &Scope<'a, S>) -> Option<Argument<'a>> {
        Some(match self {
            Expression::Literal(value) => Argument::Attr(value.clone()),
            Expression::Attr(slot) => match scope.attr(*slot)? {
                AttrValue::DType(dtype) => Argument::DType(dtype),
                value => Argument::Attr(value),
            },
            Expression::Register(reg) => Argument::Value(scope.value(*reg)),
            Expression::DType(slot) => Argument::DType(scope.slots.dtypes[usize::from(*slot)]?),
            Expression::Dim(slot) => Argument::Dim(scope.slots.dims[usize::from(*slot)]),
            Expression::Shape(slot) => Argument::Shape(&scope.slots.shapes[usize::from(*slot)]),
            Expression::Count(list) => {
                let count = scope.slots.lists[usize::from(*list)].len();
                Argument::Attr(AttrValue::Int(count as i64))
            }
            Expression::Integers(list) => {
                let values = scope.slots.lists[usize::from(*list)].iter();
                let one = |&value| contents::integer(scope.info(value).constant()?);
                let all: Option<Box<[i64]>> = values.map(one).collect();
                Argument::Attr(AttrValue::Ints(all?))
            }
            Expression::List(items) => {
                let dims = dims(items, scope)?;
                let ints: Option<Box<[i64]>> = dims.into_iter().map(Dim::fixed).collect();
                Argument::Attr(AttrValue::Ints(ints?))
            }
            Expression::Dims(items) => {
                let dims = dims(items, scope)?;
                (!dims.contains(&Dim::Dynamic)).then_some(())?;
                Argument::Attr(AttrValue::Dims(dims.into()))
            }
            Expression::Call(function, arguments) => apply(function.eval, arguments, scope)?,
            Expression::Own(function, arguments) => {
                apply(|all| (function.eval)(all), arguments, scope)?
            }
        })
    }

    /// The attribute value that the expression gives; `None` if it cannot be told.
    pub fn attr<S: Subject>(&self, scope: &Scope<'_, S>) -> Option<AttrValue> {
        match self.argument(scope)? {
            Argument::Attr(value) => Some(value),
            Argument::Dim(Dim::Fixed(extent)) => Some(AttrValue::Int(extent)),
            Argument::Shape(shape) => Some(AttrValue::Dims(shape.into())),
            Argument::DType(dtype) => Some(AttrValue::DType(dtype)),
            Argument::Dim(_) | Argument::Value(_) => None,
        }
    }
}

/// The extents that the items of a list stand for.
fn dims<S: Subject>(items: &[Expression], scope: &Scope<'_, S>) -> Option<Vec<Dim>> {
    let mut dims = Vec::new();
    for item in items {
        match item.argument(scope)? {
            Argument::Dim(dim) => dims.push(dim),
            Argument::Shape(shape) => dims.extend(shape),
            Argument::Attr(AttrValue::Dims(shape)) => dims.extend(&shape),
            Argument::Attr(AttrValue::Ints(list)) => {
                dims.extend(list.iter().map(|&i| Dim::Fixed(i)))
            }
            other => dims.push(Dim::Fixed(other.int()?)),
        }
    }
    Some(dims)
}

impl Expression {
    /// The number that the expression gives; `None` if it cannot be told.
    pub fn number<S: Subject>(&self, scope: &Scope<'_, S>) -> Option<Number> {
        match self.argument(scope)? {
            Argument::Attr(AttrValue::Float(bits)) => Some(Number::Float(f64::from_bits(bits))),
            other => Some(Number::Int(other.int()?)),
        }
    }
}

/// What `f` gives for the arguments; `None` if one cannot be told.
fn apply<'a, S: Subject, T>(
    f: impl FnOnce(&[Argument<'a>]) -> Option<T>,
    arguments: &[Expression],
    scope: &Scope<'a, S>,
) -> Option<T> {
    match arguments {
        // Arguments are large: the usual numbers of them are not moved about.
        [a] => f(&[a.argument(scope)?]),
        [a, b] => f(&[a.argument(scope)?, b.argument(scope)?]),
        _ => {
            let all = arguments.iter().map(|argument| argument.argument(scope));
            f(&all.collect::<Option<Vec<_>>>()?)
        }
    }
}

impl Condition {
    /// Whether the condition holds for this match; `None` if it cannot be told, so that `not` of what
    /// is not known does not hold either.
    pub fn holds<S: Subject>(&self, scope: &Scope<'_, S>) -> Option<bool> {
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
            Condition::Predicate(predicate, arguments) => apply(predicate.eval, arguments, scope),
            Condition::Own(predicate, arguments) => {
                apply(|all| (predicate.eval)(all), arguments, scope)
            }
            Condition::Each(lists, condition) => {
                let mut known = Some(true);
                for registers in scope.each(lists)? {
                    let scope = Scope {
                        registers: &registers,
                        ..*scope
                    };
                    match condition.holds(&scope) {
                        Some(true) => {}
                        Some(false) => return Some(false),
                        None => known = None,
                    }
                }
                known
            }
        }
    }
}

fn compare(comparison: Comparison, lhs: &Argument<'_>, rhs: &Argument<'_>) -> Option<bool> {
    if let (Some(lhs), Some(rhs)) = (lhs.int(), rhs.int()) {
        return Some(comparison.holds(lhs.cmp(&rhs)));
    }
    if let (Some(lhs), Some(rhs)) = (lhs.float(), rhs.float()) {
        return Some(comparison.holds(lhs.partial_cmp(&rhs)?));
    }
    let equal = match (lhs, rhs) {
        // Two symbols may still have one extent: only their equality can be told.
        (Argument::Dim(lhs), Argument::Dim(rhs)) => lhs.surely_equals(*rhs).then_some(true)?,
        (Argument::Attr(lhs), Argument::Attr(rhs)) => lhs == rhs,
        (Argument::DType(lhs), Argument::DType(rhs)) => lhs == rhs,
        (Argument::Shape(lhs), Argument::Shape(rhs)) => {
            let same = |(lhs, rhs): (&Dim, &Dim)| lhs.surely_equals(*rhs);
            let equal = lhs.len() == rhs.len() && lhs.iter().zip(*rhs).all(same);
            equal.then_some(true)?
        }
        _ => return None,
    };
    match comparison {
        Comparison::Equal => Some(equal),
        Comparison::NotEqual => Some(!equal),
        _ => None,
    }
}
