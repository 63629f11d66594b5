//! What can be told of a condition without all that it asks about.

use mind_ir::types::{DType, DTypeClass};

use super::hints::number;
use crate::expr::{Condition, Expression, Scope, fits_in};
use crate::matching::subject::Subject;

/// What a predicate asks the dtype of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Typed {
    /// A value, by its number.
    Value(usize),
    /// A dtype that a written type names, by its slot.
    DType(usize),
}

/// Whether the condition holds for values of these dtypes; `None` if they alone do not tell.
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
        Condition::Compare(..) | Condition::Own(..) => None,
        Condition::Each(_, inner) => holds(inner, dtype_of),
        Condition::Predicate(predicate, arguments) => {
            let dtype = |at: usize| match arguments.get(at) {
                Some(Expression::Register(value)) => dtype_of(Typed::Value(usize::from(*value))),
                Some(Expression::DType(slot)) => dtype_of(Typed::DType(usize::from(*slot))),
                _ => None,
            };
            match (predicate.name, dtype(1)) {
                ("widens_to", Some(wider)) => {
                    let narrower =
                        |own: &DType| own.is_int() == wider.is_int() && own.widens_to(wider);
                    (!DType::ALL.iter().any(narrower)).then_some(false)
                }
                (name, _) => asked(name, arguments, dtype(0)?),
            }
        }
    }
}

fn asked(predicate: &str, arguments: &[Expression], dtype: DType) -> Option<bool> {
    let signed = matches!(dtype.class(), DTypeClass::Float | DTypeClass::Signed);
    match predicate {
        "is_float" => Some(dtype.is_float()),
        "is_int" => Some(dtype.is_int()),
        "is_signed" => Some(signed),
        "is_narrow" => Some(matches!(dtype, DType::F16 | DType::BF16)),
        "is_bool" => Some(dtype == DType::Bool),
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
                DTypeClass::Signed => whole,
                DTypeClass::Unsigned => whole && wanted >= 0.0,
                DTypeClass::Bool => wanted == 0.0 || wanted == 1.0,
            };
            (!fits).then_some(false)
        }
        _ => None,
    }
}

/// The alternatives of all `or`s of a condition, in text order.
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

/// Which alternatives hold for a match.
pub(super) fn taken<S: Subject>(condition: &Condition, scope: &Scope<'_, S>) -> Vec<bool> {
    let holds = |part: &&Condition| part.holds(scope) == Some(true);
    alternatives(condition).iter().map(holds).collect()
}
