//! Filters of texts.

use std::rc::Rc;

use crate::arguments::{Arguments, int_or, text, truth_or};
use crate::error::{Error, Result};
use crate::eval::Machine;
use crate::unicode::{self, is_space};
use crate::value::Value;
use crate::{check_length, methods, show};

/// The text of a value that a filter without arguments is given.
fn plain(name: &str, value: &Value, args: Arguments) -> Result<Rc<str>> {
    let [] = args.bind(name, [], 0)?;
    show::text(value)
}

pub(super) fn capitalize(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    Ok(Value::from(unicode::capitalize(&plain(
        "capitalize",
        &value,
        args,
    )?)))
}

pub(super) fn lower(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    Ok(Value::from(plain("lower", &value, args)?.to_lowercase()))
}

pub(super) fn upper(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    Ok(Value::from(plain("upper", &value, args)?.to_uppercase()))
}

pub(super) fn string(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let text = plain("string", &value, args)?;
    Ok(match value {
        Value::Markup(own) => Value::Markup(own),
        _ => Value::Str(text),
    })
}

pub(super) fn safe(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    Ok(Value::Markup(plain("safe", &value, args)?))
}

/// A text with the characters of HTML as entities.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

pub(super) fn escape(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let text = plain("escape", &value, args)?;
    Ok(match value {
        Value::Markup(own) => Value::Markup(own),
        _ => Value::Markup(escaped(&text).into()),
    })
}

pub(super) fn forceescape(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    Ok(Value::Markup(
        escaped(&plain("forceescape", &value, args)?).into(),
    ))
}

pub(super) fn center(machine: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [width] = args.bind("center", ["width"], 0)?;
    let width = width.unwrap_or(Value::Int(80));
    let own = show::text(&value)?;
    methods::text::call(machine, &own, "center", Arguments::of([width]))
}

/// `value % args`.
pub(super) fn format(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let own = show::text(&value)?;
    let Arguments { positional, named } = args;
    if !positional.is_empty() && !named.is_empty() {
        let message = "can't handle positional and keyword arguments at the same time";
        return Err(Error::new(message));
    }
    let args = match named.is_empty() {
        true => Value::tuple(positional),
        false => Value::dict(
            named
                .into_iter()
                .map(|(name, value)| (Value::Str(name), value)),
        ),
    };
    Ok(Value::from(crate::format::percent(&own, &args)?))
}

pub(super) fn indent(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [width, first, blank] = args.bind("indent", ["width", "first", "blank"], 0)?;
    let indentation = match width.as_ref().and_then(Value::as_text) {
        Some(own) => own.to_owned(),
        None => {
            let width = int_or("width", &width, 4)?;
            let width = usize::try_from(width).unwrap_or(0);
            check_length(width)?;
            " ".repeat(width)
        }
    };
    let own = format!("{}\n", text("the value of indent", &value)?);
    let lines = unicode::lines(&own, false);
    check_length(
        own.len()
            .saturating_add(lines.len().saturating_mul(indentation.len())),
    )?;
    let mut out = String::new();
    if truth_or(&first, false) {
        out.push_str(&indentation);
    }
    let is_blank = truth_or(&blank, false);
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            out.push('\n');
            if is_blank || !line.is_empty() {
                out.push_str(&indentation);
            }
        }
        out.push_str(line);
    }
    Ok(Value::from(out))
}

pub(super) fn join(machine: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [separator, attribute] = args.bind("join", ["d", "attribute"], 0)?;
    let separator = match &separator {
        Some(own) => show::text(own)?,
        None => "".into(),
    };
    let mut out = String::new();
    for (at, element) in value.elements()?.into_iter().enumerate() {
        let element = match &attribute {
            Some(path) if !matches!(path, Value::None) => machine.path(&element, path, None)?,
            _ => element,
        };
        if at > 0 {
            out.push_str(&separator);
        }
        let own = show::text(&element)?;
        check_length(out.len() + own.len())?;
        out.push_str(&own);
    }
    Ok(Value::from(out))
}

pub(super) fn replace(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [old, new, count] = args.bind("replace", ["old", "new", "count"], 2)?;
    let own = show::text(&value)?;
    let old = show::text(&old.unwrap_or(Value::None))?;
    let new = show::text(&new.unwrap_or(Value::None))?;
    methods::text::replace(&own, &old, &new, int_or("count", &count, -1)?)
}

/// Removes comments and tags, and puts one space between words.
pub(super) fn striptags(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let own = plain("striptags", &value, args)?;
    let mut text = own.to_string();
    for (open, close) in [("<!--", "-->"), ("<", ">")] {
        let mut out = String::new();
        let mut rest: &str = &text;
        while let Some(start) = rest.find(open) {
            let Some(len) = rest[start..].find(close) else {
                break;
            };
            out.push_str(&rest[..start]);
            rest = &rest[start + len + close.len()..];
        }
        out.push_str(rest);
        text = out;
    }
    let words: Vec<&str> = text.split(is_space).filter(|own| !own.is_empty()).collect();
    let mut text = words.join(" ");
    for (entity, own) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&#34;", "\""),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", "\u{a0}"),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, own);
    }
    Ok(Value::from(text))
}

/// Returns the text with a capital at the start of each word; words start after white space, hyphens and opening
/// brackets.
pub(super) fn title(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let own = plain("title", &value, args)?;
    let mut out = String::new();
    let mut begins = true;
    for c in own.chars() {
        if is_space(c) || matches!(c, '-' | '(' | '{' | '[' | '<') {
            out.push(c);
            begins = true;
        } else {
            match begins {
                true => out.extend(c.to_uppercase()),
                false => out.extend(c.to_lowercase()),
            }
            begins = false;
        }
    }
    Ok(Value::from(out))
}

pub(super) fn trim(machine: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [chars] = args.bind("trim", ["chars"], 0)?;
    let own = show::text(&value)?;
    let args = Arguments::of(chars);
    methods::text::call(machine, &own, "strip", args)
}

pub(super) fn truncate(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let names = ["length", "killwords", "end", "leeway"];
    let [length, killwords, end, leeway] = args.bind("truncate", names, 0)?;
    let end = match &end {
        Some(own) => text("end", own)?,
        None => "...",
    };
    let length = int_or("length", &length, 255)?;
    let leeway = int_or("leeway", &leeway, 5)?;
    let kept = length - end.chars().count() as i64;
    if kept < 0 {
        let least = end.chars().count();
        return Err(Error::new(format!(
            "expected length >= {least}, got {length}"
        )));
    }
    if leeway < 0 {
        return Err(Error::new(format!("expected leeway >= 0, got {leeway}")));
    }
    let is_short = |own: usize| own as i64 <= length.saturating_add(leeway);
    if value.len().is_some_and(is_short) {
        return Ok(value.clone());
    }
    let own = text("the value of truncate", &value)?;
    let head: String = own.chars().take(kept as usize).collect();
    let head = match truth_or(&killwords, false) {
        true => &head,
        false => head.rsplit_once(' ').map_or(&*head, |(own, _)| own),
    };
    Ok(Value::from(format!("{head}{end}")))
}

/// Characters that URLs have as they are.
fn quote(text: &str, safe: &str, out: &mut String) {
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '~') || safe.contains(c) {
            out.push(c);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
}

pub(super) fn urlencode(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [] = args.bind("urlencode", [], 0)?;
    let mut out = String::new();
    let pairs = match &value {
        Value::Dict(own) => own.iter().cloned().collect(),
        other if other.as_text().is_some() || !other.is_iterable() => {
            quote(&show::text(other)?, "/", &mut out);
            return Ok(Value::from(out));
        }
        other => {
            let mut pairs = Vec::new();
            for pair in other.elements()? {
                match pair.elements()?.as_slice() {
                    [key, value] => pairs.push((key.clone(), value.clone())),
                    _ => return Err(Error::new("urlencode takes pairs of a key and a value")),
                }
            }
            pairs
        }
    };
    for (at, (key, value)) in pairs.iter().enumerate() {
        if at > 0 {
            out.push('&');
        }
        for (at, own) in [key, value].into_iter().enumerate() {
            if at > 0 {
                out.push('=');
            }
            let mut quoted = String::new();
            quote(&show::text(own)?, "", &mut quoted);
            out.push_str(&quoted.replace("%20", "+"));
        }
    }
    Ok(Value::from(out))
}

pub(super) fn wordcount(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let own = plain("wordcount", &value, args)?;
    let words = own.split(|c: char| !(c == '_' || c.is_alphanumeric()));
    Ok(Value::length(words.filter(|own| !own.is_empty()).count()))
}

pub(super) fn xmlattr(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let [autospace] = args.bind("xmlattr", ["autospace"], 0)?;
    let Value::Dict(pairs) = &value else {
        return Err(Error::new("xmlattr is a filter of mappings"));
    };
    let mut all = Vec::new();
    for (key, value) in pairs.iter() {
        if value.is_undefined() || matches!(value, Value::None) {
            continue;
        }
        let key = show::text(key)?;
        if key.contains(|c: char| is_space(c) || matches!(c, '/' | '>' | '=')) {
            let shown = show::repr(&Value::Str(key))?;
            return Err(Error::new(format!(
                "Invalid character in attribute name: {shown}"
            )));
        }
        let own = match value {
            Value::Markup(own) => own.to_string(),
            other => escaped(&show::text(other)?),
        };
        all.push(format!("{}=\"{own}\"", escaped(&key)));
    }
    let mut out = all.join(" ");
    if truth_or(&autospace, true) && !out.is_empty() {
        out.insert(0, ' ');
    }
    Ok(Value::from(out))
}
