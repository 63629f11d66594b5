//! JSON files of a model's folder.

use mind_diag::{Code, Diagnostic, SourceFile, Span};
use mind_json::{Limits, Value};

use crate::folder::FolderError;

/// The text is not valid JSON.
const SYNTAX: Code = Code(4201);
/// A value has another type than its key requires.
const KIND: Code = Code(4204);
/// Two values contradict each other.
const CONTRADICTION: Code = Code(4210);
/// A value is not supported.
const UNSUPPORTED: Code = Code(4211);

/// A JSON file.
pub(crate) struct Json {
    pub(crate) file: SourceFile,
    pub(crate) root: Value,
}

impl Json {
    /// # Errors
    ///
    /// The text is not valid JSON.
    pub(crate) fn parse(file: SourceFile) -> Result<Json, FolderError> {
        match mind_json::parse(file.text(), &Limits::default()) {
            Ok(root) => Ok(Json { file, root }),
            Err(found) => Err(refused(&file, found.code(SYNTAX))),
        }
    }

    /// Returns the value of `key`; `None` if it is absent or `null`.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.root.get(key).filter(|own| !own.is_null())
    }

    /// Returns an error for a value of another type than its key requires.
    pub(crate) fn wrong(&self, key: &str, found: &Value, expected: &str) -> FolderError {
        let message = format!("`{key}` is {}, expected {expected}", found.describe());
        refused(
            &self.file,
            Diagnostic::error(found.span, message).code(KIND),
        )
    }

    /// Returns an error for an unsupported value.
    pub(crate) fn unsupported(&self, key: &str, found: &Value, reason: &str) -> FolderError {
        let found_one = found.describe();
        let message = format!("`{key}` is {found_one}, which is not supported: {reason}");
        let found = Diagnostic::error(found.span, message).code(UNSUPPORTED);
        refused(&self.file, found)
    }

    /// Returns an error for a value of `key`, or its default if it is absent, that contradicts another value.
    pub(crate) fn contradicts(&self, key: &str, why: String) -> FolderError {
        let span = self.get(key).map_or(Span::FILE, |own| own.span);
        refused(&self.file, Diagnostic::error(span, why).code(CONTRADICTION))
    }

    /// Returns the natural number at `key`; `None` if the key is absent or `null`.
    pub(crate) fn natural(&self, key: &str) -> Result<Option<usize>, FolderError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let number = value.integer().and_then(|own| usize::try_from(own).ok());
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(key, value, "a whole number")),
        }
    }

    /// Returns the string at `key`; `None` if the key is absent or `null`.
    pub(crate) fn word(&self, key: &str) -> Result<Option<&str>, FolderError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match value.text() {
            Some(text) => Ok(Some(text)),
            None => Err(self.wrong(key, value, "a text")),
        }
    }

    /// Returns the token ids at `key`; `None` if the key is absent or `null`.
    pub(crate) fn tokens(&self, key: &str) -> Result<Option<Vec<u32>>, FolderError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let all = value.elements().map(|all| {
            let ids = all.iter().map(|own| u32::try_from(own.integer()?).ok());
            ids.collect::<Option<Vec<u32>>>()
        });
        match all.flatten() {
            Some(all) => Ok(Some(all)),
            None => Err(self.wrong(key, value, "an array of token ids")),
        }
    }

    /// Returns the members of the object at `key`, names with token ids; empty if the key is absent or `null`.
    pub(crate) fn named_tokens(&self, key: &str) -> Result<Vec<(&str, u32)>, FolderError> {
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let members = value.members();
        let all = members.and_then(|all| {
            let all = all.iter().map(|own| {
                let id = u32::try_from(own.value.integer()?).ok()?;
                Some((own.key.as_str(), id))
            });
            all.collect::<Option<Vec<_>>>()
        });
        all.ok_or_else(|| self.wrong(key, value, "an object from names to token ids"))
    }

    /// Returns the object at `key` as a root of its own.
    pub(crate) fn below(&self, key: &str) -> Option<Json> {
        let root = self.root.get(key)?.clone();
        let file = self.file.clone();
        Some(Json { file, root })
    }

    /// Returns the token id at `key`; `None` if the key is absent or `null`.
    pub(crate) fn token(&self, key: &str) -> Result<Option<u32>, FolderError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let id = value.integer().and_then(|id| u32::try_from(id).ok());
        match id {
            Some(id) => Ok(Some(id)),
            None => Err(self.wrong(key, value, "a token id")),
        }
    }

    /// Returns the end-of-sequence tokens of `eos_token_id`, one or an array; `None` if the key is absent. `null` is an
    /// empty list.
    pub(crate) fn ends(&self) -> Result<Option<Vec<u32>>, FolderError> {
        let key = "eos_token_id";
        let Some(value) = self.root.get(key) else {
            return Ok(None);
        };
        let all = match value.elements() {
            Some(all) => all,
            None if value.is_null() => &[],
            None => std::slice::from_ref(value),
        };
        let id = |own: &Value| own.integer().and_then(|id| u32::try_from(id).ok());
        let ids = all.iter().map(|own| id(own).ok_or(own));
        let ids = ids.collect::<Result<Vec<u32>, &Value>>();
        ids.map(Some)
            .map_err(|found| self.wrong(key, found, "a token id, or several"))
    }
}

fn refused(file: &SourceFile, found: Diagnostic) -> FolderError {
    FolderError::Text(found.into(), Box::new(file.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(text: &str) -> Result<Option<Vec<u32>>, String> {
        let json = Json::parse(SourceFile::new("generation_config.json", text));
        let ends = json.and_then(|json| json.ends());
        ends.map_err(|why| why.to_string())
    }

    #[test]
    fn one_token_or_several_end_a_text() {
        assert_eq!(ends("{}"), Ok(None));
        assert_eq!(ends(r#"{"eos_token_id": null}"#), Ok(Some(vec![])));
        assert_eq!(ends(r#"{"eos_token_id": 2}"#), Ok(Some(vec![2])));
        assert_eq!(ends(r#"{"eos_token_id": [7, 3]}"#), Ok(Some(vec![7, 3])));
        let expected =
            "generation_config.json: `eos_token_id` is -1, expected a token id, or several";
        assert_eq!(
            ends(r#"{"eos_token_id": [7, -1]}"#),
            Err(expected.to_owned())
        );
        assert!(ends("{").is_err());
    }
}
