//! Operators, with the meaning that Python gives them.

use std::cmp::Ordering;

use crate::ast::{Binary, Comparison};
use crate::error::{Error, Result};
use crate::value::{O, Value};
use crate::{check_length, format, number, show};

/// `-value`.
///
/// # Errors
///
/// Errors if the value is not a number.
pub(crate) fn minus(value: &Value) -> Result<Value> {
    match value.defined()? {
        Value::Float(own) => Ok(Value::Float(-own)),
        own => match own.as_int() {
            Some(own) => number::int(own.checked_neg()),
            None => Err(bad_unary("-", own)),
        },
    }
}

/// `+value`.
///
/// # Errors
///
/// Errors if the value is not a number.
pub(crate) fn plus(value: &Value) -> Result<Value> {
    match value.defined()? {
        Value::Float(own) => Ok(Value::Float(*own)),
        own => own
            .as_int()
            .map(Value::Int)
            .ok_or_else(|| bad_unary("+", own)),
    }
}

fn bad_unary(operator: &str, value: &Value) -> Error {
    let kind = value.kind();
    Error::new(format!("bad operand type for unary {operator}: '{kind}'"))
}

/// The value of an operator between two operands.
///
/// # Errors
///
/// Operands without the operator, a result out of range.
pub(crate) fn binary(operator: Binary, left: &Value, right: &Value) -> Result<Value> {
    left.defined()?;
    if !(operator == Binary::Rem && left.as_text().is_some()) {
        right.defined()?;
    }
    let own = match operator {
        Binary::Add => add(left, right)?,
        Binary::Mul => multiply(left, right)?,
        Binary::Rem if left.as_text().is_some() => {
            let text = left.as_text().unwrap_or_default();
            Some(Value::from(format::percent(text, right)?))
        }
        Binary::Sub | Binary::Div | Binary::FloorDiv | Binary::Rem | Binary::Pow => None,
    };
    if let Some(own) = own {
        return Ok(own);
    }
    match (left.as_int(), right.as_int()) {
        (Some(a), Some(b)) => number::of_ints(operator, a, b),
        _ => match (left.as_float(), right.as_float()) {
            (Some(a), Some(b)) => number::of_floats(operator, a, b),
            _ => Err(unsupported(operator, left, right)),
        },
    }
}

fn unsupported(operator: Binary, left: &Value, right: &Value) -> Error {
    let (a, b) = (left.kind(), right.kind());
    if operator == Binary::Add && matches!(left, Value::Str(_)) {
        return Error::new(format!("can only concatenate str (not \"{b}\") to str"));
    }
    if operator == Binary::Add && matches!(left, Value::List(_) | Value::Tuple(_)) {
        return Error::new(format!("can only concatenate {a} (not \"{b}\") to {a}"));
    }
    let sign = operator.text();
    Error::new(format!(
        "unsupported operand type(s) for {sign}: '{a}' and '{b}'"
    ))
}

/// Concatenates texts, lists and tuples.
fn add(left: &Value, right: &Value) -> Result<Option<Value>> {
    Ok(match (left, right) {
        (Value::Str(a), Value::Str(b)) => {
            check_length(a.len() + b.len())?;
            Some(Value::from(format!("{a}{b}")))
        }
        (Value::Markup(_), other) | (other, Value::Markup(_)) if other.as_text().is_some() => {
            let text = format!("{}{}", markup(left), markup(right));
            check_length(text.len())?;
            Some(Value::Markup(text.into()))
        }
        (Value::List(a), Value::List(b)) => Some(Value::list(a.iter().chain(b.iter()).cloned())),
        (Value::List(_), _) | (_, Value::List(_)) => None,
        _ => match (left.as_elements(), right.as_elements()) {
            (Some(a), Some(b)) => Some(Value::tuple(a.iter().chain(b).cloned())),
            _ => None,
        },
    })
}

/// A text as markup has it: escaped, unless it is markup itself.
fn markup(value: &Value) -> String {
    match value {
        Value::Markup(own) => own.to_string(),
        other => crate::filters::escaped(other.as_text().unwrap_or_default()),
    }
}

/// Texts, lists and tuples again and again.
fn multiply(left: &Value, right: &Value) -> Result<Option<Value>> {
    let (own, count) = match (left.as_int(), right.as_int()) {
        (None, Some(count)) => (left, count),
        (Some(count), None) => (right, count),
        _ => return Ok(None),
    };
    let count = usize::try_from(count).unwrap_or(0);
    if let Some(text) = own.as_text() {
        check_length(text.len().saturating_mul(count))?;
        return Ok(Some(Value::from(text.repeat(count))));
    }
    let Some(elements) = own.as_elements() else {
        return Ok(None);
    };
    // As many bytes as the elements take.
    check_length(elements.len().saturating_mul(count).saturating_mul(32))?;
    let all = (0..count).flat_map(|_| elements.iter().cloned());
    Ok(Some(match own {
        Value::List(_) => Value::list(all),
        _ => Value::tuple(all),
    }))
}

/// Whether a comparison holds.
///
/// # Errors
///
/// Values that cannot be compared.
pub(crate) fn compare(operator: Comparison, left: &Value, right: &Value) -> Result<bool> {
    let ordered = |sign: &str, holds: fn(Ordering) -> bool| {
        let order = left.order(right, sign)?;
        Ok(order.is_some_and(holds))
    };
    match operator {
        Comparison::Equal => Ok(left.equals(right)),
        Comparison::NotEqual => Ok(!left.equals(right)),
        Comparison::Less => ordered("<", Ordering::is_lt),
        Comparison::LessEqual => ordered("<=", Ordering::is_le),
        Comparison::Greater => ordered(">", Ordering::is_gt),
        Comparison::GreaterEqual => ordered(">=", Ordering::is_ge),
        Comparison::In => contains(right, left),
        Comparison::NotIn => Ok(!contains(right, left)?),
    }
}

/// `value in container`.
///
/// # Errors
///
/// A container that contains nothing.
pub(crate) fn contains(container: &Value, value: &Value) -> Result<bool> {
    match container {
        Value::Str(own) | Value::Markup(own) => match value.as_text() {
            Some(text) => Ok(own.contains(text)),
            None => {
                let kind = value.kind();
                let message = format!("'in <string>' requires string as left operand, not {kind}");
                Err(Error::new(message))
            }
        },
        Value::Dict(own) => {
            if !value.is_hashable() {
                return Err(Error::new(format!("unhashable type: '{}'", value.kind())));
            }
            Ok(own.get(value).is_some())
        }
        Value::Object(own) => match &own.kind {
            O::Generator(own) => {
                let mut elements = own.elements.borrow_mut();
                while let Some(first) = elements.pop_front() {
                    if first.equals(value) {
                        return Ok(true);
                    }
                }
                match &own.error {
                    Some(why) => Err(why.clone()),
                    None => Ok(false),
                }
            }
            _ => Ok(container.elements()?.iter().any(|own| own.equals(value))),
        },
        other => match other.as_elements() {
            Some(all) => Ok(all.iter().any(|own| own.equals(value))),
            None if other.is_undefined() => Ok(false),
            None => {
                let kind = show::repr(&Value::from(other.kind()))?;
                Err(Error::new(format!(
                    "argument of type {kind} is not iterable"
                )))
            }
        },
    }
}
