//! Filters of sequences.

use std::cmp::Ordering;

use crate::arguments::{Arguments, int, truth_or};
use crate::ast::Binary;
use crate::error::{Error, Result};
use crate::eval::Machine;
use crate::operators;
use crate::sort::sort as stable_sort;
use crate::value::{Dict, O, Value};

/// The key of a comparison: an attribute, with texts compared without regard to case.
struct Key {
    paths: Vec<Value>,
    /// Whether one attribute is a list of one, too.
    is_list: bool,
    default: Option<Value>,
    is_case_sensitive: bool,
}

impl Key {
    fn new(attribute: Option<Value>, case_sensitive: &Option<Value>) -> Key {
        Key {
            paths: attribute
                .filter(|own| !matches!(own, Value::None))
                .into_iter()
                .collect(),
            is_list: false,
            default: None,
            is_case_sensitive: truth_or(case_sensitive, false),
        }
    }

    /// Several attributes between commas are compared one after the other.
    fn split(mut self) -> Key {
        self.is_list = true;
        if let [path] = self.paths.as_slice()
            && let Some(text) = path.as_text().filter(|own| own.contains(','))
        {
            self.paths = text.split(',').map(Value::from).collect();
        }
        self
    }

    fn of(&self, machine: &mut Machine<'_>, element: &Value) -> Result<Value> {
        let folded = |own: Value| match own.as_text() {
            Some(text) if !self.is_case_sensitive => Value::from(text.to_lowercase()),
            _ => own,
        };
        if let [path] = self.paths.as_slice()
            && !self.is_list
        {
            return Ok(folded(machine.path(
                element,
                path,
                self.default.as_ref(),
            )?));
        }
        if self.paths.is_empty() {
            return Ok(folded(element.clone()));
        }
        let mut all = Vec::new();
        for path in &self.paths {
            all.push(folded(machine.path(element, path, None)?));
        }
        Ok(Value::list(all))
    }

    /// Returns the elements with their keys.
    fn all(&self, machine: &mut Machine<'_>, value: &Value) -> Result<Vec<(Value, Value)>> {
        let elements = value.elements()?;
        machine.spend(elements.len())?;
        let with_key = |own: Value| Ok((self.of(machine, &own)?, own));
        elements.into_iter().map(with_key).collect()
    }
}

/// Sorts by keys; elements of one key stay in order.
fn sorted(
    machine: &mut Machine<'_>,
    pairs: Vec<(Value, Value)>,
    is_reversed: bool,
) -> Result<Vec<(Value, Value)>> {
    let sorted = stable_sort(pairs, &mut |(a, _), (b, _)| {
        machine.spend(1)?;
        let order = match is_reversed {
            true => b.order(a, "<")?,
            false => a.order(b, "<")?,
        };
        Ok(order.unwrap_or(Ordering::Equal))
    })?;
    Ok(sorted)
}

fn elements_of(pairs: Vec<(Value, Value)>) -> Value {
    Value::list(pairs.into_iter().map(|(_, own)| own))
}

pub(super) fn sort(machine: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let names = ["reverse", "case_sensitive", "attribute"];
    let [reverse, case_sensitive, attribute] = args.bind("sort", names, 0)?;
    let key = Key::new(attribute, &case_sensitive).split();
    let pairs = key.all(machine, &value)?;
    let pairs = sorted(machine, pairs, truth_or(&reverse, false))?;
    Ok(elements_of(pairs))
}

pub(super) fn dictsort(machine: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [case_sensitive, by, reverse] =
        args.bind("dictsort", ["case_sensitive", "by", "reverse"], 0)?;
    let Value::Dict(own) = value.defined()? else {
        return Err(Error::new("dictsort is a filter of mappings"));
    };
    let by_value = match by.as_ref().and_then(Value::as_text).unwrap_or("key") {
        "key" => false,
        "value" => true,
        _ => {
            return Err(Error::new(
                "You can only sort by either \"key\" or \"value\"",
            ));
        }
    };
    let key = Key::new(None, &case_sensitive);
    let mut pairs = Vec::new();
    for (own, value) in own.iter() {
        let by = key.of(machine, if by_value { value } else { own })?;
        pairs.push((by, Value::tuple([own.clone(), value.clone()])));
    }
    let pairs = sorted(machine, pairs, truth_or(&reverse, false))?;
    Ok(elements_of(pairs))
}

pub(super) fn groupby(machine: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [attribute, default, case_sensitive] =
        args.bind("groupby", ["attribute", "default", "case_sensitive"], 1)?;
    let path = attribute.clone().unwrap_or(Value::None);
    let mut key = Key::new(attribute, &case_sensitive);
    key.default = default.filter(|own| !matches!(own, Value::None));
    let pairs = key.all(machine, &value)?;
    let pairs = sorted(machine, pairs, false)?;
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for (by, element) in pairs {
        match groups.last_mut() {
            Some((own, all)) if own.equals(&by) => all.push(element),
            _ => groups.push((by, vec![element])),
        }
    }
    let mut all = Vec::new();
    for (by, elements) in groups {
        // The key of a group is that of its first element, in its own case.
        let by = match key.is_case_sensitive {
            true => by,
            false => machine.path(&elements[0], &path, key.default.as_ref())?,
        };
        all.push(Value::object(O::Group([by, Value::list(elements)])));
    }
    Ok(Value::list(all))
}

pub(super) fn unique(machine: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [case_sensitive, attribute] = args.bind("unique", ["case_sensitive", "attribute"], 0)?;
    let key = Key::new(attribute, &case_sensitive);
    let mut seen = Dict::default();
    Ok(Value::lazily(|all| {
        for (by, element) in key.all(machine, &value)? {
            if !by.is_hashable() {
                return Err(Error::new(format!("unhashable type: '{}'", by.kind())));
            }
            machine.spend(seen.len() / 16)?;
            if seen.get(&by).is_none() {
                seen.insert(by, Value::None);
                all.push(element);
            }
        }
        Ok(())
    }))
}

fn extreme(
    machine: &mut Machine<'_>,
    value: Value,
    args: Arguments,
    name: &str,
    wins: Ordering,
) -> Result<Value> {
    let [case_sensitive, attribute] = args.bind(name, ["case_sensitive", "attribute"], 0)?;
    let key = Key::new(attribute, &case_sensitive);
    let sign = if wins == Ordering::Less { "<" } else { ">" };
    let mut best: Option<(Value, Value)> = None;
    for (by, element) in key.all(machine, &value)? {
        let is_better = match &best {
            Some((own, _)) => by.order(own, sign)? == Some(wins),
            None => true,
        };
        if is_better {
            best = Some((by, element));
        }
    }
    let none = || Value::undefined("No aggregated item, sequence was empty.");
    Ok(best.map_or_else(none, |(_, element)| element))
}

pub(super) fn min(machine: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    extreme(machine, value, args, "min", Ordering::Less)
}

pub(super) fn max(machine: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    extreme(machine, value, args, "max", Ordering::Greater)
}

pub(super) fn sum(machine: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [attribute, start] = args.bind("sum", ["attribute", "start"], 0)?;
    let mut own = start.unwrap_or(Value::Int(0));
    if own.as_text().is_some() {
        return Err(Error::new(
            "sum() can't sum strings [use ''.join(seq) instead]",
        ));
    }
    for element in value.elements()? {
        let element = match &attribute {
            Some(path) if !matches!(path, Value::None) => machine.path(&element, path, None)?,
            _ => element,
        };
        own = operators::binary(Binary::Add, &own, &element)?;
        own = machine.pay(own)?;
    }
    Ok(own)
}

pub(super) fn batch(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [count, fill] = args.bind("batch", ["linecount", "fill_with"], 1)?;
    Ok(Value::lazily(|all| {
        let elements = value.elements()?;
        let count = int("linecount", &count.unwrap_or(Value::None))?;
        let count = usize::try_from(count).unwrap_or(0);
        if count == 0 {
            // The first batch is full before it has an element, and no other one ever is.
            if !elements.is_empty() {
                all.extend([Value::list([]), Value::list(elements)]);
            }
            return Ok(());
        }
        let mut rows: Vec<Vec<Value>> = elements.chunks(count).map(<[Value]>::to_vec).collect();
        let fill = fill.filter(|own| !matches!(own, Value::None));
        if let (Some(last), Some(fill)) = (rows.last_mut(), fill) {
            crate::check_length(count.saturating_mul(32))?;
            last.resize(count, fill);
        }
        all.extend(rows.into_iter().map(Value::list));
        Ok(())
    }))
}

pub(super) fn slice(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [count, fill] = args.bind("slice", ["slices", "fill_with"], 1)?;
    Ok(Value::lazily(|all| {
        let elements = value.elements()?;
        let count = int("slices", &count.unwrap_or(Value::None))?;
        let count = usize::try_from(count).unwrap_or(0);
        if count == 0 {
            return Err(Error::new("integer division or modulo by zero"));
        }
        crate::check_length(count.saturating_mul(64))?;
        let fill = fill.filter(|own| !matches!(own, Value::None));
        let (each, longer) = (elements.len() / count, elements.len() % count);
        let mut at = 0;
        for number in 0..count {
            let len = each + usize::from(number < longer);
            let mut own = elements[at..at + len].to_vec();
            at += len;
            if number >= longer {
                own.extend(fill.clone());
            }
            all.push(Value::list(own));
        }
        Ok(())
    }))
}

pub(super) fn first(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [] = args.bind("first", [], 0)?;
    if let Value::Object(own) = &value
        && let O::Generator(own) = &own.kind
        && let Some(first) = own.elements.borrow_mut().pop_front()
    {
        return Ok(first);
    }
    let none = || Value::undefined("No first item, sequence was empty.");
    Ok(value.elements()?.into_iter().next().unwrap_or_else(none))
}

pub(super) fn last(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [] = args.bind("last", [], 0)?;
    if is_generator(&value) {
        return Err(Error::new("'generator' object is not reversible"));
    }
    let none = || Value::undefined("No last item, sequence was empty.");
    Ok(value.elements()?.pop().unwrap_or_else(none))
}

fn is_generator(value: &Value) -> bool {
    matches!(value, Value::Object(own) if matches!(&own.kind, O::Generator(_)))
}

pub(super) fn list(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [] = args.bind("list", [], 0)?;
    Ok(Value::list(value.elements()?))
}

pub(super) fn items(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [] = args.bind("items", [], 0)?;
    Ok(Value::lazily(|all| match &value {
        Value::Undefined(_) => Ok(()),
        Value::Dict(own) => {
            let pair = |(key, value): &(Value, Value)| Value::tuple([key.clone(), value.clone()]);
            all.extend(own.iter().map(pair));
            Ok(())
        }
        _ => Err(Error::new("Can only get item pairs from a mapping.")),
    }))
}

pub(super) fn reverse(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [] = args.bind("reverse", [], 0)?;
    if let Some(text) = value.as_text() {
        return Ok(Value::from(text.chars().rev().collect::<String>()));
    }
    let elements = value.elements();
    let mut elements = elements.map_err(|_| Error::new("argument must be iterable"))?;
    elements.reverse();
    // Python copies a value that it cannot iterate from the end.
    Ok(match is_generator(&value) || value.is_undefined() {
        true => Value::list(elements),
        false => Value::generator(elements),
    })
}

/// The elements of a value; none of one that is not true, even where it has no elements.
fn present(value: &Value) -> Result<Vec<Value>> {
    match value.is_true() {
        true => value.elements(),
        false => Ok(Vec::new()),
    }
}

/// Elements as a filter, or an attribute, makes them.
pub(super) fn map(machine: &mut Machine<'_>, value: Value, mut args: Arguments) -> Result<Value> {
    Ok(Value::lazily(|all| {
        let elements = present(&value)?;
        if elements.is_empty() {
            return Ok(());
        }
        if args.positional.is_empty()
            && let Some(path) = args.take("attribute")
        {
            let default = args.take("default");
            let [] = args.bind("map", [], 0)?;
            for element in elements {
                machine.spend(1)?;
                all.push(machine.path(&element, &path, default.as_ref())?);
            }
            return Ok(());
        }
        if args.positional.is_empty() {
            return Err(Error::new("map requires a filter argument"));
        }
        let name = args.positional.remove(0);
        let name = crate::show::text(&name)?;
        for element in elements {
            machine.spend(1)?;
            all.push(machine.filter(&name, element, args.clone())?);
        }
        Ok(())
    }))
}

/// The elements of which a test, or their truth, is as `wanted`; by an attribute if `of_attribute`.
fn selected(
    machine: &mut Machine<'_>,
    value: &Value,
    mut args: Arguments,
    wanted: bool,
    of_attribute: bool,
) -> Result<Value> {
    Ok(Value::lazily(|all| {
        let elements = present(value)?;
        if elements.is_empty() {
            return Ok(());
        }
        let path = match of_attribute {
            true if args.positional.is_empty() => {
                return Err(Error::new("Missing parameter for attribute name"));
            }
            true => Some(args.positional.remove(0)),
            false => None,
        };
        let test = match args.positional.is_empty() {
            true => None,
            false => Some(crate::show::text(&args.positional.remove(0))?),
        };
        for element in elements {
            machine.spend(1)?;
            let own = match &path {
                Some(path) => machine.path(&element, path, None)?,
                None => element.clone(),
            };
            let holds = match &test {
                Some(test) => machine.test(test, &own, args.clone())?,
                None => own.is_true(),
            };
            if holds == wanted {
                all.push(element);
            }
        }
        Ok(())
    }))
}

pub(super) fn select(machine: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    selected(machine, &value, args, true, false)
}

pub(super) fn reject(machine: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    selected(machine, &value, args, false, false)
}

pub(super) fn selectattr(
    machine: &mut Machine<'_>,
    value: Value,
    args: Arguments,
) -> Result<Value> {
    selected(machine, &value, args, true, true)
}

pub(super) fn rejectattr(
    machine: &mut Machine<'_>,
    value: Value,
    args: Arguments,
) -> Result<Value> {
    selected(machine, &value, args, false, true)
}
