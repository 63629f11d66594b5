//! Printing of values.

use std::fmt::Write;

use crate::value::{Value, ValueKind};

/// Maximum line width of arrays and objects on one line.
const WIDTH: usize = 110;
const INDENT: usize = 2;

impl Value {
    /// Returns the text of this value, with a final newline.
    ///
    /// Arrays and objects that fit are printed on one line. Parsing the text returns an equal value.
    pub fn print(&self) -> String {
        let mut out = String::new();
        write_value(self, 0, 0, &mut out);
        out.push('\n');
        out
    }

    /// Returns the text of this value on one line.
    pub fn print_line(&self) -> String {
        let mut out = String::new();
        write_line(self, usize::MAX, &mut out);
        out
    }
}

/// Writes `value`, indenting its contents by `indent`; `used` columns of its line are taken.
fn write_value(value: &Value, indent: usize, used: usize, out: &mut String) {
    let start = out.len();
    if write_line(value, WIDTH.saturating_sub(used), out) {
        return;
    }
    out.truncate(start);
    let inner = indent + INDENT;
    let line = |out: &mut String, first: bool| {
        out.push_str(if first { "\n" } else { ",\n" });
        out.extend(std::iter::repeat_n(' ', inner));
    };
    let close = match &value.kind {
        ValueKind::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                line(out, at == 0);
                write_value(element, inner, inner + 1, out);
            }
            ']'
        }
        ValueKind::Object(members) => {
            out.push('{');
            for (at, member) in members.iter().enumerate() {
                line(out, at == 0);
                let start = out.len();
                write_string(&member.key, out);
                out.push_str(": ");
                let used = inner + out.len() - start + 1;
                write_value(&member.value, inner, used, out);
            }
            '}'
        }
        _ => {
            write_line(value, usize::MAX, out);
            return;
        }
    };
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
    out.push(close);
}

/// Writes `value` on one line. Returns false as soon as it exceeds `room` columns, with `out` incomplete.
fn write_line(value: &Value, room: usize, out: &mut String) -> bool {
    let start = out.len();
    let fits = |out: &String| out.len() - start <= room;
    match &value.kind {
        ValueKind::Null => out.push_str("null"),
        ValueKind::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        ValueKind::Number(text) => out.push_str(text),
        ValueKind::String(text) => write_string(text, out),
        ValueKind::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                let left = room.saturating_sub(out.len() - start);
                if !write_line(element, left, out) {
                    return false;
                }
            }
            out.push(']');
        }
        ValueKind::Object(members) => {
            out.push('{');
            for (at, member) in members.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                write_string(&member.key, out);
                out.push_str(": ");
                let left = room.saturating_sub(out.len() - start);
                if !write_line(&member.value, left, out) {
                    return false;
                }
            }
            out.push('}');
        }
    }
    fits(out)
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a string is infallible.
            c if c < ' ' => drop(write!(out, "\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Limits, parse};

    #[test]
    fn text_reads_back_and_printing_is_a_fixed_point() {
        let text = r#"{"a": [1, 2.50, {"b": "x\"\\\n\u0001å"}], "long": [], "e": {}, "n": null, "t": true}"#;
        let printed = parse(text, &Limits::default()).unwrap().print();
        let again = parse(&printed, &Limits::default()).unwrap().print();
        assert_eq!(printed, again);
        assert_eq!(printed.trim_end(), text);
    }

    #[test]
    fn what_does_not_fit_is_broken_into_lines() {
        let long = "x".repeat(60);
        let value = Value::object([
            ("a", Value::array([long.as_str(), &long])),
            ("b", 1usize.into()),
        ]);
        let expected =
            format!("{{\n  \"a\": [\n    \"{long}\",\n    \"{long}\"\n  ],\n  \"b\": 1\n}}\n");
        assert_eq!(value.print(), expected);
    }
}
