//! Text configuration of a model: end-of-sequence tokens, forced tokens, class names and the chat template.

use std::path::{Path, PathBuf};

use mind_diag::SourceFile;
use mind_driver::host::FileSystem;
use mind_irv2::Family;
use mind_json::Value;
use mind_weights::MetaValue;

use crate::chat::ChatTemplate;
use crate::folder::{Files, FolderError, read};
use crate::forced::Forced;
use crate::json_file::Json;
use crate::text::Text;

/// The keys of special tokens that templates may use.
const SPECIAL: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
];

/// The names of special tokens in templates, with their keys in a GGUF header.
const HEADER_SPECIAL: [(&str, &str); 3] = [
    ("bos_token", "tokenizer.ggml.bos_token_id"),
    ("eos_token", "tokenizer.ggml.eos_token_id"),
    ("pad_token", "tokenizer.ggml.padding_token_id"),
];

/// The keys of end-of-sequence tokens in a GGUF header.
const HEADER_ENDS: [&str; 2] = ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"];

/// The text-related files in the folder of a model.
pub struct TextFiles<'f> {
    files: &'f Files,
    /// The family of the model, which has the defaults of missing keys.
    family: Family,
    pub(crate) generation: Option<Json>,
    tokenizer: Option<Json>,
    template: Option<SourceFile>,
    /// The configuration of the audio feature extractor.
    pub(crate) extractor: Option<Json>,
}

impl<'f> TextFiles<'f> {
    /// Reads `generation_config.json`, `tokenizer_config.json`, `chat_template.jinja`, and `preprocessor_config.json`
    /// or `processor_config.json`, as far as they exist.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is not valid JSON.
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
        let json = |own: Option<SourceFile>| own.map(Json::parse).transpose();
        let extractor = match json(text("preprocessor_config.json")?)? {
            Some(own) => Some(own),
            None => {
                json(text("processor_config.json")?)?.and_then(|own| own.below("feature_extractor"))
            }
        };
        Ok(TextFiles {
            generation: json(text("generation_config.json")?)?,
            tokenizer: json(text("tokenizer_config.json")?)?,
            template: text("chat_template.jinja")?,
            extractor,
            files,
            family,
        })
    }

    /// Returns the folder of the model.
    pub(crate) fn folder(&self) -> &Path {
        self.files.folder()
    }

    /// Returns `config.json`, which was read before; `None` for a GGUF file.
    pub(crate) fn config(&self) -> Option<Json> {
        Json::parse(self.files.config.clone()).ok()
    }

    /// Returns the end-of-sequence tokens: those of `generation_config.json`, else of `config.json`, else of a GGUF
    /// header, else of the family.
    ///
    /// # Errors
    ///
    /// A value is not a token id.
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

    /// Returns the forced tokens of an encoder-decoder: `forced_bos_token_id` and `forced_eos_token_id` of
    /// `generation_config.json` or, if that file does not exist, of `config.json`, else of the family.
    ///
    /// # Errors
    ///
    /// A value is not a token id.
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

    /// Returns the start token of an encoder-decoder's decoder: `decoder_start_token_id` of `generation_config.json`,
    /// else of `config.json`, else of the family; otherwise `bos_token_id` of the same sources.
    ///
    /// # Errors
    ///
    /// A value is not a token id; no source has the token.
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

    /// Returns the names of `count` classes by number, from `id2label` of `config.json`. Classes without a name are
    /// called by their number.
    ///
    /// # Errors
    ///
    /// A name is not a string.
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

    /// Returns the chat template: `chat_template.jinja`, else `chat_template` of `tokenizer_config.json` (the one
    /// called `default` if there are several), else `tokenizer.chat_template` of a GGUF header. `text` decodes the
    /// special tokens that a GGUF header has as ids.
    ///
    /// # Errors
    ///
    /// The template is missing, or cannot be parsed.
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

    /// Returns the special tokens with their names in templates.
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
