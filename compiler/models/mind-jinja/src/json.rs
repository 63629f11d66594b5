//! Values as JSON, as `json.dumps` of Python writes them.

use crate::arguments::{Arguments, text, truth_or};
use crate::error::{Error, Result};
use crate::value::{O, Value};
use crate::{MAX_DEPTH, check_length, show};

/// How values are written.
struct Writer {
    /// The indentation of one level; `None` writes one line.
    indent: Option<String>,
    /// Between elements, and between a key and its value.
    separators: [String; 2],
    /// Whether other characters than those of ASCII are escaped.
    is_ascii: bool,
    sorts_keys: bool,
    out: String,
}

/// `value` as JSON, with the arguments that templates of models give.
///
/// # Errors
///
/// A value that has no JSON, an argument that is none.
pub(crate) fn tojson(value: &Value, args: Arguments) -> Result<Value> {
    let names = ["ensure_ascii", "indent", "separators", "sort_keys"];
    let [is_ascii, indent, separators, sorts_keys] = args.bind("tojson", names, 0)?;
    let indent = match indent {
        None | Some(Value::None) => None,
        Some(own) => Some(match own.as_text() {
            Some(text) => text.to_owned(),
            None => {
                let own = crate::arguments::int("`indent` of tojson", &own)?;
                " ".repeat(usize::try_from(own).unwrap_or(0).min(1000))
            }
        }),
    };
    let usual = if indent.is_some() { "," } else { ", " };
    let separators = match separators {
        None | Some(Value::None) => [usual.to_owned(), ": ".to_owned()],
        Some(own) => match own.elements()?.as_slice() {
            [element, key] => {
                let own = |value| text("a separator of tojson", value).map(str::to_owned);
                [own(element)?, own(key)?]
            }
            _ => return Err(Error::new("`separators` of tojson has two texts")),
        },
    };
    let mut writer = Writer {
        indent,
        separators,
        is_ascii: truth_or(&is_ascii, false),
        sorts_keys: truth_or(&sorts_keys, false),
        out: String::new(),
    };
    writer.value(value, 0)?;
    Ok(Value::from(writer.out))
}

impl Writer {
    fn value(&mut self, value: &Value, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(Error::new("a value for tojson is nested too deeply"));
        }
        check_length(self.out.len())?;
        match value {
            Value::None => self.out += "null",
            Value::Bool(own) => self.out += if *own { "true" } else { "false" },
            Value::Int(own) => self.out += &own.to_string(),
            Value::Float(own) => self.out += &float(*own),
            Value::Str(own) | Value::Markup(own) => self.text(own),
            Value::List(own) | Value::Tuple(own) => self.array(own, depth)?,
            Value::Dict(own) => {
                let mut pairs = Vec::new();
                for (key, value) in own.iter() {
                    pairs.push((key_text(key)?, key, value));
                }
                if self.sorts_keys {
                    pairs = crate::sort::sort(pairs, &mut |(_, a, _), (_, b, _)| {
                        Ok(a.order(b, "<")?.unwrap_or(std::cmp::Ordering::Equal))
                    })?;
                }
                self.all(
                    ['{', '}'],
                    pairs.into_iter(),
                    depth,
                    |own, (key, _, value)| {
                        own.text(&key);
                        own.out += &own.separators[1].clone();
                        own.value(value, depth + 1)
                    },
                )?;
            }
            Value::Object(own) => match &own.kind {
                O::Group(own) => self.array(own, depth)?,
                _ => return Err(not_serializable(value)),
            },
            Value::Undefined(_) | Value::Function(_) => return Err(not_serializable(value)),
        }
        Ok(())
    }

    fn array(&mut self, own: &[Value], depth: usize) -> Result<()> {
        self.all(['[', ']'], own.iter(), depth, |writer, element| {
            writer.value(element, depth + 1)
        })
    }

    /// Writes the elements of an array or an object between brackets.
    fn all<T>(
        &mut self,
        [open, close]: [char; 2],
        elements: impl Iterator<Item = T>,
        depth: usize,
        mut write: impl FnMut(&mut Writer, T) -> Result<()>,
    ) -> Result<()> {
        self.out.push(open);
        let mut is_empty = true;
        for element in elements {
            if !is_empty {
                self.out += &self.separators[0].clone();
            }
            is_empty = false;
            self.line(depth + 1);
            write(self, element)?;
        }
        if !is_empty {
            self.line(depth);
        }
        self.out.push(close);
        Ok(())
    }

    /// Begins a line, where lines are written.
    fn line(&mut self, depth: usize) {
        if let Some(indent) = &self.indent {
            self.out.push('\n');
            self.out += &indent.repeat(depth);
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out += "\\\"",
                '\\' => self.out += "\\\\",
                '\n' => self.out += "\\n",
                '\r' => self.out += "\\r",
                '\t' => self.out += "\\t",
                '\u{8}' => self.out += "\\b",
                '\u{c}' => self.out += "\\f",
                c if c < ' '
                    || self.is_ascii && !c.is_ascii()
                    || self.is_ascii && c == '\u{7f}' =>
                {
                    let mut units = [0; 2];
                    for unit in c.encode_utf16(&mut units) {
                        self.out += &format!("\\u{unit:04x}");
                    }
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}

fn not_serializable(value: &Value) -> Error {
    Error::new(format!(
        "Object of type {} is not JSON serializable",
        value.kind()
    ))
}

/// A key of an object: a text, or a constant as JSON.
fn key_text(key: &Value) -> Result<String> {
    Ok(match key {
        Value::Str(own) | Value::Markup(own) => own.to_string(),
        Value::Bool(true) => "true".to_owned(),
        Value::Bool(false) => "false".to_owned(),
        Value::None => "null".to_owned(),
        Value::Int(own) => own.to_string(),
        Value::Float(own) => float(*own),
        other => {
            let kind = other.kind();
            let message = format!("keys must be str, int, float, bool or None, not {kind}");
            return Err(Error::new(message));
        }
    })
}

fn float(own: f64) -> String {
    match show::float(own).as_str() {
        "nan" => "NaN".to_owned(),
        "inf" => "Infinity".to_owned(),
        "-inf" => "-Infinity".to_owned(),
        text => text.to_owned(),
    }
}
