//! Tests, for example `x is defined`.

use crate::arguments::Arguments;
use crate::ast::Comparison;
use crate::error::{Error, Result};
use crate::value::{O, Value};
use crate::{filters, operators, show, unicode};

/// A test of a value.
pub(crate) type Test = fn(&Value, Arguments) -> Result<bool>;

/// The test called `name`.
pub(crate) fn named(name: &str) -> Option<Test> {
    let found = TESTS.iter().find(|(own, _)| *own == name);
    found.map(|(_, test)| *test)
}

const TESTS: &[(&str, Test)] = &[
    ("odd", |value, args| parity(value, args, 1)),
    ("even", |value, args| parity(value, args, 0)),
    ("divisibleby", divisible_by),
    ("defined", |value, args| plain(args, !value.is_undefined())),
    ("undefined", |value, args| plain(args, value.is_undefined())),
    ("filter", |value, args| {
        plain(args, is_known(value, |own| filters::named(own).is_some())?)
    }),
    ("test", |value, args| {
        plain(args, is_known(value, |own| named(own).is_some())?)
    }),
    ("none", |value, args| {
        plain(args, matches!(value, Value::None))
    }),
    ("boolean", |value, args| {
        plain(args, matches!(value, Value::Bool(_)))
    }),
    ("false", |value, args| {
        plain(args, matches!(value, Value::Bool(false)))
    }),
    ("true", |value, args| {
        plain(args, matches!(value, Value::Bool(true)))
    }),
    ("integer", |value, args| {
        plain(args, matches!(value, Value::Int(_)))
    }),
    ("float", |value, args| {
        plain(args, matches!(value, Value::Float(_)))
    }),
    ("lower", |value, args| {
        plain(args, unicode::is_lower(&show::text(value)?))
    }),
    ("upper", |value, args| {
        plain(args, unicode::is_upper(&show::text(value)?))
    }),
    ("string", |value, args| {
        plain(args, value.as_text().is_some())
    }),
    ("mapping", |value, args| {
        plain(args, matches!(value, Value::Dict(_)))
    }),
    ("number", |value, args| {
        plain(args, value.as_float().is_some())
    }),
    ("sequence", |value, args| plain(args, is_sequence(value))),
    ("iterable", |value, args| plain(args, value.is_iterable())),
    ("callable", |value, args| plain(args, is_callable(value))),
    ("sameas", |value, args| {
        let [other] = args.bind("sameas", ["other"], 1)?;
        Ok(other.is_some_and(|other| value.is_same(&other)))
    }),
    ("escaped", |value, args| {
        plain(args, matches!(value, Value::Markup(_)))
    }),
    ("in", |value, args| compared(Comparison::In, value, args)),
    ("eq", |value, args| compared(Comparison::Equal, value, args)),
    ("equalto", |value, args| {
        compared(Comparison::Equal, value, args)
    }),
    ("==", |value, args| compared(Comparison::Equal, value, args)),
    ("ne", |value, args| {
        compared(Comparison::NotEqual, value, args)
    }),
    ("!=", |value, args| {
        compared(Comparison::NotEqual, value, args)
    }),
    ("gt", |value, args| {
        compared(Comparison::Greater, value, args)
    }),
    ("greaterthan", |value, args| {
        compared(Comparison::Greater, value, args)
    }),
    (">", |value, args| {
        compared(Comparison::Greater, value, args)
    }),
    ("ge", |value, args| {
        compared(Comparison::GreaterEqual, value, args)
    }),
    (">=", |value, args| {
        compared(Comparison::GreaterEqual, value, args)
    }),
    ("lt", |value, args| compared(Comparison::Less, value, args)),
    ("lessthan", |value, args| {
        compared(Comparison::Less, value, args)
    }),
    ("<", |value, args| compared(Comparison::Less, value, args)),
    ("le", |value, args| {
        compared(Comparison::LessEqual, value, args)
    }),
    ("<=", |value, args| {
        compared(Comparison::LessEqual, value, args)
    }),
];

/// Whether a value is the name of something.
fn is_known(value: &Value, is: impl Fn(&str) -> bool) -> Result<bool> {
    match value.is_hashable() {
        true => Ok(value.as_text().is_some_and(is)),
        false => Err(Error::new(format!("unhashable type: '{}'", value.kind()))),
    }
}

/// The result of a test without arguments.
fn plain(args: Arguments, holds: bool) -> Result<bool> {
    let [] = args.bind("a test", [], 0)?;
    Ok(holds)
}

fn compared(operator: Comparison, value: &Value, args: Arguments) -> Result<bool> {
    let [other] = args.bind("a comparison", ["other"], 1)?;
    operators::compare(operator, value, &other.unwrap_or(Value::None))
}

fn parity(value: &Value, args: Arguments, rest: i64) -> Result<bool> {
    let [] = args.bind("a test", [], 0)?;
    let own = operators::binary(crate::ast::Binary::Rem, value, &Value::Int(2))?;
    Ok(own.equals(&Value::Int(rest)))
}

fn divisible_by(value: &Value, args: Arguments) -> Result<bool> {
    let [number] = args.bind("divisibleby", ["num"], 1)?;
    let number = number.unwrap_or(Value::None);
    if value.as_text().is_some() {
        return Err(Error::new("divisibleby is a test of numbers"));
    }
    let rest = operators::binary(crate::ast::Binary::Rem, value, &number)?;
    Ok(rest.equals(&Value::Int(0)))
}

fn is_sequence(value: &Value) -> bool {
    match value {
        Value::Object(own) => matches!(&own.kind, O::Group(_) | O::Range(_)),
        own => own.len().is_some(),
    }
}

fn is_callable(value: &Value) -> bool {
    match value {
        Value::Function(_) | Value::Undefined(_) => true,
        Value::Object(own) => match &own.kind {
            O::Macro(_) | O::Loop(_) | O::Method(_) | O::Joiner(_) => true,
            O::Group(_)
            | O::Generator(_)
            | O::View(..)
            | O::Range(_)
            | O::Namespace(_)
            | O::Cycler(_) => false,
        },
        _ => false,
    }
}
