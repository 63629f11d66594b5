//! Methods of texts.

use crate::arguments::{Arguments, int, int_or, text, truth_or};
use crate::error::{Error, Result};
use crate::eval::Machine;
use crate::format::{self, Step};
use crate::unicode::{self, is_space};
use crate::value::Value;
use crate::{check_length, show};

/// The methods.
pub(super) const NAMES: &[&str] = &[
    "capitalize",
    "casefold",
    "center",
    "count",
    "endswith",
    "expandtabs",
    "find",
    "format",
    "format_map",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "upper",
    "zfill",
];

/// Calls a method of `own`.
pub(crate) fn call(
    machine: &mut Machine<'_>,
    own: &str,
    name: &str,
    args: Arguments,
) -> Result<Value> {
    if let Some(changed) = cased(own, name) {
        let [] = args.bind(name, [], 0)?;
        return Ok(Value::from(changed));
    }
    if let Some(holds) = is_of_class(own, name) {
        let [] = args.bind(name, [], 0)?;
        return Ok(Value::Bool(holds));
    }
    match name {
        "center" | "ljust" | "rjust" | "zfill" => justified(own, name, args),
        "strip" | "lstrip" | "rstrip" => stripped(own, name, args),
        "count" | "find" | "index" | "rfind" | "rindex" => found(own, name, args),
        "startswith" | "endswith" => affix(own, name, args),
        "split" | "rsplit" => split(own, name, args),
        "partition" | "rpartition" => partition(own, name, args),
        "removeprefix" | "removesuffix" => {
            let [affix] = args.bind(name, ["affix"], 1)?;
            let affix = affix.unwrap_or(Value::None);
            let affix = text("an affix", &affix)?;
            let rest = match name {
                "removeprefix" => own.strip_prefix(affix),
                _ => own.strip_suffix(affix),
            };
            Ok(Value::from(rest.unwrap_or(own)))
        }
        "replace" => {
            let [old, new, count] = args.bind(name, ["old", "new", "count"], 2)?;
            let (old, new) = (old.unwrap_or(Value::None), new.unwrap_or(Value::None));
            let count = int_or("count", &count, -1)?;
            replace(
                own,
                text("replace() argument 1", &old)?,
                text("replace() argument 2", &new)?,
                count,
            )
        }
        "splitlines" => {
            let [keeps_ends] = args.bind(name, ["keepends"], 0)?;
            let lines = unicode::lines(own, truth_or(&keeps_ends, false));
            Ok(Value::list(lines.into_iter().map(Value::from)))
        }
        "join" => {
            let [all] = args.bind(name, ["iterable"], 1)?;
            join(own, &all.unwrap_or(Value::None))
        }
        "expandtabs" => {
            let [size] = args.bind(name, ["tabsize"], 0)?;
            expand_tabs(own, int_or("tabsize", &size, 8)?)
        }
        "format" => formatted(machine, own, args),
        _ => {
            let [mapping] = args.bind(name, ["mapping"], 1)?;
            let Some(Value::Dict(pairs)) = mapping else {
                return Err(Error::new("format_map() takes a mapping"));
            };
            let named = pairs
                .iter()
                .filter_map(|(key, value)| Some((key.as_text()?.into(), value.clone())));
            let args = Arguments {
                positional: Vec::new(),
                named: named.collect(),
            };
            formatted(machine, own, args)
        }
    }
}

/// The text in another case, by methods without arguments.
fn cased(own: &str, name: &str) -> Option<String> {
    Some(match name {
        "capitalize" => unicode::capitalize(own),
        // Folding differs from lower case for few letters; the one of German is the usual one.
        "casefold" => own.to_lowercase().replace('ß', "ss").replace('ς', "σ"),
        "lower" => own.to_lowercase(),
        "upper" => own.to_uppercase(),
        "title" => unicode::title(own),
        "swapcase" => {
            let swap = |c: char| -> String {
                if c.is_uppercase() {
                    c.to_lowercase().collect()
                } else {
                    c.to_uppercase().collect()
                }
            };
            own.chars().map(swap).collect()
        }
        _ => return None,
    })
}

/// Whether all characters are of the class that a method asks for.
fn is_of_class(own: &str, name: &str) -> Option<bool> {
    let all = |is: fn(char) -> bool| !own.is_empty() && own.chars().all(is);
    Some(match name {
        "isalnum" => all(char::is_alphanumeric),
        "isalpha" => all(char::is_alphabetic),
        "isascii" => own.is_ascii(),
        "isdecimal" => all(is_decimal),
        "isdigit" => all(|c| is_decimal(c) || is_super_digit(c)),
        "isnumeric" => all(char::is_numeric),
        "isidentifier" => {
            let first = own
                .chars()
                .next()
                .is_some_and(|c| c == '_' || c.is_alphabetic());
            first && own.chars().all(|c| c == '_' || c.is_alphanumeric())
        }
        "islower" => unicode::is_lower(own),
        "isupper" => unicode::is_upper(own),
        "isspace" => all(is_space),
        "istitle" => unicode::is_titled(own),
        "isprintable" => own.chars().all(show::is_printable),
        _ => return None,
    })
}

/// Decimal digits of ASCII and of other scripts.
fn is_decimal(c: char) -> bool {
    const TENS: [u32; 14] = [
        0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50,
        0xff10,
    ];
    let code = c as u32;
    c.is_ascii_digit()
        || TENS
            .iter()
            .any(|first| (*first..first + 10).contains(&code))
}

fn is_super_digit(c: char) -> bool {
    matches!(c, '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' | '₀'..='₉' | '①'..='⑨')
}

fn justified(own: &str, name: &str, args: Arguments) -> Result<Value> {
    let names = ["width", "fillchar"];
    let [width, fill] = args.bind(name, names, 1)?;
    let width = int("width", &width.unwrap_or(Value::None))?;
    let width = usize::try_from(width).unwrap_or(0);
    check_length(width)?;
    let fill = match &fill {
        None => ' ',
        Some(own) => {
            let own = text("the fill character", own)?;
            let mut chars = own.chars();
            match (chars.next(), chars.next()) {
                (Some(c), None) if name != "zfill" => c,
                _ => {
                    return Err(Error::new(
                        "The fill character must be exactly one character long",
                    ));
                }
            }
        }
    };
    let len = own.chars().count();
    let missing = width.saturating_sub(len);
    check_length(own.len() + missing * fill.len_utf8())?;
    let pad = |count: usize| fill.to_string().repeat(count);
    Ok(Value::from(match name {
        "ljust" => format!("{own}{}", pad(missing)),
        "rjust" => format!("{}{own}", pad(missing)),
        "center" => {
            // As CPython: an odd one goes to the left where the width is odd.
            let left = missing / 2 + (missing & width & 1);
            format!("{}{own}{}", pad(left), pad(missing - left))
        }
        _ => {
            let zeros = "0".repeat(missing);
            match own.chars().next().filter(|c| matches!(c, '+' | '-')) {
                Some(sign) => format!("{sign}{zeros}{}", &own[1..]),
                None => format!("{zeros}{own}"),
            }
        }
    }))
}

fn stripped(own: &str, name: &str, args: Arguments) -> Result<Value> {
    let [chars] = args.bind(name, ["chars"], 0)?;
    let chars: Option<Vec<char>> = match &chars {
        None | Some(Value::None) => None,
        Some(own) => Some(text("strip arg", own)?.chars().collect()),
    };
    let is = |c: char| match &chars {
        Some(all) => all.contains(&c),
        None => is_space(c),
    };
    Ok(Value::from(match name {
        "strip" => own.trim_matches(is),
        "lstrip" => own.trim_start_matches(is),
        _ => own.trim_end_matches(is),
    }))
}

/// The bytes of the characters from `start` to `stop`, with the number of the first one; `None` where they are none.
fn window(
    own: &str,
    start: &Option<Value>,
    stop: &Option<Value>,
) -> Result<Option<(usize, usize, usize)>> {
    let len = own.chars().count() as i64;
    let bound = |at: i64| {
        if at < 0 {
            at.saturating_add(len).max(0)
        } else {
            at
        }
    };
    let start = bound(int_or("start", start, 0)?);
    let stop = bound(int_or("stop", stop, i64::MAX)?).min(len);
    if start > len || start > stop {
        return Ok(None);
    }
    let byte = |at: i64| {
        own.char_indices()
            .nth(at as usize)
            .map_or(own.len(), |(byte, _)| byte)
    };
    Ok(Some((start as usize, byte(start), byte(stop))))
}

fn found(own: &str, name: &str, args: Arguments) -> Result<Value> {
    let [part, start, stop] = args.bind(name, ["sub", "start", "end"], 1)?;
    let part = part.unwrap_or(Value::None);
    let part = text("sub", &part)?;
    let window = window(own, &start, &stop)?;
    let at = window.and_then(|(first, from, to)| {
        let own = &own[from..to];
        let at = match name {
            "count" => {
                let count = match part.is_empty() {
                    true => own.chars().count() + 1,
                    false => own.matches(part).count(),
                };
                return Some(count);
            }
            "rfind" | "rindex" => own.rfind(part)?,
            _ => own.find(part)?,
        };
        Some(first + own[..at].chars().count())
    });
    match (name, at) {
        (_, Some(at)) => Ok(Value::length(at)),
        ("count", None) => Ok(Value::Int(0)),
        ("find" | "rfind", None) => Ok(Value::Int(-1)),
        _ => Err(Error::new("substring not found")),
    }
}

fn affix(own: &str, name: &str, args: Arguments) -> Result<Value> {
    let [affix, start, stop] = args.bind(name, ["affix", "start", "end"], 1)?;
    let affix = affix.unwrap_or(Value::None);
    let Some((_, from, to)) = window(own, &start, &stop)? else {
        return Ok(Value::Bool(false));
    };
    let own = &own[from..to];
    let all = match &affix {
        Value::Tuple(all) => all.to_vec(),
        other => vec![other.clone()],
    };
    for affix in &all {
        let affix = affix.defined()?.as_text().ok_or_else(|| {
            let kind = affix.kind();
            Error::new(format!(
                "{name} first arg must be str or a tuple of str, not {kind}"
            ))
        })?;
        let holds = match name {
            "startswith" => own.starts_with(affix),
            _ => own.ends_with(affix),
        };
        if holds {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn split(own: &str, name: &str, args: Arguments) -> Result<Value> {
    let [separator, count] = args.bind(name, ["sep", "maxsplit"], 0)?;
    let count = int_or("maxsplit", &count, -1)?;
    let count = usize::try_from(count).unwrap_or(usize::MAX - 1);
    let from_end = name == "rsplit";
    let mut parts: Vec<&str> = match &separator {
        None | Some(Value::None) => return Ok(words(own, count, from_end)),
        Some(separator) => match text("sep", separator)? {
            "" => return Err(Error::new("empty separator")),
            separator if from_end => own.rsplitn(count + 1, separator).collect(),
            separator => own.splitn(count + 1, separator).collect(),
        },
    };
    if from_end {
        parts.reverse();
    }
    Ok(Value::list(parts.into_iter().map(Value::from)))
}

/// A text cut at white space, `count` times at most.
fn words(own: &str, count: usize, from_end: bool) -> Value {
    let mut parts = Vec::new();
    let mut rest = unicode::trim(own);
    while !rest.is_empty() {
        let cut = match from_end {
            true => rest.rfind(is_space),
            false => rest.find(is_space),
        };
        let Some(at) = cut.filter(|_| parts.len() < count) else {
            break;
        };
        let len = rest[at..].chars().next().map_or(1, char::len_utf8);
        let (head, tail) = (&rest[..at], &rest[at + len..]);
        if from_end {
            parts.push(tail);
            rest = head.trim_end_matches(is_space);
        } else {
            parts.push(head);
            rest = tail.trim_start_matches(is_space);
        }
    }
    if !rest.is_empty() {
        // The rest keeps the white space at its other end.
        let whole = match from_end {
            true => &own[..own.len() - own.trim_start_matches(is_space).len() + rest.len()],
            false => &own[own.trim_end_matches(is_space).len() - rest.len()..],
        };
        parts.push(if parts.len() >= count { whole } else { rest });
    }
    if from_end {
        parts.reverse();
    }
    Value::list(parts.into_iter().map(Value::from))
}

fn partition(own: &str, name: &str, args: Arguments) -> Result<Value> {
    let [separator] = args.bind(name, ["sep"], 1)?;
    let separator = separator.unwrap_or(Value::None);
    let separator = text("sep", &separator)?;
    if separator.is_empty() {
        return Err(Error::new("empty separator"));
    }
    let is_first = name == "partition";
    let at = match is_first {
        true => own.find(separator),
        false => own.rfind(separator),
    };
    let parts = match (at, is_first) {
        (Some(at), _) => [&own[..at], separator, &own[at + separator.len()..]],
        (None, true) => [own, "", ""],
        (None, false) => ["", "", own],
    };
    Ok(Value::tuple(parts.map(Value::from)))
}

/// `own.replace(old, new, count)`, where a negative count is all.
///
/// # Errors
///
/// A result that is too long.
pub(crate) fn replace(own: &str, old: &str, new: &str, count: i64) -> Result<Value> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let found = match old.is_empty() {
        true => own.chars().count() + 1,
        false => own.matches(old).count(),
    };
    let found = found.min(count);
    check_length(own.len().saturating_add(found.saturating_mul(new.len())))?;
    Ok(Value::from(own.replacen(old, new, count)))
}

/// `separator.join(all)`.
fn join(separator: &str, all: &Value) -> Result<Value> {
    let elements = all.elements()?;
    let mut out = String::new();
    for (at, element) in elements.iter().enumerate() {
        let Some(text) = element.as_text() else {
            let kind = element.kind();
            let message = format!("sequence item {at}: expected str instance, {kind} found");
            return Err(Error::new(message));
        };
        if at > 0 {
            out.push_str(separator);
        }
        check_length(out.len() + text.len())?;
        out.push_str(text);
    }
    Ok(Value::from(out))
}

fn expand_tabs(own: &str, size: i64) -> Result<Value> {
    let size = usize::try_from(size).unwrap_or(0);
    check_length(
        own.matches('\t')
            .count()
            .saturating_mul(size)
            .saturating_add(own.len()),
    )?;
    let mut out = String::new();
    let mut column = 0;
    for c in own.chars() {
        match c {
            '\t' => {
                let count = size.saturating_sub(column % size.max(1));
                out.extend(std::iter::repeat_n(' ', count));
                column += count;
            }
            c => {
                out.push(c);
                column = if matches!(c, '\n' | '\r') {
                    0
                } else {
                    column + 1
                };
            }
        }
    }
    Ok(Value::from(out))
}

fn formatted(machine: &mut Machine<'_>, own: &str, args: Arguments) -> Result<Value> {
    let mut lookup = |value: &Value, step: Step<'_>| match step {
        Step::Attribute(name) => machine.attribute(value, name),
        Step::Item(key) => match key.parse::<i64>() {
            Ok(at) if !key.starts_with(['-', '+']) => machine.item(value, &Value::Int(at)),
            _ => machine.item(value, &Value::from(key)),
        },
    };
    Ok(Value::from(format::braces(own, &args, &mut lookup)?))
}
