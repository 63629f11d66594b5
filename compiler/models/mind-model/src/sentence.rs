//! Configuration of sentence embedding models: pooling and normalisation.

use std::io;
use std::path::{Component, Path, PathBuf};

use mind_diag::{Code, Diagnostic, SourceFile, Span};
use mind_driver::host::FileSystem;
use mind_json::{Limits, Value};
use mind_weights::MetaValue;

use crate::folder::{Files, FolderError, TEXT_LIMIT, refused as unreadable};
use crate::pooling::Pooling;

/// The text is not valid JSON.
const SYNTAX: Code = Code(4201);
/// A required key is missing.
const MISSING: Code = Code(4202);
/// A value has another type than its key requires.
const KIND: Code = Code(4204);
/// The model is not supported.
const UNSUPPORTED: Code = Code(4211);

/// How hidden states become the embedding of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Embedding {
    /// The pooling.
    pub pooling: Pooling,
    /// Whether the embedding is scaled to length 1.
    pub normalizes: bool,
}

/// The prefix of the boolean keys of a pooling configuration.
const MODE: &str = "pooling_mode_";

/// The supported poolings: the boolean key, the value of `pooling_mode`, and the pooling.
const MODES: [(&str, &str, Pooling); 2] = [
    ("pooling_mode_cls_token", "cls", Pooling::Cls),
    ("pooling_mode_mean_tokens", "mean", Pooling::Mean),
];

impl Embedding {
    /// Reads the pooling of the folder of `files`. `modules.json` lists the modules, and each pooling module has a
    /// `config.json`. Without that list `1_Pooling/config.json` is read, else `pooling_type` of a GGUF header; the
    /// default is the mean.
    ///
    /// # Errors
    ///
    /// A file cannot be read; a pooling or a module is not supported.
    pub fn of(files: &Files, host: &mut dyn FileSystem) -> Result<Embedding, FolderError> {
        let mut own = Embedding {
            pooling: Pooling::Mean,
            normalizes: false,
        };
        let folder = files.folder();
        let Some((file, root)) = json(folder, Path::new("modules.json"), host)? else {
            if let Some(pooling) = pooling(folder, Path::new("1_Pooling"), host)? {
                own.pooling = pooling;
            } else if let Some(pooling) = of_header(files)? {
                own.pooling = pooling;
            }
            return Ok(own);
        };
        let Some(modules) = root.elements() else {
            return Err(wrong(&file, "a list of modules", &root));
        };
        for module in modules {
            let Some((kind, value)) = module.get("type").and_then(|own| Some((own.text()?, own)))
            else {
                return Err(wrong(&file, "an object with the text `type`", module));
            };
            match kind.rsplit('.').next() {
                Some("Transformer") => {}
                Some("Normalize") => own.normalizes = true,
                Some("Pooling") => {
                    let path = module.get("path").and_then(Value::text).unwrap_or("");
                    let path = Path::new(path);
                    let is_below = |part: Component<'_>| matches!(part, Component::Normal(_));
                    if !path.components().all(is_below) {
                        return Err(wrong(&file, "a folder below this one as `path`", module));
                    }
                    if let Some(pooling) = pooling(folder, path, host)? {
                        own.pooling = pooling;
                    }
                }
                Some(_) | None => {
                    let message = format!("modules of type {} are not supported", value.describe());
                    let help =
                        "give both the pooling and whether to normalise, which replaces this file";
                    let found = Diagnostic::error(value.span, message).code(UNSUPPORTED);
                    return Err(refused(&file, found.help(help)));
                }
            }
        }
        Ok(own)
    }
}

/// Returns the maximal number of tokens of a text: `max_seq_length` of `sentence_bert_config.json`, else
/// `model_max_length` of `tokenizer_config.json`; `None` if neither is given.
///
/// # Errors
///
/// A file cannot be read; a value is not a number of tokens.
pub fn most_tokens(files: &Files, host: &mut dyn FileSystem) -> Result<Option<usize>, FolderError> {
    let keys = [
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
    ];
    for (name, key) in keys {
        let Some((file, root)) = json(files.folder(), Path::new(name), host)? else {
            continue;
        };
        let Some(value) = root.get(key).filter(|own| !own.is_null()) else {
            continue;
        };
        // Tokenizers without a limit have 10^30, as an integer or a float.
        return match (value.integer(), value.real()) {
            (Some(own), _) if own > 0 => Ok(usize::try_from(own).ok()),
            (_, Some(own)) if own >= 1e9 => Ok(None),
            _ => Err(wrong(
                &file,
                &format!("a number of tokens as `{key}`"),
                value,
            )),
        };
    }
    Ok(None)
}

/// Returns the pooling of the header of a GGUF file; `None` if it has none.
///
/// # Errors
///
/// The pooling is not supported.
fn of_header(files: &Files) -> Result<Option<Pooling>, FolderError> {
    let Some(header) = files.header() else {
        return Ok(None);
    };
    let word = header
        .meta("general.architecture")
        .and_then(MetaValue::text);
    let key = format!("{}.pooling_type", word.unwrap_or_default());
    let Some(value) = header.meta(&key) else {
        return Ok(None);
    };
    match value.natural() {
        Some(0) => Ok(None),
        Some(1) => Ok(Some(Pooling::Mean)),
        Some(2) => Ok(Some(Pooling::Cls)),
        Some(_) | None => {
            let message = format!("`{key}` is {value}, which is not supported");
            let found = Diagnostic::error(Span::FILE, message).code(UNSUPPORTED);
            let help = "expected 0 (unspecified), 1 (mean) or 2 (first token)";
            Err(refused(&files.config, found.help(help)))
        }
    }
}

/// Returns the pooling of the `config.json` in the folder `below`, relative to `folder`; `None` if that file does
/// not exist.
fn pooling(
    folder: &Path,
    below: &Path,
    host: &mut dyn FileSystem,
) -> Result<Option<Pooling>, FolderError> {
    let Some((file, root)) = json(folder, &below.join("config.json"), host)? else {
        return Ok(None);
    };
    let Some(members) = root.members() else {
        return Err(wrong(&file, "an object", &root));
    };
    let unsupported = |key: &str, value: &Value| {
        let message = format!("`{key}` is {}, which is not supported", value.describe());
        let found = Diagnostic::error(value.span, message).code(UNSUPPORTED);
        let help = "vectors of tokens become their mean or that of the first token";
        Err(refused(&file, found.help(help)))
    };
    if let Some(value) = root.get("pooling_mode") {
        let named = MODES
            .iter()
            .find(|(_, word, _)| Some(*word) == value.text());
        return match named {
            Some((_, _, pooling)) => Ok(Some(*pooling)),
            None => unsupported("pooling_mode", value),
        };
    }
    let mut said = None;
    for member in members.iter().filter(|own| own.key.starts_with(MODE)) {
        if member.value.truth() == Some(false) {
            continue;
        }
        let known = MODES.iter().find(|(key, _, _)| *key == member.key);
        match (known, member.value.truth()) {
            (_, None) => return Err(wrong(&file, "true or false", &member.value)),
            // Several poolings at once would concatenate their vectors.
            (Some((_, _, pooling)), Some(_)) if said.is_none() => said = Some(*pooling),
            (Some(_) | None, Some(_)) => return unsupported(&member.key, &member.value),
        }
    }
    match said {
        Some(pooling) => Ok(Some(pooling)),
        None => {
            let message = format!("no key `{MODE}...` is true");
            let found = Diagnostic::error(root.span, message).code(MISSING);
            Err(refused(&file, found))
        }
    }
}

/// Parses the JSON file `below`, relative to `folder`; returns `None` if it does not exist.
fn json(
    folder: &Path,
    below: &Path,
    host: &mut dyn FileSystem,
) -> Result<Option<(SourceFile, Value)>, FolderError> {
    let path = &folder.join(below);
    let bytes = match host.read_below(folder, below, TEXT_LIMIT) {
        Ok(bytes) => bytes,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(unreadable(path, &why)),
    };
    let text = String::from_utf8(bytes).map_err(|why| {
        let at = why.utf8_error().valid_up_to();
        let path: PathBuf = path.to_owned();
        let reason = format!("the bytes at offset {at} are not UTF-8");
        FolderError::Read { path, reason }
    })?;
    let file = SourceFile::new(path.display().to_string(), text);
    match mind_json::parse(file.text(), &Limits::default()) {
        Ok(root) => Ok(Some((file, root))),
        Err(found) => Err(refused(&file, found.code(SYNTAX))),
    }
}

fn wrong(file: &SourceFile, expected: &str, found: &Value) -> FolderError {
    let message = format!("found {}, expected {expected}", found.describe());
    refused(file, Diagnostic::error(found.span, message).code(KIND))
}

fn refused(file: &SourceFile, found: Diagnostic) -> FolderError {
    FolderError::Text(found.into(), Box::new(file.clone()))
}
