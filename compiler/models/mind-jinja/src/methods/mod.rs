//! Methods of texts, lists, tuples, dictionaries and objects that templates make.

mod sequence;
pub(crate) mod text;

use crate::arguments::Arguments;
use crate::error::{Error, Result};
use crate::eval::Machine;
use crate::globals;
use crate::value::{Method, O, Value};

/// Methods that change a value in place, which the sandbox of jinja2 refuses.
const MUTATING: [(&str, &[&str]); 2] = [
    (
        "list",
        &[
            "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort",
        ],
    ),
    ("dict", &["clear", "pop", "popitem", "setdefault", "update"]),
];

/// Whether the method would change the value.
pub(crate) fn is_mutating(value: &Value, name: &str) -> bool {
    let kind = value.kind();
    MUTATING
        .iter()
        .any(|(own, names)| *own == kind && names.contains(&name))
}

/// The names of the methods of a value.
fn names(value: &Value) -> &'static [&'static str] {
    match value {
        Value::Str(_) | Value::Markup(_) => text::NAMES,
        Value::List(_) => &["copy", "count", "index"],
        Value::Tuple(_) => &["count", "index"],
        Value::Dict(_) => &["copy", "get", "items", "keys", "values"],
        Value::Int(_) | Value::Bool(_) => &["bit_length", "conjugate"],
        Value::Float(_) => &["conjugate", "is_integer"],
        Value::Object(own) => match &own.kind {
            O::Group(_) | O::Range(_) => &["count", "index"],
            O::Loop(_) => &["changed", "cycle"],
            O::Cycler(_) => &["next", "reset"],
            O::Generator(_)
            | O::View(..)
            | O::Namespace(_)
            | O::Macro(_)
            | O::Method(_)
            | O::Joiner(_) => &[],
        },
        Value::Function(own) if own.name == "dict" => &["fromkeys"],
        Value::Undefined(_) | Value::None | Value::Function(_) => &[],
    }
}

/// Whether a value has the method.
pub(crate) fn has(value: &Value, name: &str) -> bool {
    names(value).contains(&name)
}

/// Calls a method.
///
/// # Errors
///
/// Arguments that it does not take; errors of the method.
pub(crate) fn call(machine: &mut Machine<'_>, method: &Method, args: Arguments) -> Result<Value> {
    let name: &str = &method.name;
    match &method.receiver {
        Value::Str(own) | Value::Markup(own) => {
            machine.spend(own.len() / 64)?;
            text::call(machine, own, name, args)
        }
        Value::Dict(own) => sequence::of_dict(own, name, args),
        Value::Function(_) => globals::from_keys(args),
        Value::Int(_) | Value::Bool(_) | Value::Float(_) => of_number(&method.receiver, name, args),
        Value::Object(own) => match &own.kind {
            O::Loop(own) if name == "changed" => Ok(Value::Bool(own.changed(args.positional))),
            O::Loop(own) => own.cycle(&args.positional),
            O::Cycler(own) => {
                let [] = args.bind(name, [], 0)?;
                if name == "reset" {
                    own.at.set(0);
                    return Ok(Value::None);
                }
                let at = own.at.get();
                own.at.set((at + 1) % own.items.len());
                Ok(own.items[at].clone())
            }
            _ => sequence::of_elements(&method.receiver, name, args),
        },
        other => sequence::of_elements(other, name, args),
    }
}

fn of_number(own: &Value, name: &str, args: Arguments) -> Result<Value> {
    let [] = args.bind(name, [], 0)?;
    Ok(match (name, own) {
        ("conjugate", own) => own.clone(),
        ("is_integer", Value::Float(own)) => Value::Bool(own.fract() == 0.0),
        ("bit_length", own) => {
            let own = own.as_int().unwrap_or(0).unsigned_abs();
            Value::Int(i64::from(u64::BITS - own.leading_zeros()))
        }
        _ => return Err(no_method(own, name)),
    })
}

fn no_method(value: &Value, name: &str) -> Error {
    Error::new(format!("'{}' object has no method '{name}'", value.kind()))
}
