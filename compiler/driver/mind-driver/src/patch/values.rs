//! Attributes and types in edits.

use mind_ir::attr::{Attr, AttrKind, Literal, Padding};
use mind_ir::opdef::{AttrDef, OpDef};
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::{Graph, OpId};
use mind_text::number::{element_form, read_element};
use serde_json::Value;

use super::json::kind;

/// Returns a temporary value of the attribute's kind, to be overwritten.
pub(super) fn placeholder(row: &AttrDef) -> Attr<'static> {
    match row.kind {
        AttrKind::Int => Attr::Int(0),
        AttrKind::Bool => Attr::Bool(false),
        AttrKind::Float => Attr::Float(0),
        // A name cannot be interned here; every name is set or has a default, so another kind serves as placeholder.
        AttrKind::Str | AttrKind::Ints => Attr::Ints(&[]),
        AttrKind::Dims => Attr::Dims(&[]),
        AttrKind::LiteralData => Attr::Literal(&Literal {
            dtype: DType::Bool,
            count: None,
            bytes: &[0],
        }),
        AttrKind::Pad => Attr::Padding(Padding::Valid),
        AttrKind::ElementType => Attr::DType(DType::F32),
        AttrKind::Word(words) => Attr::Word(words[0]),
    }
}

/// Sets an attribute to a JSON value.
///
/// # Errors
///
/// Errors, in one line, if the value has the wrong kind.
pub(super) fn set_attribute(
    g: &mut Graph,
    op: OpId,
    index: usize,
    row: &AttrDef,
    value: &Value,
) -> Result<(), String> {
    let wrong = |expected: &str| format!("`{}` is {}, expected {expected}", row.name, kind(value));
    let ints = |expected: &str| -> Result<Vec<i64>, String> {
        let list = value.as_array().ok_or_else(|| wrong(expected))?;
        list.iter()
            .map(|each| each.as_i64().ok_or_else(|| wrong(expected)))
            .collect()
    };
    match row.kind {
        AttrKind::Int => {
            let number = value.as_i64().ok_or_else(|| wrong("an integer"))?;
            g.set_attr(op, index, Attr::Int(number));
        }
        AttrKind::Bool => {
            let truth = value.as_bool().ok_or_else(|| wrong("true or false"))?;
            g.set_attr(op, index, Attr::Bool(truth));
        }
        AttrKind::Float => {
            let number = value.as_f64().ok_or_else(|| wrong("a number"))?;
            g.set_attr(op, index, Attr::float(number));
        }
        AttrKind::Str => {
            let text = value.as_str().ok_or_else(|| wrong("a text"))?;
            let sym = g.intern(text);
            g.set_attr(op, index, Attr::Str(sym));
        }
        AttrKind::Ints => {
            let list = ints("a list of integers")?;
            g.set_attr(op, index, Attr::Ints(&list));
        }
        AttrKind::Dims => {
            let list = value.as_array().ok_or_else(|| wrong("a list of extents"))?;
            let dims: Result<Vec<Dim>, String> = list.iter().map(|own| extent(g, own)).collect();
            g.set_attr(op, index, Attr::Dims(&dims?));
        }
        AttrKind::Pad => match value.as_str() {
            Some("valid") => g.set_attr(op, index, Attr::Padding(Padding::Valid)),
            Some("same") => g.set_attr(op, index, Attr::Padding(Padding::Same)),
            _ => {
                let expected = "\"valid\", \"same\" or four integers";
                let pads: [i64; 4] = ints(expected)?.try_into().map_err(|_| wrong(expected))?;
                g.set_attr(op, index, Attr::Padding(Padding::Custom(&pads)));
            }
        },
        AttrKind::ElementType => {
            let dtype = value.as_str().and_then(DType::parse);
            let dtype = dtype.ok_or_else(|| wrong("the name of a dtype"))?;
            g.set_attr(op, index, Attr::DType(dtype));
        }
        AttrKind::Word(words) => {
            let word = words.iter().find(|word| value.as_str() == Some(word));
            let word = word.ok_or_else(|| wrong(&format!("one of {}", words.join(", "))))?;
            g.set_attr(op, index, Attr::Word(word));
        }
        AttrKind::LiteralData => set_elements(g, op, index, row, value)?,
    }
    Ok(())
}

/// Sets the elements of a constant with a known type. The value is a list nested like the shape, a flat list, or a
/// single element that is repeated.
///
/// # Errors
///
/// Errors if the type is unknown, if a list has the wrong length, or if the dtype cannot represent an element.
fn set_elements(
    g: &mut Graph,
    op: OpId,
    index: usize,
    row: &AttrDef,
    value: &Value,
) -> Result<(), String> {
    let result = g.result(op);
    let ty = g.declared(result).or(g.type_id(result));
    let ty = ty.ok_or("a constant needs a declared type: write it as `type`")?;
    let ty = g.types().get(ty).to_owned();
    let mut bytes = Vec::new();
    let count = match value {
        Value::Array(list) => {
            let flat = !list.iter().any(Value::is_array);
            let shape = if flat { &[][..] } else { &ty.shape[..] };
            elements(list, shape, ty.dtype, &mut bytes)
                .map_err(|problem| format!("`{}`: {problem}", row.name))?;
            Some(bytes.len() / ty.dtype.size())
        }
        one => {
            element(one, ty.dtype, &mut bytes)?;
            None
        }
    };
    let literal = Literal {
        dtype: ty.dtype,
        count,
        bytes: &bytes,
    };
    g.set_attr(op, index, Attr::Literal(&literal));
    Ok(())
}

/// Appends the elements of a list nested like `shape`; an empty shape accepts any flat list.
fn elements(
    list: &[Value],
    shape: &[Dim],
    dtype: DType,
    bytes: &mut Vec<u8>,
) -> Result<(), String> {
    if let Some(extent) = shape.first().and_then(|dim| dim.fixed())
        && usize::try_from(extent) != Ok(list.len())
    {
        return Err(format!(
            "expected {extent} elements, found a list of {}",
            list.len()
        ));
    }
    let inner = shape.get(1..).unwrap_or_default();
    for value in list {
        match value {
            Value::Array(list) if !inner.is_empty() => elements(list, inner, dtype, bytes)?,
            _ if inner.is_empty() => element(value, dtype, bytes)?,
            other => return Err(format!("found {}, expected a list", kind(other))),
        }
    }
    Ok(())
}

/// Appends one element, a JSON value or text, for example `1.5`, `"nan"` or `"-inf"`.
fn element(value: &Value, dtype: DType, bytes: &mut Vec<u8>) -> Result<(), String> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::String(text) => text.clone(),
        other => return Err(format!("found {}, expected an element", kind(other))),
    };
    read_element(&text, dtype, bytes).map_err(|_| {
        let form = element_form(dtype);
        format!("invalid element `{text}` of {dtype}: expected {form}")
    })
}

/// Returns the error for an unknown attribute `name`.
pub(super) fn no_attribute(def: &OpDef, name: &str) -> String {
    let known: Vec<String> = def
        .attrs
        .iter()
        .map(|row| format!("`{}`", row.name))
        .collect();
    let has = if known.is_empty() {
        "none".to_owned()
    } else {
        known.join(", ")
    };
    format!(
        "`{}` has no attribute `{name}`; it has {has}",
        def.short_name()
    )
}

fn extent(g: &mut Graph, value: &Value) -> Result<Dim, String> {
    match value {
        Value::String(text) => dim(g, text),
        value => value
            .as_i64()
            .map(Dim::Fixed)
            .ok_or_else(|| format!("invalid extent `{value}`: expected a number, a name or `?`")),
    }
}

/// Parses a type, for example `f32[3, B]` or `f32`.
pub(super) fn parse_type(g: &mut Graph, text: &str) -> Result<TensorType, String> {
    let wrong = || format!("invalid type `{text}`: expected for example `f32[3, B, ?]`");
    let text = text.trim();
    let (name, dims) = match text.split_once('[') {
        None => (text, ""),
        Some((name, rest)) => (name.trim_end(), rest.strip_suffix(']').ok_or_else(wrong)?),
    };
    let dtype = DType::parse(name).ok_or_else(wrong)?;
    if dims.trim().is_empty() {
        return Ok(TensorType::new(dtype, []));
    }
    let dims: Result<Vec<Dim>, String> = dims.split(',').map(|part| dim(g, part.trim())).collect();
    Ok(TensorType::new(dtype, dims?))
}

/// Parses an extent: `3`, `B` or `?`.
fn dim(g: &mut Graph, text: &str) -> Result<Dim, String> {
    let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match text {
        "?" => Ok(Dim::Dynamic),
        _ if is_name => Ok(Dim::Symbol(g.intern(text))),
        _ => text
            .parse()
            .map(Dim::Fixed)
            .map_err(|_| format!("invalid extent `{text}`: expected a number, a name or `?`")),
    }
}
