//! Files of a model: configuration, weights and tokenizer.

use std::io;
use std::path::{Path, PathBuf};

use mind_diag::{Diagnostic, Diagnostics, Severity, SourceFile, Span};
use mind_driver::host::{Contents, FileSystem};
use mind_irv2::checkpoint::{Checkpoint, Source, without_missing_biases};
use mind_irv2::family::FILE_NAMES;
use mind_irv2::{
    Document, Families, Family, FamilyError, FamilyFiles, ReadOptions, document_family, hf,
    is_document, read as read_document,
};
use mind_weights::{Container, FileError, WeightFile, part_names, shards};

/// The maximal size of a `config.json`, a weight index or a tokenizer, in bytes.
pub(crate) const TEXT_LIMIT: u64 = 64 << 20;

/// Why the files of a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file cannot be read.
    #[error("{}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error message.
        reason: String,
    },
    /// The folder has no weight files.
    #[error(
        "{}: no weights: there is no `model.safetensors`, `model.safetensors.index.json` or `.gguf` file",
        if path.as_os_str().is_empty() { Path::new(".") } else { path }.display()
    )]
    NoWeights {
        /// The folder.
        path: PathBuf,
    },
    /// Several files could be the weights.
    #[error("{}: several `.gguf` files, {}; name one of them", path.display(), names.join(", "))]
    Several {
        /// The folder.
        path: PathBuf,
        /// The files.
        names: Vec<String>,
    },
    /// A weight file is malformed.
    #[error("{name}: {error}")]
    Weights {
        /// The file.
        name: String,
        /// What is wrong with it.
        error: FileError,
    },
    /// A file of `--kernel-maps` is malformed.
    #[error("{}: {}", .0.file.name(), messages(&.0.found))]
    Family(Box<FamilyError>),
    /// The configuration or the tensors do not describe a supported model.
    #[error("{}", messages(.0))]
    Rejected(Diagnostics),
    /// A text, generation or preprocessor configuration is malformed or unsupported.
    #[error("{}: {}", .1.name(), messages(.0))]
    Text(Diagnostics, Box<SourceFile>),
    /// No file has the start token of the decoder.
    #[error(
        "{}: no `decoder_start_token_id`, in generation_config.json or config.json, for the decoder to start from",
        path.display()
    )]
    NoStart {
        /// The folder.
        path: PathBuf,
    },
    /// The model does not have this language or task.
    #[error(
        "{}: unknown {what} `{word}`: {}",
        path.display(),
        if names.is_empty() { "the model does not list any".to_owned() } else { format!("expected one of {}", names.join(", ")) }
    )]
    NoWord {
        /// The folder.
        path: PathBuf,
        /// Whether it is a language or a task.
        what: String,
        /// The requested language or task.
        word: String,
        /// The languages or tasks of the model.
        names: Vec<String>,
    },
    /// No file has a chat template.
    #[error(
        "{}: no chat template, which is `chat_template.jinja`, `chat_template` of tokenizer_config.json or \
         `tokenizer.chat_template` of a GGUF header",
        path.display()
    )]
    NoTemplate {
        /// The folder.
        path: PathBuf,
    },
}

impl FolderError {
    /// Returns the errors in the content of a file, and the file; `None` is the file that describes the model.
    ///
    /// # Errors
    ///
    /// Returns `self` if the error is not about the content of a file.
    pub fn diagnostics(self) -> Result<(Diagnostics, Option<SourceFile>), FolderError> {
        match self {
            FolderError::Rejected(found) => Ok((found, None)),
            FolderError::Family(own) => Ok((own.found, Some(own.file))),
            FolderError::Text(found, file) => Ok((found, Some(*file))),
            FolderError::Weights { name, error } => {
                let found = Diagnostic::error(Span::FILE, error.to_string()).code(FileError::CODE);
                Ok((found.into(), Some(SourceFile::new(name, ""))))
            }
            FolderError::Read { .. }
            | FolderError::NoWeights { .. }
            | FolderError::NoTemplate { .. }
            | FolderError::NoStart { .. }
            | FolderError::NoWord { .. }
            | FolderError::Several { .. } => Err(self),
        }
    }
}

fn messages(found: &Diagnostics) -> String {
    let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    messages.join("; ")
}

/// The format of the model's description.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Description {
    /// The header of a GGUF file.
    Header,
    /// A `config.json`.
    Config,
    /// An IR v2 document.
    Document,
}

/// The opened files of a model.
pub struct Files {
    /// The text that describes the model, for diagnostics; empty if a GGUF header describes it.
    pub config: SourceFile,
    description: Description,
    folder: PathBuf,
    weights: Vec<(String, Contents)>,
    /// The families that are matched with the description.
    families: Families,
    /// The text of `tokenizer.json`, if there is one.
    pub tokenizer: Option<Vec<u8>>,
}

/// Where the weights of a model are searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WeightsAt<'p> {
    /// In the folder of the description. It may have none.
    Beside,
    /// As [`Beside`](WeightsAt::Beside) for a `config.json`; nowhere for an IR v2 document, because a document is
    /// complete without weights.
    BesideConfig,
    /// In this file or folder.
    Path(&'p Path),
}

impl Files {
    /// Finds and maps the files at `path`: a Hugging Face model folder, its `config.json`, an IR v2 document, a GGUF
    /// file, or a folder with a single GGUF file. `-` reads the description from standard input.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
    pub fn open(
        path: &Path,
        weights: WeightsAt<'_>,
        host: &mut dyn FileSystem,
    ) -> Result<Files, FolderError> {
        if is_called(path, "gguf") {
            let folder = path.parent().map(Path::to_owned).unwrap_or_default();
            return Ok(Files {
                config: SourceFile::new(path.display().to_string(), String::new()),
                description: Description::Header,
                weights: parts(path, host)?,
                families: Families::default(),
                tokenizer: read(&folder.join("tokenizer.json"), host)?,
                folder,
            });
        }
        let Some((folder, name, bytes)) = described(path, host)? else {
            let names = gguf_in(path, host)?;
            let Some(name) = names.first() else {
                let config = path.join("config.json");
                return Err(refused(&config, &io::ErrorKind::NotFound.into()));
            };
            return Files::open(&path.join(name), weights, host);
        };
        let text = String::from_utf8(bytes).map_err(|error| not_utf8(&name, &error))?;
        let description = if is_document(&text) {
            Description::Document
        } else {
            Description::Config
        };
        let weights = match weights {
            WeightsAt::Path(path) if is_called(path, "gguf") => parts(path, host)?,
            WeightsAt::Path(path) if is_called(path, "safetensors") => {
                vec![(path.display().to_string(), map(path, host)?)]
            }
            WeightsAt::Path(path) => weights_in(path, host)?,
            WeightsAt::BesideConfig if description == Description::Document => Vec::new(),
            WeightsAt::Beside | WeightsAt::BesideConfig => weights_in(&folder, host)?,
        };
        Ok(Files {
            config: SourceFile::new(name.display().to_string(), text),
            description,
            weights,
            families: Families::default(),
            tokenizer: read(&folder.join("tokenizer.json"), host)?,
            folder,
        })
    }

    /// Adds the family described in `folder` (`--kernel-maps`). It takes precedence over a shipped family of the same
    /// name. Without `family.json`, the other files complete the family of the model.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is malformed, or the folder has none of the files.
    pub fn with_kernel_maps(
        mut self,
        folder: &Path,
        host: &mut dyn FileSystem,
    ) -> Result<Files, FolderError> {
        let mut text = |name: &str| -> Result<Option<SourceFile>, FolderError> {
            let path = folder.join(name);
            let Some(bytes) = read(&path, host)? else {
                return Ok(None);
            };
            let text = String::from_utf8(bytes).map_err(|error| not_utf8(&path, &error))?;
            Ok(Some(SourceFile::new(path.display().to_string(), text)))
        };
        let [family, globals, plan, encoder, tensors] = FILE_NAMES;
        let own = text(family)?;
        let others = [text(globals)?, text(plan)?, text(encoder)?, text(tensors)?];
        let completes_plan = own.is_none();
        let family = match own {
            Some(own) => own,
            None if others.iter().all(Option::is_none) => {
                return Err(refused(
                    &folder.join(family),
                    &io::ErrorKind::NotFound.into(),
                ));
            }
            // A model of no supported family is refused when it is read.
            None => match self.family()?.and_then(Family::shipped_file) {
                Some(of_model) => of_model,
                None => return Ok(self),
            },
        };
        let [global_buffers, layer_plan, encoder_layer_plan, tensors] = others;
        let files = FamilyFiles {
            family,
            global_buffers,
            layer_plan,
            encoder_layer_plan,
            tensors,
            completes_plan,
        };
        let own = Family::read(&files).map_err(FolderError::Family)?;
        self.families = Families::with(own);
        Ok(self)
    }

    /// The shipped family of the model, if it has one.
    fn family(&self) -> Result<Option<Family>, FolderError> {
        let families = Families::default();
        Ok(match self.description {
            Description::Header => hf::family(None, &self.sources()?, families),
            Description::Config => hf::family(Some(self.config.text()), &[], families),
            Description::Document => document_family(self.config.text(), families),
        })
    }

    /// Returns the weight files, in order.
    pub fn weights(&self) -> Vec<&[u8]> {
        self.weights
            .iter()
            .map(|(_, contents)| &***contents)
            .collect()
    }

    /// Returns the contents of the weight files as the host provides them, in order.
    pub fn contents(&self) -> Vec<&Contents> {
        self.weights.iter().map(|(_, contents)| contents).collect()
    }

    /// Returns the paths of the weight files, in order.
    pub fn weight_paths(&self) -> Vec<PathBuf> {
        let names = self.weights.iter();
        names.map(|(name, _)| PathBuf::from(name)).collect()
    }

    /// Returns the folder of the model.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the first weight file if it is a GGUF file, whose header has metadata besides the tensors.
    pub(crate) fn header(&self) -> Option<WeightFile<'_>> {
        let (_, contents) = self.weights.first()?;
        let file = WeightFile::parse(contents).ok()?;
        (file.container() == Container::Gguf).then_some(file)
    }

    /// Returns whether an IR v2 document describes the model.
    pub fn is_document(&self) -> bool {
        self.description == Description::Document
    }

    /// Returns whether there are weight files.
    pub fn has_weights(&self) -> bool {
        !self.weights.is_empty()
    }

    /// Returns the description of the model, completed from its weights if there are any, with warnings.
    ///
    /// # Errors
    ///
    /// The files are malformed, contradict each other or describe an unsupported model.
    pub fn document(&self, options: &ReadOptions) -> Result<(Document, Diagnostics), FolderError> {
        self.described_by(&self.sources()?, options)
    }

    /// Returns the description of the model and its tensors, with warnings.
    ///
    /// # Errors
    ///
    /// Those of [`Files::document`]; the weight files are missing.
    pub fn model(&self) -> Result<(Document, Checkpoint<'_>, Diagnostics), FolderError> {
        self.model_with(&ReadOptions::default())
    }

    /// As [`Files::model`], with `options` for reading an IR v2 document.
    ///
    /// # Errors
    ///
    /// Those of [`Files::model`].
    pub fn model_with(
        &self,
        options: &ReadOptions,
    ) -> Result<(Document, Checkpoint<'_>, Diagnostics), FolderError> {
        if !self.has_weights() {
            let path = self.folder.clone();
            return Err(FolderError::NoWeights { path });
        }
        let sources = self.sources()?;
        let (document, warnings) = self.described_by(&sources, options)?;
        let checkpoint = Checkpoint::new(&document.config, &sources);
        let checkpoint = checkpoint.map_err(FolderError::Rejected)?;
        Ok((document, checkpoint, warnings))
    }

    fn sources(&self) -> Result<Vec<Source<'_>>, FolderError> {
        let mut files = Vec::new();
        for (name, contents) in &self.weights {
            let name = name.clone();
            match WeightFile::parse(contents) {
                Ok(file) => files.push((name, file)),
                Err(error) => return Err(FolderError::Weights { name, error }),
            }
        }
        let is_gguf = |(_, file): &(String, WeightFile<'_>)| file.container() == Container::Gguf;
        let Some((name, _)) = files.first().filter(|_| files.iter().all(is_gguf)) else {
            let source = |(name, file)| Source { name, file };
            return Ok(files.into_iter().map(source).collect());
        };
        let name = name.clone();
        let joined = WeightFile::join(files);
        let file = joined.map_err(|(name, error)| FolderError::Weights { name, error })?;
        Ok(vec![Source { name, file }])
    }

    fn described_by(
        &self,
        sources: &[Source<'_>],
        options: &ReadOptions,
    ) -> Result<(Document, Diagnostics), FolderError> {
        let options = ReadOptions {
            families: self.families,
            ..*options
        };
        let described = match self.description {
            Description::Header => hf::document(None, sources, self.families),
            Description::Config => hf::document(Some(self.config.text()), sources, self.families),
            Description::Document => read_document(self.config.text(), &options),
        };
        let (mut document, mut warnings) = described.map_err(FolderError::Rejected)?;
        if self.description == Description::Document && !sources.is_empty() {
            document.config = without_missing_biases(&document.config, sources);
        }
        let unread: Vec<&str> = document.config.unread_weights().collect();
        if !unread.is_empty() {
            let message = format!(
                "no step of the plan reads the weights {}",
                unread.join(", ")
            );
            let help = "bind them in `decoder_layer_plan.json` or `encoder_layer_plan.json`";
            let found = Diagnostic::new(Severity::Warning, Span::FILE, message);
            warnings.push(found.code(mind_irv2::codes::FLOW).help(help));
        }
        Ok((document, warnings))
    }
}

fn is_called(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|own| own == end)
}

/// The folder, the path and the bytes of the text that describes a model.
type Described = (PathBuf, PathBuf, Vec<u8>);

/// Returns the description of the model at `path`; `None` for a folder without one.
fn described(path: &Path, host: &mut dyn FileSystem) -> Result<Option<Described>, FolderError> {
    if path == Path::new("-") {
        let bytes = host.read_stdin(TEXT_LIMIT);
        let name = PathBuf::from("<stdin>");
        let bytes = bytes.map_err(|why| refused(&name, &why))?;
        return Ok(Some((PathBuf::new(), name, bytes)));
    }
    match host.read(path, TEXT_LIMIT) {
        Ok(bytes) => {
            let folder = path.parent().map(Path::to_owned).unwrap_or_default();
            return Ok(Some((folder, path.to_owned(), bytes)));
        }
        Err(why) if why.kind() == io::ErrorKind::IsADirectory => {}
        Err(why) => return Err(refused(path, &why)),
    }
    for name in ["config.json", "ir_v2.json"] {
        let name = path.join(name);
        if let Some(bytes) = read(&name, host)? {
            return Ok(Some((path.to_owned(), name, bytes)));
        }
    }
    Ok(None)
}

/// Maps the weight files of a folder: safetensors in one or several shards, or else GGUF.
fn weights_in(
    folder: &Path,
    host: &mut dyn FileSystem,
) -> Result<Vec<(String, Contents)>, FolderError> {
    let index = folder.join("model.safetensors.index.json");
    let names = match read(&index, host)? {
        Some(text) => {
            let listed = shards(&String::from_utf8_lossy(&text));
            listed.map_err(|error| FolderError::Weights {
                name: index.display().to_string(),
                error,
            })?
        }
        None => {
            let one = folder.join("model.safetensors");
            match host.map(&one) {
                Ok(contents) => return Ok(vec![(one.display().to_string(), contents)]),
                Err(why) if why.kind() == io::ErrorKind::NotFound => gguf_in(folder, host)?,
                Err(why) => return Err(refused(&one, &why)),
            }
        }
    };
    let file = |name: String| {
        let path = folder.join(name);
        Ok((path.display().to_string(), map(&path, host)?))
    };
    names.into_iter().map(file).collect()
}

/// Maps the GGUF file at `path`, or all shards of the split model that it belongs to.
fn parts(path: &Path, host: &mut dyn FileSystem) -> Result<Vec<(String, Contents)>, FolderError> {
    let name = path.file_name().and_then(|name| name.to_str());
    let paths = match name.and_then(part_names) {
        Some(names) => names.iter().map(|name| path.with_file_name(name)).collect(),
        None => vec![path.to_owned()],
    };
    let part = |path: PathBuf| Ok((path.display().to_string(), map(&path, host)?));
    paths.into_iter().map(part).collect()
}

/// Returns the name of the GGUF file of a folder, or those of all shards of a split model.
fn gguf_in(folder: &Path, host: &mut dyn FileSystem) -> Result<Vec<String>, FolderError> {
    let here = folder.as_os_str().is_empty();
    let names = match host.list(if here { Path::new(".") } else { folder }) {
        Ok(names) => names,
        Err(why) if why.kind() == io::ErrorKind::Unsupported => Vec::new(),
        Err(why) => return Err(refused(folder, &why)),
    };
    let names: Vec<String> = names
        .into_iter()
        .filter(|name| name.ends_with(".gguf"))
        .collect();
    // A missing shard is reported when it is opened.
    let parts = names.first().and_then(|name| part_names(name));
    let parts = parts.filter(|parts| names.iter().all(|name| parts.contains(name)));
    match (parts, names.len()) {
        (Some(parts), _) => Ok(parts),
        (None, 0 | 1) => Ok(names),
        (None, _) => Err(FolderError::Several {
            path: folder.to_owned(),
            names,
        }),
    }
}

fn not_utf8(path: &Path, error: &std::string::FromUtf8Error) -> FolderError {
    let at = error.utf8_error().valid_up_to();
    FolderError::Read {
        path: path.to_owned(),
        reason: format!("the bytes at offset {at} are not UTF-8"),
    }
}

pub(crate) fn refused(path: &Path, why: &io::Error) -> FolderError {
    let reason = match why.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => why.to_string(),
    };
    FolderError::Read {
        path: path.to_owned(),
        reason,
    }
}

/// Reads a small file; returns `None` if it does not exist.
pub(crate) fn read(path: &Path, host: &mut dyn FileSystem) -> Result<Option<Vec<u8>>, FolderError> {
    match host.read(path, TEXT_LIMIT) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(refused(path, &why)),
    }
}

fn map(path: &Path, host: &mut dyn FileSystem) -> Result<Contents, FolderError> {
    host.map(path).map_err(|why| refused(path, &why))
}
