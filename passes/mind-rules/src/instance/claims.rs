//! Partial evaluation of conditions from dtypes alone.

use mind_ir::types::{DType, DTypeClass};

use super::hints::number;
use crate::attr_value::AttrValue;
use crate::expr::{Argument, Comparison, Condition, Expression, Param, Scope, fits_in};
use crate::matching::subject::Subject;

/// An argument whose dtype a predicate depends on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Typed {
    /// A value, by its number.
    Value(usize),
    /// A dtype bound in a type, by its slot.
    DType(usize),
    /// A dtype bound as an attribute, by its slot.
    Attr(usize),
}

/// Returns the dtype of an expression, if it has one and it is known.
fn dtype(
    expression: Option<&Expression>,
    dtype_of: &dyn Fn(Typed) -> Option<DType>,
) -> Option<DType> {
    match expression? {
        Expression::Register(value) => dtype_of(Typed::Value(usize::from(*value))),
        Expression::DType(slot) => dtype_of(Typed::DType(usize::from(*slot))),
        Expression::Attr(slot) => dtype_of(Typed::Attr(usize::from(*slot))),
        Expression::Literal(AttrValue::DType(dtype)) => Some(*dtype),
        Expression::Literal(_)
        | Expression::Dim(_)
        | Expression::Shape(_)
        | Expression::Count(_)
        | Expression::Integers(_)
        | Expression::List(_)
        | Expression::Dims(_)
        | Expression::Call(..)
        | Expression::Own(..) => None,
    }
}

/// Compares two dtypes; `None` for an ordering, which they do not have.
fn compared(comparison: Comparison, a: DType, b: DType) -> Option<bool> {
    match comparison {
        Comparison::Equal => Some(a == b),
        Comparison::NotEqual => Some(a != b),
        Comparison::Less
        | Comparison::LessEqual
        | Comparison::Greater
        | Comparison::GreaterEqual => None,
    }
}

/// Returns whether the condition holds for values of these dtypes; `None` if the dtypes do not decide it.
pub(super) fn holds(
    condition: &Condition,
    dtype_of: &dyn Fn(Typed) -> Option<DType>,
) -> Option<bool> {
    match condition {
        Condition::All(parts) => {
            let known: Vec<Option<bool>> = parts.iter().map(|part| holds(part, dtype_of)).collect();
            if known.contains(&Some(false)) {
                return Some(false);
            }
            known.iter().all(|part| *part == Some(true)).then_some(true)
        }
        Condition::Any(parts) => {
            let known: Vec<Option<bool>> = parts.iter().map(|part| holds(part, dtype_of)).collect();
            if known.contains(&Some(true)) {
                return Some(true);
            }
            let none = known.iter().all(|part| *part == Some(false));
            none.then_some(false)
        }
        Condition::Not(inner) => holds(inner, dtype_of).map(|held| !held),
        Condition::Compare(comparison, a, b) => match (a, b) {
            // This compares the values and not their dtypes.
            (Expression::Register(_), _) | (_, Expression::Register(_)) => None,
            _ => compared(
                *comparison,
                dtype(Some(a), dtype_of)?,
                dtype(Some(b), dtype_of)?,
            ),
        },
        Condition::Own(..) => None,
        Condition::Each(_, inner) => holds(inner, dtype_of),
        Condition::Predicate(predicate, arguments) => {
            let dtype = |at: usize| dtype(arguments.get(at), dtype_of);
            // A predicate whose parameters are all dtypes is evaluated as in a match.
            let is_typed = |param: &Param| matches!(param, Param::Typed);
            if predicate.params.iter().all(is_typed) {
                let all = (0..arguments.len()).map(|at| dtype(at).map(Argument::DType));
                let all: Option<Vec<Argument<'_>>> = all.collect();
                // Equal dtypes are excluded because a cast of a dtype to itself is not an op.
                let is_same =
                    predicate.name == "fits_in" && dtype(0).is_some() && dtype(0) == dtype(1);
                if let Some(all) = all {
                    return (predicate.eval)(&all).map(|holds| holds && !is_same);
                }
            }
            match (predicate.name, dtype(1)) {
                ("widens_to", Some(wider)) => {
                    let narrower =
                        |own: &DType| own.is_int() == wider.is_int() && own.widens_to(wider);
                    (!DType::ALL.iter().any(narrower)).then_some(false)
                }
                (name, _) => constant_predicate(name, arguments, dtype(0)?),
            }
        }
    }
}

fn constant_predicate(predicate: &str, arguments: &[Expression], dtype: DType) -> Option<bool> {
    match predicate {
        "widens_to" if !DType::ALL.iter().any(|&wider| dtype.widens_to(wider)) => Some(false),
        "fits_in"
            if !DType::ALL
                .iter()
                .any(|&other| other != dtype && fits_in(dtype, other)) =>
        {
            Some(false)
        }
        "is_power_of_two" | "scales_exactly" if !dtype.is_float() => Some(false),
        "is_one_bit" if !dtype.is_int() => Some(false),
        "all_ones" if dtype.is_float() => Some(false),
        "is_splat" => {
            let wanted = number(arguments.get(1))?;
            let negative_zero = wanted == 0.0 && wanted.is_sign_negative();
            let whole = wanted.fract() == 0.0 && !negative_zero;
            let fits = match dtype.class() {
                DTypeClass::Float => true,
                DTypeClass::Signed => whole && wanted.abs() <= half(dtype),
                DTypeClass::Unsigned => whole && (0.0..=2.0 * half(dtype)).contains(&wanted),
                DTypeClass::Bool => wanted == 0.0 || wanted == 1.0,
            };
            (!fits).then_some(false)
        }
        _ => None,
    }
}

/// Returns half the number of values of an integer dtype.
fn half(dtype: DType) -> f64 {
    (1u64 << (8 * dtype.size() - 1)) as f64
}

/// Returns the alternatives of all `or`s of a condition, in text order.
pub(super) fn alternatives(condition: &Condition) -> Vec<&Condition> {
    match condition {
        Condition::All(parts) => parts.iter().flat_map(alternatives).collect(),
        Condition::Any(parts) => {
            let nested = |part| std::iter::once(part).chain(alternatives(part));
            parts.iter().flat_map(nested).collect()
        }
        Condition::Not(_)
        | Condition::Compare(..)
        | Condition::Predicate(..)
        | Condition::Own(..)
        | Condition::Each(..) => Vec::new(),
    }
}

/// Returns which alternatives hold in a match.
pub(super) fn holding_alternatives<S: Subject>(
    condition: &Condition,
    scope: &Scope<'_, S>,
) -> Vec<bool> {
    let holds = |part: &&Condition| part.holds(scope) == Some(true);
    alternatives(condition).iter().map(holds).collect()
}
