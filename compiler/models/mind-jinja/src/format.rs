//! String formatting with `%` and `str.format`, as in Python.

use crate::arguments::Arguments;
use crate::error::{Error, Result};
use crate::value::Value;
use crate::{check_length, show};

/// A parsed format specification, for example `>8.2f`.
#[derive(Clone, Default)]
struct Spec {
    fill: Option<char>,
    align: Option<char>,
    sign: Option<char>,
    alternate: bool,
    zero: bool,
    width: usize,
    grouping: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

/// Returns `text % value`.
///
/// # Errors
///
/// If the format is invalid, or a value is missing, unused, or of another type.
pub(crate) fn percent(text: &str, value: &Value) -> Result<String> {
    let positional: Vec<Value> = match value {
        Value::Tuple(own) => own.to_vec(),
        other => vec![other.clone()],
    };
    let mut values = positional.into_iter();
    let mut takes_names = false;
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(more) = rest.strip_prefix('%') {
            out.push('%');
            rest = more;
            continue;
        }
        let mut named = None;
        if let Some(inner) = rest.strip_prefix('(') {
            let Some(end) = inner.find(')') else {
                return Err(Error::new("incomplete format key"));
            };
            let Value::Dict(pairs) = value else {
                return Err(Error::new("format requires a mapping"));
            };
            let key = &inner[..end];
            let found = pairs.get_text(key).cloned();
            named =
                Some(found.ok_or_else(|| Error::new(format!("'{key}' is not in the mapping")))?);
            takes_names = true;
            rest = &inner[end + 1..];
        }
        let mut next = || {
            let missing = || Error::new("not enough arguments for format string");
            values.next().ok_or_else(missing)
        };
        let mut spec = Spec::default();
        rest = flags(rest, &mut spec);
        (spec.width, rest) = match rest.strip_prefix('*') {
            Some(rest) => (width(&next()?, &mut spec)?, rest),
            None => digits(rest)?,
        };
        if let Some(more) = rest.strip_prefix('.') {
            let (precision, more) = match more.strip_prefix('*') {
                Some(more) => (width(&next()?, &mut Spec::default())?, more),
                None => digits(more)?,
            };
            spec.precision = Some(precision);
            rest = more;
        }
        rest = rest.trim_start_matches(['h', 'l', 'L']);
        let Some(kind) = rest.chars().next() else {
            return Err(Error::new("incomplete format"));
        };
        rest = &rest[kind.len_utf8()..];
        let own = match named {
            Some(own) => own,
            None => next()?,
        };
        spec.kind = Some(kind);
        percent_one(&own, spec, &mut out)?;
        check_length(out.len())?;
    }
    out.push_str(rest);
    // A value with items need not be used up, because it may be a mapping.
    let has_items = match value {
        Value::Dict(_) | Value::List(_) | Value::Undefined(_) => true,
        Value::Object(own) => matches!(&own.kind, crate::value::O::Range(_)),
        _ => false,
    };
    if values.next().is_some() && !takes_names && !has_items {
        return Err(Error::new(
            "not all arguments converted during string formatting",
        ));
    }
    Ok(out)
}

fn flags<'t>(text: &'t str, spec: &mut Spec) -> &'t str {
    let end = text
        .find(|c| !matches!(c, '-' | '+' | ' ' | '#' | '0'))
        .unwrap_or(text.len());
    for c in text[..end].chars() {
        match c {
            '-' => spec.align = Some('<'),
            '+' => spec.sign = Some('+'),
            ' ' if spec.sign.is_none() => spec.sign = Some(' '),
            '#' => spec.alternate = true,
            '0' => spec.zero = true,
            _ => {}
        }
    }
    &text[end..]
}

fn width(value: &Value, spec: &mut Spec) -> Result<usize> {
    let own = value.as_int().ok_or_else(|| Error::new("* wants int"))?;
    if own < 0 {
        spec.align = Some('<');
    }
    let own = usize::try_from(own.unsigned_abs()).unwrap_or(usize::MAX);
    check_length(own)?;
    Ok(own)
}

/// Returns the number at the start of a text, 0 if it has none, and the rest of the text.
fn digits(text: &str) -> Result<(usize, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    if end == 0 {
        return Ok((0, text));
    }
    let own = text[..end].parse().unwrap_or(usize::MAX);
    check_length(own)?;
    Ok((own, &text[end..]))
}

fn percent_one(value: &Value, mut spec: Spec, out: &mut String) -> Result<()> {
    let kind = spec.kind.unwrap_or('s');
    let wants = |what: &str| {
        let found = value.kind();
        Error::new(format!("%{kind} format: {what} is required, not {found}"))
    };
    let text = match kind {
        's' => show::text(value)?.to_string(),
        'r' | 'a' => show::repr(value)?,
        'c' => match (value.as_int(), value.as_text()) {
            (Some(code), _) => match u32::try_from(code).ok().and_then(char::from_u32) {
                Some(c) => c.to_string(),
                None => return Err(Error::new("%c arg not in range(0x110000)")),
            },
            (None, Some(text)) if text.chars().count() == 1 => text.to_owned(),
            _ => return Err(Error::new("%c requires int or char")),
        },
        'd' | 'i' | 'u' => {
            let own = match value {
                Value::Float(own) => whole(*own)?,
                other => other.as_int().ok_or_else(|| wants("a real number"))?,
            };
            spec.kind = Some('d');
            // For integers, the precision is a minimum number of digits.
            let least = spec.precision.take();
            return pad_number(&int_digits(own, 'd', false), least, &spec, out);
        }
        'x' | 'X' | 'o' => {
            let own = value.as_int().ok_or_else(|| wants("an integer"))?;
            let least = spec.precision.take();
            return pad_number(&int_digits(own, kind, spec.alternate), least, &spec, out);
        }
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
            let own = value.as_float();
            let own = own
                .ok_or_else(|| Error::new(format!("must be real number, not {}", value.kind())))?;
            let own = float_digits(own, kind, spec.precision.unwrap_or(6), spec.alternate);
            return pad_number(&own, None, &spec, out);
        }
        other => {
            let message = format!("unsupported format character '{other}'");
            return Err(Error::new(message));
        }
    };
    let text: String = match spec.precision {
        Some(count) => text.chars().take(count).collect(),
        None => text,
    };
    spec.zero = false;
    spec.align = Some(spec.align.unwrap_or('>'));
    pad(&text, &spec, out);
    Ok(())
}

fn whole(own: f64) -> Result<i64> {
    let limit = -(i64::MIN as f64);
    if own.is_nan() || own.abs() >= limit {
        return Err(Error::new(
            "cannot convert the float to an integer of 64 bits",
        ));
    }
    Ok(own.trunc() as i64)
}

/// A number, split into its sign, its prefix and its digits.
struct Digits {
    is_negative: bool,
    prefix: &'static str,
    body: String,
}

fn int_digits(own: i64, kind: char, alternate: bool) -> Digits {
    let magnitude = own.unsigned_abs();
    let (prefix, body) = match kind {
        'x' => ("0x", format!("{magnitude:x}")),
        'X' => ("0X", format!("{magnitude:X}")),
        'o' => ("0o", format!("{magnitude:o}")),
        'b' => ("0b", format!("{magnitude:b}")),
        _ => ("", magnitude.to_string()),
    };
    Digits {
        is_negative: own < 0,
        prefix: if alternate { prefix } else { "" },
        body,
    }
}

/// Returns the digits of a float in the format `kind`.
fn float_digits(own: f64, kind: char, precision: usize, alternate: bool) -> Digits {
    let magnitude = own.abs();
    let mut body = if !own.is_finite() {
        show::float(magnitude)
    } else {
        match kind.to_ascii_lowercase() {
            'e' => exponential(magnitude, precision),
            'g' => general(magnitude, precision, alternate),
            '%' => format!("{:.precision$}%", magnitude * 100.0),
            _ => format!("{magnitude:.precision$}"),
        }
    };
    if alternate && precision == 0 && !body.contains('.') && own.is_finite() {
        let at = body.find('e').unwrap_or(body.len());
        body.insert(at, '.');
    }
    if kind.is_ascii_uppercase() {
        body = body.to_ascii_uppercase();
    }
    Digits {
        is_negative: own.is_sign_negative() && !own.is_nan(),
        prefix: "",
        body,
    }
}

fn exponential(own: f64, precision: usize) -> String {
    let text = format!("{own:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(rest) => ('-', rest),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// Formats a float with `precision` significant digits. It has an exponent if that is less than -4 or at least
/// `precision`.
fn general(own: f64, precision: usize, alternate: bool) -> String {
    let precision = precision.max(1);
    let text = format!("{own:.*e}", precision - 1);
    let exponent = text
        .split_once('e')
        .and_then(|(_, own)| own.parse::<i64>().ok());
    let exponent = exponent.unwrap_or(0);
    let is_short = |own: String| match own.contains('.') && !alternate {
        true => own.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => own,
    };
    if exponent < -4 || exponent >= precision as i64 {
        let text = exponential(own, precision - 1);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        return format!("{}e{exponent}", is_short(digits.to_owned()));
    }
    let places = (precision as i64 - 1 - exponent).max(0) as usize;
    is_short(format!("{own:.places$}"))
}

/// Writes a number with its sign and padding. Its digits are filled up with zeros to `least`.
fn pad_number(own: &Digits, least: Option<usize>, spec: &Spec, out: &mut String) -> Result<()> {
    let sign = match (own.is_negative, spec.sign) {
        (true, _) => "-",
        (false, Some('+')) => "+",
        (false, Some(' ')) => " ",
        (false, _) => "",
    };
    let mut body = own.body.clone();
    if let Some(least) = least {
        body = format!("{body:0>least$}");
    }
    if let Some(separator) = spec.grouping {
        let size = if matches!(spec.kind, Some('x' | 'X' | 'o' | 'b')) {
            4
        } else {
            3
        };
        let taken = sign.len() + own.prefix.len();
        let least = if spec.zero && spec.align.is_none() {
            spec.width.saturating_sub(taken)
        } else {
            0
        };
        body = grouped(&body, separator, size, least);
    }
    let head = format!("{sign}{}", own.prefix);
    if spec.zero && spec.align.is_none_or(|own| own == '=') || spec.align == Some('=') {
        let fill = spec.fill.unwrap_or(if spec.zero { '0' } else { ' ' });
        let len = head.chars().count() + body.chars().count();
        out.push_str(&head);
        out.extend(std::iter::repeat_n(fill, spec.width.saturating_sub(len)));
        out.push_str(&body);
        return Ok(());
    }
    let spec = Spec {
        align: Some(spec.align.unwrap_or('>')),
        ..spec.clone()
    };
    pad(&format!("{head}{body}"), &spec, out);
    Ok(())
}

/// Returns digits in groups of `size`, with leading zeros up to a width of `least`.
fn grouped(body: &str, separator: char, size: usize, least: usize) -> String {
    let end = body
        .find(|c: char| !c.is_ascii_hexdigit())
        .unwrap_or(body.len());
    let (whole, rest) = body.split_at(end);
    let mut digits = whole.to_owned();
    let together = |digits: &str| {
        let mut out = String::new();
        for (at, c) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(size) {
                out.push(separator);
            }
            out.push(c);
        }
        out
    };
    let mut own = together(&digits);
    while own.len() + rest.len() < least {
        digits.insert(0, '0');
        own = together(&digits);
    }
    format!("{own}{rest}")
}

fn pad(text: &str, spec: &Spec, out: &mut String) {
    let missing = spec.width.saturating_sub(text.chars().count());
    let fill = spec.fill.unwrap_or(' ');
    let left = match spec.align {
        Some('>') => missing,
        Some('^') => missing / 2,
        _ => 0,
    };
    out.extend(std::iter::repeat_n(fill, left));
    out.push_str(text);
    out.extend(std::iter::repeat_n(fill, missing - left));
}

/// Resolves the path of a field of `str.format`.
pub(crate) type Lookup<'l> = dyn FnMut(&Value, Step<'_>) -> Result<Value> + 'l;

/// A step of the path in a field: `.name` or `[key]`.
#[derive(Clone, Copy)]
pub(crate) enum Step<'t> {
    Attribute(&'t str),
    Item(&'t str),
}

/// Returns `text.format(...)`. Paths in its fields are resolved by `lookup`.
///
/// # Errors
///
/// If the format is invalid, or a value is missing or of another type.
pub(crate) fn braces(text: &str, args: &Arguments, lookup: &mut Lookup<'_>) -> Result<String> {
    let mut own = Braces {
        args,
        lookup,
        next: 0,
    };
    own.text(text, 0)
}

struct Braces<'a, 'l> {
    args: &'a Arguments,
    lookup: &'a mut Lookup<'l>,
    /// The index of the next field without a name.
    next: usize,
}

impl Braces<'_, '_> {
    fn text(&mut self, text: &str, depth: usize) -> Result<String> {
        if depth > 2 {
            return Err(Error::new("Max string recursion exceeded"));
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            out.push_str(&rest[..at]);
            let own = &rest[at..];
            if own.starts_with("{{") || own.starts_with("}}") {
                out.push_str(&own[..1]);
                rest = &own[2..];
                continue;
            }
            if own.starts_with('}') {
                return Err(Error::new("Single '}' encountered in format string"));
            }
            let Some(end) = field_end(&own[1..]) else {
                return Err(Error::new("expected '}' before end of string"));
            };
            self.field(&own[1..=end], depth, &mut out)?;
            check_length(out.len())?;
            rest = &own[end + 2..];
        }
        out.push_str(rest);
        Ok(out)
    }

    /// Writes a field, for example `name!conversion:spec`.
    fn field(&mut self, field: &str, depth: usize, out: &mut String) -> Result<()> {
        let end = name_end(field);
        let (name, rest) = field.split_at(end);
        let mut value = self.value(name)?;
        let mut rest = rest;
        if let Some(more) = rest.strip_prefix('!') {
            let conversion = more.chars().next();
            value = match conversion {
                Some('s') => Value::Str(show::text(&value)?),
                Some('r' | 'a') => Value::from(show::repr(&value)?),
                _ => return Err(Error::new("a conversion is `!s`, `!r` or `!a`")),
            };
            rest = &more[1..];
        }
        let spec = match rest.strip_prefix(':') {
            Some(spec) => self.text(spec, depth + 1)?,
            None => String::new(),
        };
        formatted(&value, &spec, out)
    }

    fn value(&mut self, name: &str) -> Result<Value> {
        let end = name.find(['.', '[']).unwrap_or(name.len());
        let (first, mut rest) = name.split_at(end);
        let at = match first.is_empty() {
            true => {
                self.next += 1;
                Some(self.next - 1)
            }
            false => first.parse::<usize>().ok(),
        };
        let found = match at {
            Some(at) => {
                let own = self.args.positional.get(at);
                own.ok_or_else(|| {
                    Error::new(format!(
                        "Replacement index {at} out of range for positional args tuple"
                    ))
                })?
            }
            None => {
                let own = self.args.named.iter().find(|(own, _)| &**own == first);
                let missing =
                    || Error::new(format!("'{first}' is not among the arguments of format()"));
                own.map(|(_, value)| value).ok_or_else(missing)?
            }
        };
        let mut value = found.clone();
        while !rest.is_empty() {
            let step;
            (step, rest) = match rest.strip_prefix('[') {
                Some(inner) => {
                    let Some(end) = inner.find(']') else {
                        return Err(Error::new("Missing ']' in format string"));
                    };
                    (Step::Item(&inner[..end]), &inner[end + 1..])
                }
                None => {
                    let inner = rest.strip_prefix('.').unwrap_or(rest);
                    let end = inner.find(['.', '[']).unwrap_or(inner.len());
                    if end == 0 {
                        return Err(Error::new("Empty attribute in format string"));
                    }
                    (Step::Attribute(&inner[..end]), &inner[end..])
                }
            };
            value = (self.lookup)(&value, step)?;
        }
        Ok(value)
    }
}

/// Returns the end of the field at the start of a text. Braces are counted, because its specification may have fields.
fn field_end(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the end of the name of a field: the first `!` or `:` outside of brackets.
fn name_end(field: &str) -> usize {
    let mut is_inside = false;
    for (at, c) in field.char_indices() {
        match c {
            '[' => is_inside = true,
            ']' => is_inside = false,
            '!' | ':' if !is_inside => return at,
            _ => {}
        }
    }
    field.len()
}

/// Writes `format(value, spec)`.
fn formatted(value: &Value, text: &str, out: &mut String) -> Result<()> {
    let spec = parse_spec(text)?;
    let wrong = |kind: char| {
        let found = value.kind();
        Error::new(format!(
            "Unknown format code '{kind}' for object of type '{found}'"
        ))
    };
    match value {
        Value::Int(_) | Value::Float(_) => {}
        Value::Bool(_) if !text.is_empty() => {}
        Value::Str(_) | Value::Markup(_) => {
            if let Some(kind) = spec.kind.filter(|own| *own != 's') {
                return Err(wrong(kind));
            }
            if spec.sign.is_some() || spec.align == Some('=') || spec.grouping.is_some() {
                return Err(Error::new(
                    "a sign, `=` or grouping is not allowed in a format of a string",
                ));
            }
            let own = show::text(value)?;
            let own: String = match spec.precision {
                Some(count) => own.chars().take(count).collect(),
                None => own.to_string(),
            };
            let fill = spec.fill.or(spec.zero.then_some('0'));
            pad(&own, &Spec { fill, ..spec }, out);
            return Ok(());
        }
        other => {
            if !text.is_empty() {
                let kind = other.kind();
                return Err(Error::new(format!(
                    "unsupported format string passed to {kind}.__format__"
                )));
            }
            out.push_str(&show::text(other)?);
            return Ok(());
        }
    }
    let is_float = matches!(value, Value::Float(_));
    if spec.precision.is_some()
        && !is_float
        && matches!(
            spec.kind,
            Some('d' | 'n' | 'x' | 'X' | 'o' | 'b' | 'c') | None
        )
    {
        return Err(Error::new(
            "Precision not allowed in integer format specifier",
        ));
    }
    match spec.kind {
        Some('d' | 'n' | 'x' | 'X' | 'o' | 'b') | None if !is_float => {
            let own = int_digits(
                value.as_int().unwrap_or(0),
                spec.kind.unwrap_or('d'),
                spec.alternate,
            );
            pad_number(&own, None, &spec, out)
        }
        Some('c') if !is_float => {
            let code = value.as_int().and_then(|own| u32::try_from(own).ok());
            let c = code.and_then(char::from_u32);
            let c = c.ok_or_else(|| Error::new("%c arg not in range(0x110000)"))?;
            pad(&c.to_string(), &spec, out);
            Ok(())
        }
        Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%' | 'n') => {
            let kind = spec.kind.filter(|own| *own != 'n').unwrap_or('g');
            let own = value.as_float().unwrap_or(0.0);
            let own = float_digits(own, kind, spec.precision.unwrap_or(6), spec.alternate);
            pad_number(&own, None, &spec, out)
        }
        None => {
            let own = value.as_float().unwrap_or(0.0);
            let body = match spec.precision {
                Some(count) => {
                    let own = float_digits(own, 'g', count, spec.alternate).body;
                    let is_plain = !own.contains(['e', '.', 'n', 'i']);
                    if is_plain { format!("{own}.0") } else { own }
                }
                None => show::float(own.abs()),
            };
            let own = Digits {
                is_negative: own.is_sign_negative() && !own.is_nan(),
                prefix: "",
                body,
            };
            pad_number(&own, None, &spec, out)
        }
        Some(kind) => Err(wrong(kind)),
    }
}

/// `[[fill]align][sign][#][0][width][grouping][.precision][type]`.
fn parse_spec(text: &str) -> Result<Spec> {
    let mut spec = Spec::default();
    let is_align = |c: Option<char>| c.filter(|c| matches!(c, '<' | '>' | '=' | '^'));
    let mut chars = text.chars();
    let (first, second) = (chars.next(), chars.next());
    let mut rest = text;
    if let (Some(fill), Some(align)) = (first, is_align(second)) {
        (spec.fill, spec.align) = (Some(fill), Some(align));
        rest = &rest[fill.len_utf8() + 1..];
    } else if let Some(align) = is_align(first) {
        spec.align = Some(align);
        rest = &rest[1..];
    }
    let mut take = |all: &[char]| {
        let c = rest.chars().next().filter(|c| all.contains(c));
        if c.is_some() {
            rest = &rest[1..];
        }
        c
    };
    spec.sign = take(&['+', '-', ' ']);
    spec.alternate = take(&['#']).is_some();
    spec.zero = take(&['0']).is_some();
    (spec.width, rest) = digits(rest)?;
    let mut take = |all: &[char]| {
        let c = rest.chars().next().filter(|c| all.contains(c));
        if c.is_some() {
            rest = &rest[1..];
        }
        c
    };
    spec.grouping = take(&[',', '_']);
    if take(&['.']).is_some() {
        let (precision, more) = digits(rest)?;
        if more.len() == rest.len() {
            return Err(Error::new("Format specifier missing precision"));
        }
        (spec.precision, rest) = (Some(precision), more);
    }
    let mut chars = rest.chars();
    spec.kind = chars.next();
    if chars.next().is_some() {
        return Err(Error::new(format!("Invalid format specifier '{text}'")));
    }
    Ok(spec)
}
