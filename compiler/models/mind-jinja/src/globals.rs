//! The functions that every template has.

use std::cell::{Cell, RefCell};

use crate::arguments::{Arguments, int};
use crate::error::{Error, Result};
use crate::value::{Cycler, Dict, Joiner, O, Steps, Value};

/// The most numbers of a range, as in the sandbox of jinja2.
const MAX_RANGE: usize = 100_000;

/// The functions by name.
pub(crate) fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("range", Value::function("range", range)),
        (
            "dict",
            Value::function("dict", |args| Ok(Value::Dict(dict(args)?.into()))),
        ),
        (
            "namespace",
            Value::function("namespace", |args| {
                let own = dict(args)?;
                for name in own.iter().filter_map(|(name, _)| name.as_text()) {
                    check_attribute(name)?;
                }
                Ok(Value::object(O::Namespace(RefCell::new(own))))
            }),
        ),
        ("cycler", Value::function("cycler", cycler)),
        ("joiner", Value::function("joiner", joiner)),
        (
            "lipsum",
            Value::function("lipsum", |_| {
                Err(Error::new(
                    "lipsum() gives a random text, which is not supported",
                ))
            }),
        ),
    ]
}

/// # Errors
///
/// The name of an attribute that namespaces do not store.
pub(crate) fn check_attribute(name: &str) -> Result<()> {
    match name.starts_with('_') {
        true => Err(Error::new(format!(
            "a namespace stores no attribute whose name begins with `_`, found `{name}`"
        ))),
        false => Ok(()),
    }
}

/// `dict.fromkeys(keys, value)`.
pub(crate) fn from_keys(args: Arguments) -> Result<Value> {
    let [keys, value] = args.bind("fromkeys", ["iterable", "value"], 1)?;
    let value = value.unwrap_or(Value::None);
    let keys = keys.unwrap_or(Value::None).elements()?;
    if let Some(own) = keys.iter().find(|own| !own.is_hashable()) {
        return Err(Error::new(format!("unhashable type: '{}'", own.kind())));
    }
    Ok(Value::dict(
        keys.into_iter().map(|key| (key, value.clone())),
    ))
}

fn range(args: Arguments) -> Result<Value> {
    let [first, stop, step] = args.bind("range", ["start", "stop", "step"], 1)?;
    let number = |own: Option<Value>, default: i64| match own {
        Some(own) => int("an argument of range()", &own),
        None => Ok(default),
    };
    let (start, stop) = match stop {
        Some(stop) => (number(first, 0)?, number(Some(stop), 0)?),
        None => (0, number(first, 0)?),
    };
    let step = number(step, 1)?;
    if step == 0 {
        return Err(Error::new("range() arg 3 must not be zero"));
    }
    let own = Steps { start, stop, step };
    if own.len() > MAX_RANGE {
        return Err(Error::new(format!(
            "Range too big. The sandbox blocks ranges larger than MAX_RANGE ({MAX_RANGE})."
        )));
    }
    Ok(Value::object(O::Range(own)))
}

/// The dictionary of `dict(mapping or pairs, name=value)`.
fn dict(args: Arguments) -> Result<Dict> {
    let mut own = Dict::default();
    let mut positional = args.positional.into_iter();
    match positional.next() {
        None => {}
        Some(Value::Dict(pairs)) => own = pairs.iter().cloned().collect(),
        Some(other) => {
            for pair in other.elements()? {
                match pair.elements()?.as_slice() {
                    [key, value] if key.is_hashable() => own.insert(key.clone(), value.clone()),
                    _ => return Err(Error::new("dict() takes pairs of a key and a value")),
                }
            }
        }
    }
    if positional.next().is_some() {
        return Err(Error::new("dict() takes 1 argument without a name at most"));
    }
    for (name, value) in args.named {
        own.insert(Value::Str(name), value);
    }
    Ok(own)
}

fn cycler(args: Arguments) -> Result<Value> {
    if args.positional.is_empty() {
        return Err(Error::new("at least one item has to be provided"));
    }
    Ok(Value::object(O::Cycler(Cycler {
        items: args.positional,
        at: Cell::new(0),
    })))
}

fn joiner(args: Arguments) -> Result<Value> {
    let [separator] = args.bind("joiner", ["sep"], 0)?;
    Ok(Value::object(O::Joiner(Joiner {
        separator: separator.unwrap_or_else(|| Value::from(", ")),
        is_used: Cell::new(false),
    })))
}

/// The text of a joiner: none the first time.
pub(crate) fn join(own: &Joiner) -> Value {
    match own.is_used.replace(true) {
        true => own.separator.clone(),
        false => Value::from(""),
    }
}
