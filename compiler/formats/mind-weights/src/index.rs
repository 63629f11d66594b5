//! The index of weights that are split over several files.

use std::collections::BTreeSet;

use mind_json::{Limits, Value};

use crate::error::FileError;

/// Returns the names of the files in an index, `model.safetensors.index.json`, sorted and without duplicates.
///
/// # Errors
///
/// If the text is not JSON, does not have a `weight_map` from tensor names to file names, or refers to a file outside
/// of the folder.
pub fn shards(text: &str) -> Result<Vec<String>, FileError> {
    let root = mind_json::parse(text, &Limits::default()).map_err(|found| FileError::Json {
        at: found.span.start as usize,
        problem: found.message,
    })?;
    let wrong = |found: Option<&Value>, expected| FileError::Header {
        what: "`weight_map`".to_owned(),
        found: found.map_or_else(|| "missing".to_owned(), Value::describe),
        expected,
    };
    let map = root.get("weight_map");
    let members = map.and_then(Value::members).filter(|all| !all.is_empty());
    let members = members.ok_or_else(|| wrong(map, "an object from tensors to files"))?;
    let mut files = BTreeSet::new();
    for member in members {
        let name = member.value.text().filter(|name| is_plain(name));
        let name = name
            .ok_or_else(|| wrong(Some(&member.value), "the name of a file in the same folder"))?;
        files.insert(name.to_owned());
    }
    Ok(files.into_iter().collect())
}

/// Whether a file name is in the same folder.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\', ':', '\0']) && !matches!(name, "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_once() {
        let text = r#"{"metadata": {}, "weight_map": {"b": "2.safetensors", "a": "1.safetensors", "c": "2.safetensors"}}"#;
        assert_eq!(shards(text).unwrap(), ["1.safetensors", "2.safetensors"]);
    }

    #[test]
    fn files_elsewhere_are_refused() {
        for name in ["../x", "/etc/x", "", "a\\\\b", ".."] {
            let text = format!(r#"{{"weight_map": {{"a": "{name}"}}}}"#);
            let error = shards(&text).unwrap_err();
            assert!(matches!(error, FileError::Header { .. }), "{name}: {error}");
        }
        for text in [
            "{}",
            "[]",
            r#"{"weight_map": {}}"#,
            r#"{"weight_map": {"a": 1}}"#,
            "{",
        ] {
            assert!(shards(text).is_err(), "{text}");
        }
    }
}
