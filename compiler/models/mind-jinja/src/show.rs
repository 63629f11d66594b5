//! Values as texts: `str` and `repr` of Python.

use crate::error::{Error, Result};
use crate::value::{Dict, O, Value};
use crate::{MAX_DEPTH, check_length};

/// `str` of a value.
///
/// # Errors
///
/// A value that is nested too deeply, or whose text is too long.
pub(crate) fn text(value: &Value) -> Result<std::rc::Rc<str>> {
    match value {
        Value::Str(own) | Value::Markup(own) => Ok(own.clone()),
        Value::Undefined(_) => Ok("".into()),
        other => {
            let mut out = String::new();
            write(other, &mut out, 0)?;
            Ok(out.into())
        }
    }
}

/// `repr` of a value.
///
/// # Errors
///
/// A value that is nested too deeply, or whose text is too long.
pub(crate) fn repr(value: &Value) -> Result<String> {
    let mut out = String::new();
    write(value, &mut out, 0)?;
    Ok(out)
}

fn write(value: &Value, out: &mut String, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(Error::new("a value is nested too deeply to be written"));
    }
    check_length(out.len())?;
    match value {
        Value::Undefined(_) => out.push_str("Undefined"),
        Value::None => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Int(own) => out.push_str(&own.to_string()),
        Value::Float(own) => out.push_str(&float(*own)),
        Value::Str(own) => quote(own, out),
        Value::Markup(own) => {
            out.push_str("Markup(");
            quote(own, out);
            out.push(')');
        }
        Value::List(own) => elements("[", own, "]", out, depth)?,
        Value::Tuple(own) => elements(
            "(",
            own,
            if own.len() == 1 { ",)" } else { ")" },
            out,
            depth,
        )?,
        Value::Dict(own) => dict(own, out, depth)?,
        Value::Function(own) => out.push_str(&format!("<function {}>", own.name)),
        Value::Object(own) => match &own.kind {
            O::Group(own) => elements("(", own, ")", out, depth)?,
            O::View(view, _) => {
                out.push_str(view.name());
                elements("([", &value.elements()?, "])", out, depth)?;
            }
            O::Range(own) => {
                out.push_str(&format!("range({}, {}", own.start, own.stop));
                if own.step != 1 {
                    out.push_str(&format!(", {}", own.step));
                }
                out.push(')');
            }
            O::Namespace(own) => {
                out.push_str("<Namespace ");
                dict(&own.borrow(), out, depth)?;
                out.push('>');
            }
            O::Macro(own) => out.push_str(&format!("<Macro {}>", own.shown_name())),
            O::Loop(own) => out.push_str(&format!("<LoopContext {}/{}>", own.index(), own.len())),
            O::Method(own) => out.push_str(&format!("<built-in method {}>", own.name)),
            O::Generator(_) | O::Cycler(_) | O::Joiner(_) => {
                out.push_str(&format!("<{} object>", value.kind()));
            }
        },
    }
    Ok(())
}

fn elements(open: &str, own: &[Value], close: &str, out: &mut String, depth: usize) -> Result<()> {
    out.push_str(open);
    for (at, element) in own.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write(element, out, depth + 1)?;
    }
    out.push_str(close);
    Ok(())
}

fn dict(own: &Dict, out: &mut String, depth: usize) -> Result<()> {
    out.push('{');
    for (at, (key, value)) in own.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write(key, out, depth + 1)?;
        out.push_str(": ");
        write(value, out, depth + 1)?;
    }
    out.push('}');
    Ok(())
}

/// `repr` of a text.
fn quote(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if is_printable(c) => out.push(c),
            c => {
                let code = c as u32;
                out.push_str(&match code {
                    0..=0xff => format!("\\x{code:02x}"),
                    0x100..=0xffff => format!("\\u{code:04x}"),
                    _ => format!("\\U{code:08x}"),
                });
            }
        }
    }
    out.push(quote);
}

/// Whether `str.isprintable` of Python holds: neither a control, a separator but the space, nor unassigned.
pub(crate) fn is_printable(c: char) -> bool {
    if c == ' ' {
        return true;
    }
    // `Debug` escapes the same classes of Unicode, and quotes and backslashes, which Python prints.
    match c {
        '\'' | '"' | '\\' => true,
        '\u{300}'..='\u{36f}' => true,
        c => !c.is_whitespace() && !c.is_control() && c.escape_debug().count() == 1 || is_mark(c),
    }
}

/// Combining marks, which `Debug` escapes at the beginning of a text and Python prints.
fn is_mark(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && format!("{:?}", format!("a{c}")).contains(c)
}

/// `repr` of a float: the shortest digits that read back equal, with an exponent below 1e-4 and from 1e16 on.
pub(crate) fn float(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if x == 0.0 || (1e-4..1e16).contains(&x.abs()) {
        // A fraction is always there.
        return format!("{x:?}");
    }
    let text = format!("{x:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(own) => ('-', own),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}
