//! The filter `pprint`: values on several lines where one is too narrow.

use crate::arguments::Arguments;
use crate::error::Result;
use crate::eval::Machine;
use crate::show::repr;
use crate::value::{Dict, Value};

/// The width of a line.
const WIDTH: usize = 80;

pub(super) fn pprint(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [] = args.bind("pprint", [], 0)?;
    let mut out = String::new();
    write(&value, 0, 0, &mut out)?;
    Ok(Value::from(out))
}

/// Writes a value at a column, followed by a number of closing brackets.
fn write(value: &Value, column: usize, behind: usize, out: &mut String) -> Result<()> {
    let line = repr_sorted(value)?;
    if column + line.chars().count() + behind < WIDTH {
        out.push_str(&line);
        return Ok(());
    }
    let begin = format!(",\n{}", " ".repeat(column + 1));
    match value {
        Value::Dict(own) if !own.is_empty() => {
            out.push('{');
            let pairs = sorted(own)?;
            for (at, (key, value)) in pairs.iter().enumerate() {
                if at > 0 {
                    out.push_str(&begin);
                }
                let key = repr(key)?;
                out.push_str(&key);
                out.push_str(": ");
                let is_last = at + 1 == pairs.len();
                let column = column + key.chars().count() + 3;
                write(value, column, if is_last { behind + 1 } else { 1 }, out)?;
            }
            out.push('}');
        }
        Value::List(own) if !own.is_empty() => {
            elements('[', own, ']', (column, behind), out)?;
        }
        Value::Tuple(own) if !own.is_empty() => {
            elements('(', own, ')', (column, behind), out)?;
        }
        _ => out.push_str(&line),
    }
    Ok(())
}

fn elements(
    open: char,
    own: &[Value],
    close: char,
    (column, behind): (usize, usize),
    out: &mut String,
) -> Result<()> {
    let begin = format!(",\n{}", " ".repeat(column + 1));
    out.push(open);
    for (at, element) in own.iter().enumerate() {
        if at > 0 {
            out.push_str(&begin);
        }
        let is_last = at + 1 == own.len();
        write(
            element,
            column + 1,
            if is_last { behind + 1 } else { 1 },
            out,
        )?;
    }
    if open == '(' && own.len() == 1 {
        out.push(',');
    }
    out.push(close);
    Ok(())
}

/// The pairs of a dictionary by their keys, as `pprint` shows them.
fn sorted(own: &Dict) -> Result<Vec<(Value, Value)>> {
    crate::sort::sort(own.iter().cloned().collect(), &mut |(a, _), (b, _)| {
        Ok(match a.order(b, "<") {
            Ok(order) => order.unwrap_or(std::cmp::Ordering::Equal),
            Err(_) => a.kind().cmp(b.kind()),
        })
    })
}

fn repr_sorted(value: &Value) -> Result<String> {
    repr(&in_order(value, 0)?)
}

/// The value with all dictionaries in the order of their keys.
fn in_order(value: &Value, depth: usize) -> Result<Value> {
    if depth > crate::MAX_DEPTH {
        return Err(crate::error::Error::new(
            "a value is nested too deeply to be written",
        ));
    }
    let all = |own: &[Value]| -> Result<Vec<Value>> {
        own.iter().map(|own| in_order(own, depth + 1)).collect()
    };
    Ok(match value {
        Value::Dict(own) => {
            let mut pairs = Vec::new();
            for (key, value) in sorted(own)? {
                pairs.push((key, in_order(&value, depth + 1)?));
            }
            Value::dict(pairs)
        }
        Value::List(own) => Value::list(all(own)?),
        Value::Tuple(own) => Value::tuple(all(own)?),
        other => other.clone(),
    })
}
