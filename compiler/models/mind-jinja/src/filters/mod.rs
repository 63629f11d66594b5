//! Filters, for example `x | upper`.

mod numbers;
mod pretty;
mod sequences;
mod texts;
mod wrap;

use crate::arguments::{Arguments, truth_or};
use crate::error::{Error, Result};
use crate::eval::Machine;
use crate::value::{O, Value};
use crate::{json, show};

pub(crate) use texts::escaped;

/// A filter of a value.
pub(crate) type Filter = fn(&mut Machine<'_>, Value, Arguments) -> Result<Value>;

/// The filter called `name`.
pub(crate) fn named(name: &str) -> Option<Filter> {
    let found = FILTERS.iter().find(|(own, _)| *own == name);
    found.map(|(_, filter)| *filter)
}

const FILTERS: &[(&str, Filter)] = &[
    ("abs", numbers::abs),
    ("attr", attr),
    ("batch", sequences::batch),
    ("capitalize", texts::capitalize),
    ("center", texts::center),
    ("count", length),
    ("d", default),
    ("default", default),
    ("dictsort", sequences::dictsort),
    ("e", texts::escape),
    ("escape", texts::escape),
    ("filesizeformat", numbers::filesizeformat),
    ("first", sequences::first),
    ("float", numbers::float),
    ("forceescape", texts::forceescape),
    ("format", texts::format),
    ("groupby", sequences::groupby),
    ("indent", texts::indent),
    ("int", numbers::int),
    ("items", sequences::items),
    ("join", texts::join),
    ("last", sequences::last),
    ("length", length),
    ("list", sequences::list),
    ("lower", texts::lower),
    ("map", sequences::map),
    ("max", sequences::max),
    ("min", sequences::min),
    ("pprint", pretty::pprint),
    ("random", |_, _, _| {
        Err(Error::new(
            "the filter `random` gives a random element, which is not supported",
        ))
    }),
    ("reject", sequences::reject),
    ("rejectattr", sequences::rejectattr),
    ("replace", texts::replace),
    ("reverse", sequences::reverse),
    ("round", numbers::round),
    ("safe", texts::safe),
    ("select", sequences::select),
    ("selectattr", sequences::selectattr),
    ("slice", sequences::slice),
    ("sort", sequences::sort),
    ("string", texts::string),
    ("striptags", texts::striptags),
    ("sum", sequences::sum),
    ("title", texts::title),
    ("tojson", |_, value, args| json::tojson(&value, args)),
    ("trim", texts::trim),
    ("truncate", texts::truncate),
    ("unique", sequences::unique),
    ("upper", texts::upper),
    ("urlencode", texts::urlencode),
    ("urlize", |_, _, _| {
        Err(Error::new(
            "the filter `urlize`, which writes HTML, is not supported",
        ))
    }),
    ("wordcount", texts::wordcount),
    ("wordwrap", wrap::wordwrap),
    ("xmlattr", texts::xmlattr),
];

/// The attribute of a name, and never an item.
fn attr(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [name] = args.bind("attr", ["name"], 1)?;
    let name = name.unwrap_or(Value::None);
    let name = show::text(&name)?;
    let own = crate::eval::own_attribute(value.defined()?, &name);
    let missing = || {
        let object = value.object_name();
        Value::undefined(format!("{object} has no attribute '{name}'"))
    };
    Ok(own.unwrap_or_else(missing))
}

fn default(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [other, boolean] = args.bind("default", ["default_value", "boolean"], 0)?;
    let is_absent = value.is_undefined() || truth_or(&boolean, false) && !value.is_true();
    Ok(match is_absent {
        true => other.unwrap_or_else(|| Value::from("")),
        false => value,
    })
}

fn length(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [] = args.bind("length", [], 0)?;
    match (value.len(), &value) {
        (Some(len), _) => Ok(Value::length(len)),
        (None, Value::Object(own)) if matches!(&own.kind, O::Generator(_)) => {
            Err(Error::new("object of type 'generator' has no len()"))
        }
        (None, other) => {
            let kind = other.kind();
            Err(Error::new(format!("object of type '{kind}' has no len()")))
        }
    }
}
