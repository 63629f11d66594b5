//! Methods of lists, tuples and dictionaries.

use std::rc::Rc;

use super::no_method;
use crate::arguments::{Arguments, int_or};
use crate::error::{Error, Result};
use crate::show;
use crate::value::{Dict, O, Value};
use crate::views::View;

/// A method of a dictionary.
pub(super) fn of_dict(own: &Rc<Dict>, name: &str, args: Arguments) -> Result<Value> {
    let view = |args: Arguments, view: View| {
        let [] = args.bind(name, [], 0)?;
        Ok(Value::object(O::View(view, own.clone())))
    };
    match name {
        "items" => view(args, View::Items),
        "keys" => view(args, View::Keys),
        "values" => view(args, View::Values),
        "copy" => {
            let [] = args.bind(name, [], 0)?;
            Ok(Value::Dict(Rc::new(Dict::clone(own))))
        }
        _ => {
            let [key, default] = args.bind("get", ["key", "default"], 1)?;
            let key = key.unwrap_or(Value::None);
            if !key.is_hashable() {
                return Err(Error::new(format!("unhashable type: '{}'", key.kind())));
            }
            let found = own.get(&key).cloned();
            Ok(found.or(default).unwrap_or(Value::None))
        }
    }
}

/// A method of a list, a tuple or a range.
pub(super) fn of_elements(own: &Value, name: &str, args: Arguments) -> Result<Value> {
    let elements = own.elements()?;
    match name {
        "count" => {
            let [value] = args.bind(name, ["value"], 1)?;
            let value = value.unwrap_or(Value::None);
            let count = elements.iter().filter(|own| own.equals(&value)).count();
            Ok(Value::length(count))
        }
        "index" => {
            let has_bounds = matches!(own, Value::List(_) | Value::Tuple(_));
            let [value, start, stop] = match has_bounds {
                true => args.bind(name, ["value", "start", "stop"], 1)?,
                false => args
                    .bind(name, ["value"], 1)
                    .map(|[value]| [value, None, None])?,
            };
            let value = value.unwrap_or(Value::None);
            let len = elements.len() as i64;
            let bound = |own: i64| {
                if own < 0 {
                    own.saturating_add(len).max(0)
                } else {
                    own
                }
            };
            let start = bound(int_or("start", &start, 0)?);
            let stop = bound(int_or("stop", &stop, i64::MAX)?);
            let found = (start..stop.min(len)).find(|&at| elements[at as usize].equals(&value));
            let missing = || {
                let shown = show::repr(&value).unwrap_or_default();
                Error::new(format!("{shown} is not in the {}", own.kind()))
            };
            found.map(Value::Int).ok_or_else(missing)
        }
        "copy" => {
            let [] = args.bind(name, [], 0)?;
            Ok(Value::list(elements))
        }
        _ => Err(no_method(own, name)),
    }
}
