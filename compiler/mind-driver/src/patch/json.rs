//! Reads edits from JSON.
//!
//! The text is a list of objects, each with one of the keys `insert`, `delete`, `replace`, `set`, `rename` and
//! `outputs`, for example `[{"delete": 5, "instead": 3}]`.

use serde_json::{Map, Value};

use super::edit::{Edit, NewBody, NewStatement, Place};
use super::error::PatchError;

impl Edit {
    /// Parses a list of edits.
    ///
    /// # Errors
    ///
    /// Errors if the text is not a JSON list, or if an edit has missing, unknown or invalid members.
    pub fn read_all(text: &str) -> Result<Vec<Edit>, PatchError> {
        let whole = |problem: String| PatchError::Json {
            place: "edits".to_owned(),
            problem,
        };
        let value: Value = serde_json::from_str(text).map_err(|error| whole(error.to_string()))?;
        let Value::Array(list) = value else {
            return Err(whole(format!(
                "found {}, expected a list of edits",
                kind(&value)
            )));
        };
        let read = |(index, value): (usize, &Value)| {
            edit(value).map_err(|problem| PatchError::Json {
                place: format!("edit {}", index + 1),
                problem,
            })
        };
        list.iter().enumerate().map(read).collect()
    }
}

/// The keys that select an edit, each with its optional members.
const FORMS: [(&str, &[&str]); 6] = [
    ("insert", &["before", "after"]),
    ("delete", &["instead"]),
    ("replace", &["with"]),
    ("set", &["attribute", "to", "type"]),
    ("rename", &["to"]),
    ("outputs", &[]),
];

fn edit(value: &Value) -> Result<Edit, String> {
    let Value::Object(fields) = value else {
        return Err(format!("found {}, expected an object", kind(value)));
    };
    let named: Vec<_> = FORMS
        .iter()
        .filter(|(name, _)| fields.contains_key(*name))
        .collect();
    let [(form, members)] = named[..] else {
        let names = FORMS.map(|(name, _)| format!("`{name}`")).join(", ");
        return Err(format!("expected exactly one of {names}"));
    };
    let unknown = fields
        .keys()
        .find(|key| key != form && !members.contains(&key.as_str()));
    if let Some(unknown) = unknown {
        return Err(format!("`{unknown}` cannot be combined with `{form}`"));
    }
    let subject = &fields[*form];
    match *form {
        "insert" => Ok(Edit::Insert {
            statement: statement(subject)?,
            place: place(fields)?,
        }),
        "delete" => {
            let instead = fields
                .get("instead")
                .map(|own| id(own, "instead"))
                .transpose()?;
            Ok(Edit::Delete {
                id: id(subject, form)?,
                instead,
            })
        }
        "replace" => {
            let with = fields.get("with").ok_or("`with` is missing: the new op")?;
            Ok(Edit::Replace {
                id: id(subject, form)?,
                statement: statement(with)?,
            })
        }
        "set" => set(id(subject, form)?, fields),
        "rename" => {
            let to = fields.get("to").ok_or("`to` is missing: the new id")?;
            Ok(Edit::Rename {
                id: id(subject, form)?,
                to: id(to, "to")?,
            })
        }
        _ => Ok(Edit::SetOutputs(ids(subject, form)?)),
    }
}

fn set(id: u64, fields: &Map<String, Value>) -> Result<Edit, String> {
    match (
        fields.get("attribute"),
        fields.get("to"),
        fields.get("type"),
    ) {
        (Some(Value::String(name)), Some(value), None) => Ok(Edit::SetAttribute {
            id,
            name: name.clone(),
            value: value.clone(),
        }),
        (None, None, Some(Value::String(ty))) => Ok(Edit::SetType {
            id,
            ty: Some(ty.clone()),
        }),
        (None, None, Some(Value::Null)) => Ok(Edit::SetType { id, ty: None }),
        _ => Err(
            "`set` needs `attribute`, a name, and `to`, its value; or `type`, a text or null"
                .to_owned(),
        ),
    }
}

fn place(fields: &Map<String, Value>) -> Result<Place, String> {
    match (fields.get("before"), fields.get("after")) {
        (Some(before), None) => Ok(Place::Before(id(before, "before")?)),
        (None, Some(after)) => Ok(Place::After(id(after, "after")?)),
        (None, None) => Ok(Place::End),
        (Some(_), Some(_)) => Err("`before` and `after` cannot be combined".to_owned()),
    }
}

fn statement(value: &Value) -> Result<NewStatement, String> {
    const KEYS: [&str; 6] = ["id", "op", "operands", "attributes", "type", "body"];
    let Value::Object(fields) = value else {
        return Err(format!(
            "found {}, expected an op as an object with {}",
            kind(value),
            KEYS.join(", ")
        ));
    };
    if let Some(unknown) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!(
            "an op has no `{unknown}`; it has {}",
            KEYS.join(", ")
        ));
    }
    let text = |key: &str| match fields.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!("`{key}` is {}, expected a text", kind(other))),
    };
    let attributes = match fields.get("attributes") {
        None => Vec::new(),
        Some(Value::Object(pairs)) => pairs
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        Some(other) => {
            return Err(format!(
                "`attributes` is {}, expected an object",
                kind(other)
            ));
        }
    };
    Ok(NewStatement {
        id: fields.get("id").map(|own| id(own, "id")).transpose()?,
        op: text("op")?.ok_or("`op` is missing: the name of the op")?,
        operands: fields
            .get("operands")
            .map_or(Ok(Vec::new()), |own| ids(own, "operands"))?,
        attributes,
        ty: text("type")?,
        body: fields.get("body").map(body).transpose()?,
    })
}

fn body(value: &Value) -> Result<NewBody, String> {
    const KEYS: [&str; 3] = ["args", "ops", "yield"];
    let Value::Object(fields) = value else {
        let found = kind(value);
        return Err(format!(
            "`body` is {found}, expected an object with args, ops, yield"
        ));
    };
    if let Some(unknown) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!(
            "a body has no `{unknown}`; it has args, ops, yield"
        ));
    }
    let listed = |key: &str| fields.get(key).map_or(Ok(Vec::new()), |own| ids(own, key));
    let statements = match fields.get("ops") {
        None => Vec::new(),
        Some(Value::Array(list)) => list.iter().map(statement).collect::<Result<_, _>>()?,
        Some(other) => return Err(format!("`ops` is {}, expected a list of ops", kind(other))),
    };
    Ok(NewBody {
        arguments: listed("args")?,
        statements,
        outputs: listed("yield")?,
    })
}

/// Parses an id: `5`, `"5"`, `"N5"` or `"%5"`.
fn id(value: &Value, key: &str) -> Result<u64, String> {
    let number = match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => {
            let digits = text.strip_prefix(['N', '%']).unwrap_or(text);
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| digits.parse().ok()).flatten()
        }
        _ => None,
    };
    number.ok_or_else(|| format!("`{key}` is `{value}`, expected an id as in 5, \"N5\" or \"%5\""))
}

fn ids(value: &Value, key: &str) -> Result<Vec<u64>, String> {
    match value {
        Value::Array(list) => list.iter().map(|own| id(own, key)).collect(),
        other => Err(format!(
            "`{key}` is {}, expected a list of ids",
            kind(other)
        )),
    }
}

/// Names the kind of a JSON value.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
