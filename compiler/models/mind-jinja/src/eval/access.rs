//! Attributes, items and slices.

use super::Machine;
use crate::error::{Error, Result};
use crate::methods;
use crate::value::{Method, O, Steps, Value};

impl Machine<'_> {
    /// `value.name`: the attribute, else the item.
    ///
    /// # Errors
    ///
    /// An undefined value.
    pub(crate) fn attribute(&mut self, value: &Value, name: &str) -> Result<Value> {
        if let Some(own) = own_attribute(value.defined()?, name) {
            return Ok(own);
        }
        let key = Value::from(name);
        self.spend(
            value
                .len()
                .filter(|_| matches!(value, Value::Dict(_)))
                .unwrap_or(0)
                / 64,
        )?;
        Ok(own_item(value, &key).unwrap_or_else(|| missing(value, &key)))
    }

    /// `value[key]`: the item, else the attribute.
    ///
    /// # Errors
    ///
    /// An undefined value.
    pub(crate) fn item(&mut self, value: &Value, key: &Value) -> Result<Value> {
        self.spend(
            value
                .len()
                .filter(|_| matches!(value, Value::Dict(_)))
                .unwrap_or(0)
                / 64,
        )?;
        let item = own_item(value.defined()?, key);
        let item = item.or_else(|| own_attribute(value, key.as_text()?));
        Ok(item.unwrap_or_else(|| missing(value, key)))
    }

    /// The value at a path of attributes: names and numbers between dots, or a number.
    ///
    /// # Errors
    ///
    /// An undefined value on the way.
    pub(crate) fn path(
        &mut self,
        value: &Value,
        path: &Value,
        default: Option<&Value>,
    ) -> Result<Value> {
        let keys: Vec<Value> = match path.as_text() {
            None => vec![path.clone()],
            Some(text) => {
                let key = |own: &str| match own.parse::<i64>() {
                    Ok(at) if own.bytes().all(|c| c.is_ascii_digit()) => Value::Int(at),
                    _ => Value::from(own),
                };
                text.split('.').map(key).collect()
            }
        };
        let mut own = value.clone();
        for key in keys {
            own = self.item(&own, &key)?;
            if let (Value::Undefined(_), Some(default)) = (&own, default) {
                own = default.clone();
            }
        }
        Ok(own)
    }
}

/// Returns the undefined value of a missing attribute or item.
fn missing(value: &Value, key: &Value) -> Value {
    let object = value.object_name();
    Value::undefined(match key.as_text() {
        Some(name) => format!("{} has no attribute '{name}'", quoted(&object)),
        None => {
            let key = crate::show::repr(key).unwrap_or_default();
            format!("{} has no element {key}", object.trim_matches('\''))
        }
    })
}

fn quoted(object: &str) -> String {
    match object.starts_with('\'') {
        true => object.to_owned(),
        false => format!("'{object}'"),
    }
}

/// The attribute of a value, if it has one.
pub(crate) fn own_attribute(value: &Value, name: &str) -> Option<Value> {
    if name.starts_with("__") && name.ends_with("__") && name.len() > 4 {
        return Some(unsafe_attribute(value, name));
    }
    if methods::is_mutating(value, name) {
        return Some(unsafe_attribute(value, name));
    }
    let own = match value {
        Value::Object(own) => match &own.kind {
            O::Group([key, elements]) => match name {
                "grouper" => Some(key.clone()),
                "list" => Some(elements.clone()),
                _ => None,
            },
            O::Namespace(own) => own.borrow().get_text(name).cloned(),
            O::Macro(own) => own.attribute(name),
            O::Loop(own) => own.attribute(name),
            O::Cycler(own) if name == "current" => own.items.get(own.at.get()).cloned(),
            O::Range(own) => match name {
                "start" => Some(Value::Int(own.start)),
                "stop" => Some(Value::Int(own.stop)),
                "step" => Some(Value::Int(own.step)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    own.or_else(|| {
        methods::has(value, name).then(|| {
            Value::object(O::Method(Method {
                receiver: value.clone(),
                name: name.into(),
            }))
        })
    })
}

fn unsafe_attribute(value: &Value, name: &str) -> Value {
    let kind = value.kind();
    Value::undefined(format!(
        "access to attribute '{name}' of '{kind}' object is unsafe."
    ))
}

/// The item of a value, if it has one.
fn own_item(value: &Value, key: &Value) -> Option<Value> {
    match value {
        Value::Dict(own) if key.is_hashable() => own.get(key).cloned(),
        Value::Str(own) | Value::Markup(own) => {
            let at = index(key.as_int()?, own.chars().count())?;
            let c = own.chars().nth(at)?;
            Some(Value::from(c.to_string()))
        }
        Value::Object(own) => match &own.kind {
            O::Range(own) => Some(Value::Int(own.at(index(key.as_int()?, own.len())?))),
            O::Group(own) => Some(own[index(key.as_int()?, 2)?].clone()),
            _ => None,
        },
        other => {
            let own = other.as_elements()?;
            Some(own[index(key.as_int()?, own.len())?].clone())
        }
    }
}

/// An index that may count from the end.
fn index(at: i64, len: usize) -> Option<usize> {
    let len = i64::try_from(len).ok()?;
    let at = if at < 0 { at.checked_add(len)? } else { at };
    usize::try_from(at).ok().filter(|_| at < len)
}

/// The indices of `start:stop:step` in `len` elements.
///
/// # Errors
///
/// Errors if a bound is not an integer, or if the step is 0.
pub(crate) fn slice_indices(len: usize, bounds: &[Option<Value>; 3]) -> Result<Vec<usize>> {
    let own = slice_bounds(len, bounds)?;
    Ok((0..own.len()).map(|at| own.at(at) as usize).collect())
}

/// Returns the first index, the end and the step of a slice.
///
/// # Errors
///
/// Errors if a bound is not an integer, or if the step is 0.
pub(crate) fn slice_bounds(len: usize, bounds: &[Option<Value>; 3]) -> Result<Steps> {
    let bound = |at: usize| match &bounds[at] {
        None | Some(Value::None) => Ok(None),
        Some(own) => match own.defined()?.as_int() {
            Some(own) => Ok(Some(i128::from(own))),
            None => Err(Error::new(
                "slice indices must be integers or None or have an __index__ method",
            )),
        },
    };
    let len = len as i128;
    let step = bound(2)?.unwrap_or(1);
    if step == 0 {
        return Err(Error::new("slice step cannot be zero"));
    }
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let clip = |own: i128| {
        let own = if own < 0 { own + len } else { own };
        own.clamp(low, high)
    };
    let (first, last) = if step > 0 { (0, len) } else { (len - 1, -1) };
    let start = bound(0)?.map_or(first, clip);
    let stop = bound(1)?.map_or(last, clip);
    // Bounds are within the length; a longer step reaches one element all the same.
    Ok(Steps {
        start: start as i64,
        stop: stop as i64,
        step: step.clamp(-len - 1, len + 1) as i64,
    })
}

/// `value[start:stop:step]`.
///
/// # Errors
///
/// A value without slices, or bounds that are none.
pub(super) fn slice(value: &Value, bounds: &[Option<Value>; 3]) -> Result<Value> {
    let pick = |all: &[Value]| -> Result<Vec<Value>> {
        let indices = slice_indices(all.len(), bounds)?;
        Ok(indices.into_iter().map(|at| all[at].clone()).collect())
    };
    match value.defined()? {
        Value::Str(own) | Value::Markup(own) => {
            let all: Vec<char> = own.chars().collect();
            let indices = slice_indices(all.len(), bounds)?;
            let text: String = indices.into_iter().map(|at| all[at]).collect();
            Ok(Value::from(text))
        }
        Value::List(own) => Ok(Value::list(pick(own)?)),
        Value::Tuple(own) => Ok(Value::tuple(pick(own)?)),
        Value::Object(own) => match &own.kind {
            O::Group(own) => Ok(Value::tuple(pick(own)?)),
            O::Range(own) => Ok(Value::object(O::Range(own.slice(bounds)?))),
            _ => Err(not_subscriptable(value)),
        },
        _ => Err(not_subscriptable(value)),
    }
}

fn not_subscriptable(value: &Value) -> Error {
    Error::new(format!("'{}' object is not subscriptable", value.kind()))
}
