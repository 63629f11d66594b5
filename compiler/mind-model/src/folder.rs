//! The files of a model.

use std::io;
use std::path::{Path, PathBuf};

use mind_diag::{Diagnostics, SourceFile};
use mind_driver::host::{Contents, Host};
use mind_irv2::checkpoint::{Checkpoint, Source};
use mind_irv2::{Document, hf};
use mind_weights::{FileError, WeightFile, shards};

/// The most bytes of a `config.json`, an index or a tokenizer.
const TEXT_LIMIT: u64 = 64 << 20;

/// Why the files of a model are none.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file that cannot be read.
    #[error("{}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// There is nothing to make a model of.
    #[error("{}: no `model.safetensors`, `model.safetensors.index.json` or `.gguf` file", path.display())]
    NoWeights {
        /// The folder.
        path: PathBuf,
    },
    /// A weight file that is none.
    #[error("{name}: {error}")]
    Weights {
        /// The file.
        name: String,
        /// What is wrong with it.
        error: FileError,
    },
    /// What the configuration or the tensors say is no model.
    #[error("{}", messages(.0))]
    Rejected(Diagnostics),
}

fn messages(found: &Diagnostics) -> String {
    let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    messages.join("; ")
}

/// The contents of a model's files: a folder as Hugging Face has them, or one GGUF file.
pub struct Files {
    /// `config.json`, for diagnostics; without text where there is none.
    pub config: SourceFile,
    has_config: bool,
    weights: Vec<(String, Contents)>,
    /// The text of `tokenizer.json`, if there is one.
    pub tokenizer: Option<Vec<u8>>,
}

impl Files {
    /// Finds and maps the files at `path`.
    ///
    /// Errors: a file that cannot be read, a folder without weights.
    pub fn open(path: &Path, host: &mut dyn Host) -> Result<Files, FolderError> {
        if path.extension().is_some_and(|end| end == "gguf") {
            let name = path.display().to_string();
            return Ok(Files {
                config: SourceFile::new(name.clone(), String::new()),
                has_config: false,
                weights: vec![(name, map(path, host)?)],
                tokenizer: None,
            });
        }
        let config = path.join("config.json");
        let text = read(&config, host)?;
        let text = text.ok_or_else(|| refused(&config, &io::ErrorKind::NotFound.into()))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let index = path.join("model.safetensors.index.json");
        let names = match read(&index, host)? {
            Some(text) => {
                let listed = shards(&String::from_utf8_lossy(&text));
                listed.map_err(|error| FolderError::Weights {
                    name: index.display().to_string(),
                    error,
                })?
            }
            None => vec!["model.safetensors".to_owned()],
        };
        let mut weights = Vec::new();
        for name in names {
            let file = path.join(name);
            match map(&file, host) {
                Ok(contents) => weights.push((file.display().to_string(), contents)),
                Err(_) if weights.is_empty() && file.ends_with("model.safetensors") => {
                    let path = path.to_owned();
                    return Err(FolderError::NoWeights { path });
                }
                Err(why) => return Err(why),
            }
        }
        Ok(Files {
            config: SourceFile::new(config.display().to_string(), text),
            has_config: true,
            weights,
            tokenizer: read(&path.join("tokenizer.json"), host)?,
        })
    }

    /// The weight files, in order.
    pub fn weights(&self) -> Vec<&[u8]> {
        self.weights
            .iter()
            .map(|(_, contents)| &***contents)
            .collect()
    }

    /// The description of the model and its tensors.
    ///
    /// Errors: files that are broken, contradict each other or describe no supported model.
    pub fn model(&self) -> Result<(Document, Checkpoint<'_>), FolderError> {
        let mut sources = Vec::new();
        for (name, contents) in &self.weights {
            let file = WeightFile::parse(contents).map_err(|error| FolderError::Weights {
                name: name.clone(),
                error,
            })?;
            let name = name.clone();
            sources.push(Source { name, file });
        }
        let text = self.has_config.then(|| self.config.text());
        let (document, _) = hf::document(text, &sources).map_err(FolderError::Rejected)?;
        let checkpoint = Checkpoint::new(&document.config, &sources);
        Ok((document, checkpoint.map_err(FolderError::Rejected)?))
    }
}

fn refused(path: &Path, why: &io::Error) -> FolderError {
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

/// The bytes of a small file; none where there is none.
fn read(path: &Path, host: &mut dyn Host) -> Result<Option<Vec<u8>>, FolderError> {
    match host.read(path, TEXT_LIMIT) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(refused(path, &why)),
    }
}

fn map(path: &Path, host: &mut dyn Host) -> Result<Contents, FolderError> {
    host.map(path).map_err(|why| refused(path, &why))
}
