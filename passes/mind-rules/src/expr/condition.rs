//! Evaluation of conditions and expressions in a match.

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
    /// The number of values of a list.
    Count(Slot),
    /// The integers of a list of values, each of which is a constant of one element.
    Integers(Slot),
    /// A list of integers: an item is an integer or a list of extents, which is spliced in.
    List(Box<[Expression]>),
    /// A shape, with items as in [`List`](Expression::List).
    Dims(Box<[Expression]>),
    /// A call of a built-in function.
    Call(&'static Function, Box<[Expression]>),
    /// A call of a function that the embedding program registers.
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
    /// A call of a predicate that the embedding program registers.
    Own(Arc<OwnPredicate>, Box<[Expression]>),
    /// A condition on each value of some lists of equal length; the values are written to the registers in turn.
    Each(Box<[(Slot, Reg)]>, Box<Condition>),
}

/// A comparison operator.
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
    /// Returns the comparison written as `sign`.
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

    /// Returns the operator as text.
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
    /// Evaluates the expression in this match; `None` if the value is not known.
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

    /// Returns the value of the expression as an attribute; `None` if it is not known.
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

/// Returns the extents of the items of a list, with lists of extents spliced in.
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
    /// Returns the value of the expression as a number; `None` if it is not known.
    pub fn number<S: Subject>(&self, scope: &Scope<'_, S>) -> Option<Number> {
        match self.argument(scope)? {
            Argument::Attr(AttrValue::Float(bits)) => Some(Number::Float(f64::from_bits(bits))),
            other => Some(Number::Int(other.int()?)),
        }
    }
}

/// Applies `f` to the arguments; `None` if one of them is not known.
fn apply<'a, S: Subject, T>(
    f: impl FnOnce(&[Argument<'a>]) -> Option<T>,
    arguments: &[Expression],
    scope: &Scope<'a, S>,
) -> Option<T> {
    match arguments {
        // The common arities avoid a vector because arguments are large.
        [a] => f(&[a.argument(scope)?]),
        [a, b] => f(&[a.argument(scope)?, b.argument(scope)?]),
        _ => {
            let all = arguments.iter().map(|argument| argument.argument(scope));
            f(&all.collect::<Option<Vec<_>>>()?)
        }
    }
}

impl Condition {
    /// Returns whether the condition holds in this match; `None` if it is not known. `None` propagates through `not`,
    /// so the negation of an unknown condition does not hold either.
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
        // Two different symbols may have the same extent, so only equality can be proved.
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
