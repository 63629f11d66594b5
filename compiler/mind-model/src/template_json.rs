//! The filter `tojson` of chat templates: JSON as `json.dumps` of Python writes it.

use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// How values are written.
struct Writer {
    /// What one level is indented by; all is on one line without.
    indent: Option<String>,
    /// Between elements, and between a key and its value.
    separators: [String; 2],
    /// Whether other characters than those of ASCII are escaped.
    is_ascii: bool,
    sorts_keys: bool,
    out: String,
}

/// Values within each other.
const MAX_DEPTH: usize = 100;

/// `value` as JSON, with the arguments that templates of models give.
///
/// # Errors
///
/// A value that has no JSON, an argument that is none.
pub(crate) fn tojson(value: &Value, arguments: Kwargs) -> Result<Value, Error> {
    let indent = match arguments.get::<Option<Value>>("indent")? {
        None => None,
        Some(own) if own.is_none() || own.is_undefined() => None,
        Some(own) => Some(match own.as_str() {
            Some(text) => text.to_owned(),
            None => " ".repeat(usize::try_from(own)?.min(MAX_DEPTH)),
        }),
    };
    let usual = if indent.is_some() { "," } else { ", " };
    let separators = match arguments.get::<Option<Value>>("separators")? {
        None => [usual.to_owned(), ": ".to_owned()],
        Some(own) if own.is_none() || own.is_undefined() => [usual.to_owned(), ": ".to_owned()],
        Some(own) => {
            let texts: Vec<Value> = own.try_iter()?.collect();
            match texts
                .iter()
                .map(Value::as_str)
                .collect::<Vec<_>>()
                .as_slice()
            {
                &[Some(element), Some(key)] => [element.to_owned(), key.to_owned()],
                _ => return Err(refused("`separators` of tojson are two texts")),
            }
        }
    };
    let truth = |name: &str| -> Result<bool, Error> {
        let own = arguments.get::<Option<Value>>(name)?;
        Ok(own.is_some_and(|own| own.is_true()))
    };
    let mut writer = Writer {
        indent,
        separators,
        is_ascii: truth("ensure_ascii")?,
        sorts_keys: truth("sort_keys")?,
        out: String::new(),
    };
    arguments.assert_all_used()?;
    writer.value(value, 0)?;
    Ok(Value::from_safe_string(writer.out))
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

impl Writer {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(refused("a value for tojson is nested too deeply"));
        }
        match value.kind() {
            ValueKind::None => self.out += "null",
            ValueKind::Bool => self.out += if value.is_true() { "true" } else { "false" },
            ValueKind::Number if value.is_integer() => self.out += &value.to_string(),
            ValueKind::Number => self.out += &python_float(f64::try_from(value.clone())?),
            ValueKind::String => self.text(value.as_str().unwrap_or_default()),
            ValueKind::Seq | ValueKind::Iterable => {
                let all = value.try_iter()?;
                self.all(['[', ']'], all, depth, |own, element| {
                    own.value(&element, depth + 1)
                })?;
            }
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if self.sorts_keys {
                    keys.sort_by_key(|key| key.as_str().unwrap_or_default().to_owned());
                }
                self.all(['{', '}'], keys.into_iter(), depth, |own, key| {
                    let Some(text) = key.as_str() else {
                        return Err(refused("a key of an object for tojson is no text"));
                    };
                    own.text(text);
                    own.out += &own.separators[1].clone();
                    own.value(&value.get_item(&key)?, depth + 1)
                })?;
            }
            // The library may add kinds.
            kind => {
                return Err(refused(format!(
                    "tojson has no JSON for a value of type {kind}"
                )));
            }
        }
        Ok(())
    }

    /// Writes the elements of an array or an object between brackets.
    fn all(
        &mut self,
        [open, close]: [char; 2],
        elements: impl Iterator<Item = Value>,
        depth: usize,
        mut write: impl FnMut(&mut Writer, Value) -> Result<(), Error>,
    ) -> Result<(), Error> {
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
                c if c < ' ' || self.is_ascii && !c.is_ascii() => {
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

/// A float as `repr` of Python writes it: the shortest digits that read back equal, with an exponent below 1e-4 and from 1e16 on.
fn python_float(x: f64) -> String {
    if x.is_nan() {
        return "NaN".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
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

#[cfg(test)]
mod tests {
    use minijinja::{Environment, context};

    use super::*;

    fn written(template: &str) -> Result<String, String> {
        let mut environment = Environment::new();
        environment.add_filter("tojson", tojson);
        let value = context! {
            text => "a\"b\\c\n\t\u{1}é😀</x>",
            tool => context! { name => "f", of => vec![1, -2], none => (), yes => true, empty => Vec::<i32>::new() },
            numbers => vec![1.0, 0.1, 1e16, 1.5e-7, -0.0, 123456789.25, f64::INFINITY],
        };
        let rendered = environment.render_str(template, value);
        rendered.map_err(|why| why.detail().unwrap_or_default().to_owned())
    }

    /// What Python 3 writes, with `ensure_ascii=False` as chat templates have it.
    #[test]
    fn values_are_written_as_python_writes_them() {
        let cases = [
            ("{{ text | tojson }}", "\"a\\\"b\\\\c\\n\\t\\u0001é😀</x>\""),
            (
                "{{ text | tojson(ensure_ascii=true) }}",
                "\"a\\\"b\\\\c\\n\\t\\u0001\\u00e9\\ud83d\\ude00</x>\"",
            ),
            (
                "{{ numbers | tojson }}",
                "[1.0, 0.1, 1e+16, 1.5e-07, -0.0, 123456789.25, Infinity]",
            ),
            (
                "{{ tool | tojson(sort_keys=true) }}",
                "{\"empty\": [], \"name\": \"f\", \"none\": null, \"of\": [1, -2], \"yes\": true}",
            ),
            (
                "{{ {'a': [1, {}], 'b': 'x'} | tojson(indent=2) }}",
                "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": \"x\"\n}",
            ),
            (
                "{{ [1, 'a'] | tojson(separators=(',', ':')) }}",
                "[1,\"a\"]",
            ),
        ];
        for (template, expected) in cases {
            assert_eq!(written(template).as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn what_has_no_json_is_refused() {
        let undefined = written("{{ nothing | tojson }}").unwrap_err();
        assert_eq!(
            undefined,
            "tojson has no JSON for a value of type undefined"
        );
        let separators = written("{{ text | tojson(separators=[1]) }}").unwrap_err();
        assert_eq!(separators, "`separators` of tojson are two texts");
        assert!(written("{{ text | tojson(other=1) }}").is_err());
        let keys = written("{{ {1: 2} | tojson }}").unwrap_err();
        assert_eq!(keys, "a key of an object for tojson is no text");
    }
}
