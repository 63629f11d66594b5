//! Filters of numbers.

use crate::arguments::{Arguments, int_or, truth_or};
use crate::error::{Error, Result};
use crate::eval::Machine;
use crate::number::{parse_float, parse_int, round as round_float, round_int};
use crate::value::Value;

pub(super) fn abs(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [] = args.bind("abs", [], 0)?;
    match value.defined()? {
        Value::Float(own) => Ok(Value::Float(own.abs())),
        own => match own.as_int() {
            Some(own) => crate::number::int(own.checked_abs()),
            None => Err(Error::new(format!(
                "bad operand type for abs(): '{}'",
                own.kind()
            ))),
        },
    }
}

/// The whole number of a value; the default where there is none.
pub(super) fn int(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [default, base] = args.bind("int", ["default", "base"], 0)?;
    let base = int_or("base", &base, 10)?;
    let base = u32::try_from(base)
        .ok()
        .filter(|own| *own == 0 || (2..=36).contains(own));
    let of_float = |own: f64| {
        let is_in_range = own.abs() < -(i64::MIN as f64);
        is_in_range.then(|| own.trunc() as i64)
    };
    let own = match value.defined()? {
        Value::Float(own) => of_float(*own),
        Value::Str(text) | Value::Markup(text) => {
            let whole = base.and_then(|base| parse_int(text, base));
            whole.or_else(|| of_float(parse_float(text)?))
        }
        other => other.as_int(),
    };
    Ok(match own {
        Some(own) => Value::Int(own),
        None => default.unwrap_or(Value::Int(0)),
    })
}

/// The number of a value; the default where there is none.
pub(super) fn float(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [default] = args.bind("float", ["default"], 0)?;
    let own = match value.defined()? {
        Value::Str(text) | Value::Markup(text) => parse_float(text),
        other => other.as_float(),
    };
    Ok(match own {
        Some(own) => Value::Float(own),
        None => default.unwrap_or(Value::Float(0.0)),
    })
}

pub(super) fn round(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [precision, method] = args.bind("round", ["precision", "method"], 0)?;
    let precision = int_or("precision", &precision, 0)?;
    let method = method.as_ref().and_then(Value::as_text).unwrap_or("common");
    let own = value.defined()?.as_float();
    let own = own.ok_or_else(|| {
        let kind = value.kind();
        Error::new(format!("type {kind} doesn't define __round__ method"))
    })?;
    let directed = |own: f64, to: fn(f64) -> f64| {
        let unit = 10.0_f64.powi(precision.clamp(-400, 400) as i32);
        let scaled = to(own * unit) / unit;
        match scaled.is_finite() {
            // The integer in between has no sign of zero.
            true => Ok(Value::Float(if scaled == 0.0 { 0.0 } else { scaled })),
            false => Err(Error::new("the rounded number is not finite")),
        }
    };
    match (method, value.as_int()) {
        ("common", Some(own)) => crate::number::int(round_int(own, precision)),
        ("common", None) => Ok(Value::Float(round_float(own, precision))),
        ("ceil", _) => directed(own, f64::ceil),
        ("floor", _) => directed(own, f64::floor),
        _ => Err(Error::new("method must be common, ceil or floor")),
    }
}

pub(super) fn filesizeformat(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [binary] = args.bind("filesizeformat", ["binary"], 0)?;
    let bytes = match value.defined()?.as_text() {
        Some(text) => parse_float(text),
        None => value.as_float(),
    };
    let bytes = bytes.ok_or_else(|| Error::new("filesizeformat is a filter of numbers"))?;
    let is_binary = truth_or(&binary, false);
    let base: f64 = if is_binary { 1024.0 } else { 1000.0 };
    if bytes == 1.0 {
        return Ok(Value::from("1 Byte"));
    }
    if bytes < base {
        return Ok(Value::from(format!("{} Bytes", bytes.trunc() as i64)));
    }
    let names = match is_binary {
        true => ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"],
        false => ["kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"],
    };
    let mut unit = base;
    let mut name = "";
    for own in names {
        name = own;
        unit *= base;
        if bytes < unit {
            break;
        }
    }
    Ok(Value::from(format!("{:.1} {name}", base * bytes / unit)))
}
