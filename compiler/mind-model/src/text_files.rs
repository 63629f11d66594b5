//! What the files of a model say of its text: tokens that end it, and how a conversation is written.

use std::path::PathBuf;

use mind_diag::{Code, Diagnostic, SourceFile};
use mind_driver::host::FileSystem;
use mind_irv2::Family;
use mind_json::{Limits, Value};
use mind_weights::MetaValue;

use crate::chat::ChatTemplate;
use crate::folder::{Files, FolderError, read};
use crate::forced::Forced;
use crate::text::Text;

/// A value of another kind than its key asks for.
const KIND: Code = Code(4204);
/// A text that is no JSON.
const SYNTAX: Code = Code(4201);

/// The keys of tokens that templates may write.
const SPECIAL: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
];

/// The keys of a GGUF header with tokens that templates may write, and what they call them.
const HEADER_SPECIAL: [(&str, &str); 3] = [
    ("bos_token", "tokenizer.ggml.bos_token_id"),
    ("eos_token", "tokenizer.ggml.eos_token_id"),
    ("pad_token", "tokenizer.ggml.padding_token_id"),
];

/// The keys of a GGUF header with tokens that end a text.
const HEADER_ENDS: [&str; 2] = ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"];

/// The files about text in the folder of a model.
pub struct TextFiles<'f> {
    files: &'f Files,
    /// The family of the model, which says what silent configurations mean.
    family: Family,
    generation: Option<Json>,
    tokenizer: Option<Json>,
    template: Option<SourceFile>,
}

/// A JSON file.
struct Json {
    file: SourceFile,
    root: Value,
}

impl Json {
    /// # Errors
    ///
    /// A text that is no JSON.
    fn parse(file: SourceFile) -> Result<Json, FolderError> {
        match mind_json::parse(file.text(), &Limits::default()) {
            Ok(root) => Ok(Json { file, root }),
            Err(found) => Err(refused(&file, found.code(SYNTAX))),
        }
    }

    fn wrong(&self, key: &str, found: &Value, expected: &str) -> FolderError {
        let message = format!("`{key}` is {}, expected {expected}", found.describe());
        refused(
            &self.file,
            Diagnostic::error(found.span, message).code(KIND),
        )
    }

    /// The object at `key`.
    fn below(&self, key: &str) -> Option<Json> {
        let root = self.root.get(key)?.clone();
        let file = self.file.clone();
        Some(Json { file, root })
    }

    /// The token at `key`; `None` if the key is absent, or `null`.
    fn token(&self, key: &str) -> Result<Option<u32>, FolderError> {
        let Some(value) = self.root.get(key).filter(|own| !own.is_null()) else {
            return Ok(None);
        };
        let id = value.integer().and_then(|id| u32::try_from(id).ok());
        match id {
            Some(id) => Ok(Some(id)),
            None => Err(self.wrong(key, value, "a token id")),
        }
    }

    /// The tokens of `eos_token_id`: one, or several; `None` if the key is absent.
    fn ends(&self) -> Result<Option<Vec<u32>>, FolderError> {
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

impl<'f> TextFiles<'f> {
    /// Reads `generation_config.json`, `tokenizer_config.json` and `chat_template.jinja` where they are.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or is no JSON.
    pub fn open(
        files: &'f Files,
        family: Family,
        host: &mut dyn FileSystem,
    ) -> Result<TextFiles<'f>, FolderError> {
        let mut text = |name: &str| -> Result<Option<SourceFile>, FolderError> {
            let path: PathBuf = files.folder().join(name);
            let name = path.display().to_string();
            let Some(bytes) = read(&path, host)? else {
                return Ok(None);
            };
            let text = String::from_utf8(bytes).map_err(|why| {
                let at = why.utf8_error().valid_up_to();
                let reason = format!("the bytes at offset {at} are not UTF-8");
                FolderError::Read { path, reason }
            })?;
            Ok(Some(SourceFile::new(name, text)))
        };
        Ok(TextFiles {
            generation: text("generation_config.json")?
                .map(Json::parse)
                .transpose()?,
            tokenizer: text("tokenizer_config.json")?
                .map(Json::parse)
                .transpose()?,
            template: text("chat_template.jinja")?,
            files,
            family,
        })
    }

    /// `config.json`, which was read before; `None` of a GGUF file, which has none.
    fn config(&self) -> Option<Json> {
        let file = self.files.config.clone();
        let root = mind_json::parse(file.text(), &Limits::default()).ok()?;
        Some(Json { file, root })
    }

    /// The tokens that end a text: those of `generation_config.json`, else of `config.json`, else of a GGUF header, else of the
    /// family.
    ///
    /// # Errors
    ///
    /// A value that is no token id.
    pub fn ends(&self) -> Result<Vec<u32>, FolderError> {
        if let Some(generation) = &self.generation
            && let Some(ends) = generation.ends()?
        {
            return Ok(ends);
        }
        if let Some(root) = self.config() {
            let ends = match root.ends()? {
                Some(ends) => Some(ends),
                None => root
                    .below("text_config")
                    .map_or(Ok(None), |own| own.ends())?,
            };
            if let Some(ends) = ends {
                return Ok(ends);
            }
        }
        let Some(header) = self.files.header() else {
            return Ok(Vec::from_iter(self.family.silent_token("eos_token_id")));
        };
        let ids = HEADER_ENDS.iter().filter_map(|key| header.meta(key));
        let ids = ids.filter_map(MetaValue::natural);
        Ok(ids.filter_map(|id| u32::try_from(id).ok()).collect())
    }

    /// The tokens that an encoder-decoder draws whatever their logits are: `forced_bos_token_id` and `forced_eos_token_id` of
    /// `generation_config.json` or, where there is no such file, of `config.json`, else of the family.
    ///
    /// # Errors
    ///
    /// A value that is no token id.
    pub fn forced(&self) -> Result<Forced, FolderError> {
        let config = self.config();
        let token = |key: &str| match (&self.generation, &config) {
            (Some(file), _) => file.token(key),
            (None, Some(file)) if file.root.get(key).is_some() => file.token(key),
            (None, _) => Ok(self.family.silent_token(key)),
        };
        Ok(Forced {
            first: token("forced_bos_token_id")?,
            last: token("forced_eos_token_id")?,
        })
    }

    /// The token that the decoder of an encoder-decoder starts from: `decoder_start_token_id` of `generation_config.json`, else
    /// of `config.json`, else of the family, else their `bos_token_id`.
    ///
    /// # Errors
    ///
    /// A value that is no token id; no file says it.
    pub fn start(&self) -> Result<u32, FolderError> {
        let config = self.config();
        for key in ["decoder_start_token_id", "bos_token_id"] {
            for file in [&self.generation, &config].into_iter().flatten() {
                if let Some(token) = file.token(key)? {
                    return Ok(token);
                }
            }
            if let Some(token) = self.family.silent_token(key) {
                return Ok(token);
            }
        }
        let path = self.files.folder().to_owned();
        Err(FolderError::NoStart { path })
    }

    /// The names of `count` classes, in the order of their numbers: those of `id2label` of `config.json`, else the numbers.
    ///
    /// # Errors
    ///
    /// A name that is no text.
    pub fn labels(&self, count: usize) -> Result<Vec<String>, FolderError> {
        let config = self.config();
        let names = config.as_ref().and_then(|own| own.below("id2label"));
        let name = |class: usize| {
            let number = class.to_string();
            let Some((file, name)) = names
                .as_ref()
                .and_then(|own| Some((own, own.root.get(&number)?)))
            else {
                return Ok(number);
            };
            match name.text() {
                Some(text) => Ok(text.to_owned()),
                None => Err(file.wrong(&number, name, "the name of a class")),
            }
        };
        (0..count).map(name).collect()
    }

    /// How a conversation is written: `chat_template.jinja`, else `chat_template` of `tokenizer_config.json`, the one
    /// called `default` if there are several, else `tokenizer.chat_template` of a GGUF header. `text` has the special
    /// tokens that a GGUF header names by their ids.
    ///
    /// # Errors
    ///
    /// There is none, or one that cannot be parsed.
    pub fn template(&self, text: &Text) -> Result<ChatTemplate, FolderError> {
        let tokens = self.special_tokens(text)?;
        if let Some(file) = &self.template {
            return ChatTemplate::new(file.clone(), tokens);
        }
        if let Some(config) = &self.tokenizer
            && let Some(found) = config
                .root
                .get("chat_template")
                .filter(|own| !own.is_null())
        {
            let named = found.elements().and_then(|all| {
                let is_default =
                    |own: &&Value| own.get("name").and_then(Value::text) == Some("default");
                all.iter().find(is_default)?.get("template")
            });
            let source = named.unwrap_or(found).text();
            let source = source.ok_or_else(|| {
                config.wrong(
                    "chat_template",
                    found,
                    "a text, or several of which one is called `default`",
                )
            })?;
            let name = format!("{}: chat_template", config.file.name());
            return ChatTemplate::new(SourceFile::new(name, source), tokens);
        }
        let header = self.files.header();
        let source = header
            .as_ref()
            .and_then(|header| header.meta("tokenizer.chat_template"));
        let Some(source) = source.and_then(MetaValue::text) else {
            let path = self.files.folder().to_owned();
            return Err(FolderError::NoTemplate { path });
        };
        let name = format!("{}: tokenizer.chat_template", self.files.config.name());
        ChatTemplate::new(SourceFile::new(name, source), tokens)
    }

    /// The special tokens by the names that templates have for them.
    fn special_tokens(&self, text: &Text) -> Result<Vec<(&'static str, String)>, FolderError> {
        let mut tokens = Vec::new();
        if let Some(config) = &self.tokenizer {
            for key in SPECIAL {
                let Some(found) = config.root.get(key).filter(|own| !own.is_null()) else {
                    continue;
                };
                let token = found.text().or_else(|| found.get("content")?.text());
                let token = token.ok_or_else(|| config.wrong(key, found, "a token"))?;
                tokens.push((key, token.to_owned()));
            }
            return Ok(tokens);
        }
        if let Some(header) = self.files.header() {
            for (name, key) in HEADER_SPECIAL {
                let id = header.meta(key).and_then(MetaValue::natural);
                let id = id.and_then(|id| u32::try_from(id).ok());
                tokens.extend(id.and_then(|id| Some((name, text.token(id)?))));
            }
        }
        Ok(tokens)
    }
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
