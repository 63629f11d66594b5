//! What the files of a sentence embedding model say beside the encoder: how the vectors of tokens become one.

use std::io;
use std::path::{Component, Path, PathBuf};

use mind_diag::{Code, Diagnostic, SourceFile, Span};
use mind_driver::host::FileSystem;
use mind_json::{Limits, Value};
use mind_weights::MetaValue;

use crate::folder::{Files, FolderError, TEXT_LIMIT, refused as unreadable};
use crate::pooling::Pooling;

/// A text that is no JSON.
const SYNTAX: Code = Code(4201);
/// A key that must stand there is missing.
const MISSING: Code = Code(4202);
/// A value of another kind than its key asks for.
const KIND: Code = Code(4204);
/// A model that is not supported.
const UNSUPPORTED: Code = Code(4211);

/// How the vector of a text is made of those of its tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Embedding {
    /// How the vectors become one.
    pub pooling: Pooling,
    /// Whether its length is made 1.
    pub normalizes: bool,
}

/// What every configuration of pooling has in front of its ways.
const MODE: &str = "pooling_mode_";

/// The keys of configurations of pooling, for the ways that there are.
const MODES: [(&str, &str, Pooling); 2] = [
    ("pooling_mode_cls_token", "cls", Pooling::Cls),
    ("pooling_mode_mean_tokens", "mean", Pooling::Mean),
];

impl Embedding {
    /// Reads how the folder of `files` pools vectors: `modules.json` lists the modules, and each pooling has a `config.json`.
    /// Without that list `1_Pooling/config.json` is read, else `pooling_type` of a GGUF header; if all are missing, vectors
    /// become their mean.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, a way of pooling or a module that there is not.
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
                    let help = "a pooling and whether to normalise, if both are given, replace what this file says";
                    let found = Diagnostic::error(value.span, message).code(UNSUPPORTED);
                    return Err(refused(&file, found.help(help)));
                }
            }
        }
        Ok(own)
    }
}

/// The most tokens of a text that the files of a sentence embedding model say: `max_seq_length` of `sentence_bert_config.json`,
/// else `model_max_length` of `tokenizer_config.json`; `None` if they say none.
///
/// # Errors
///
/// A file that cannot be read, a value that is no number of tokens.
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
        // A tokenizer without a limit says 10^30, as an integer or a float.
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

/// The way of pooling that the header of a GGUF file says; `None` if it says none.
///
/// # Errors
///
/// Another way than those that there are.
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
            let help =
                "0 says nothing, 1 is the mean of the vectors of tokens, 2 that of the first token";
            Err(refused(&files.config, found.help(help)))
        }
    }
}

/// The way of pooling that the `config.json` of the folder `below` another one says; `None` if there is no such file.
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
            // Several ways make a vector of several, one behind the other.
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

/// The JSON file `below` a folder with its text; `None` if there is none.
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
