//! Selects the format of an output file by `--to` and by its extension.

use std::path::Path;

use super::row::FormatInfo;
use super::table::FORMATS;

/// An output that the user requests.
#[derive(Clone, Copy)]
pub struct Output<'a> {
    /// The format of `--to`.
    pub to: Option<&'static FormatInfo>,
    /// The path of the file, unless it is standard output.
    pub path: Option<&'a str>,
    /// Whether this tool can write a format.
    pub writes: fn(&FormatInfo) -> bool,
}

/// Error of the selection of an output format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OutputError {
    /// `--to` and the extension contradict each other.
    #[error(
        "the extension of `{path}` is that of `{named}`, but the requested format is `{to}`, whose extension is \
         {ends}"
    )]
    Contradiction {
        /// The path.
        path: String,
        /// The format of the extension.
        named: &'static str,
        /// The format of `--to`.
        to: &'static str,
        /// The extensions of that format.
        ends: String,
    },
    /// The format of the extension cannot be written by this tool.
    #[error(
        "the extension of `{path}` is that of `{named}`, which this tool cannot write: expected {known}"
    )]
    NotWritten {
        /// The path.
        path: String,
        /// The format of the extension.
        named: &'static str,
        /// The extensions of the formats that can be written.
        known: String,
    },
    /// The extension is unknown.
    #[error("no format has the extension of `{path}`: expected {known}")]
    Unknown {
        /// The path.
        path: String,
        /// The extensions of the formats that can be written.
        known: String,
    },
}

impl Output<'_> {
    /// Returns the format of `--to`, or else the format of the extension; `None` if there is neither.
    ///
    /// If several formats share the extension, for example mic@1 and mic@2 share `.mic`, the format of the input is
    /// selected if it is one of them, and otherwise the first in the table. The unknown extension of a [temporary
    /// file](is_temporary) is ignored.
    ///
    /// # Errors
    ///
    /// Errors if the extension is unknown, belongs to another format than that of `--to`, or to a format that cannot be
    /// written.
    pub fn format(
        &self,
        input: Option<&FormatInfo>,
    ) -> Result<Option<&'static FormatInfo>, OutputError> {
        let Some((path, end)) = self.path.and_then(|path| Some((path, extension(path)?))) else {
            return Ok(self.to);
        };
        let mut named = FORMATS.iter().filter(|row| row.has_extension(end));
        let Some(first) = named.clone().next() else {
            return match self.to {
                None if !is_temporary(path) => Err(OutputError::Unknown {
                    path: path.to_owned(),
                    known: extensions(self.writes),
                }),
                asked => Ok(asked),
            };
        };
        if let Some(to) = self.to {
            return match named.any(|row| row == to) {
                true => Ok(Some(to)),
                false => Err(OutputError::Contradiction {
                    path: path.to_owned(),
                    named: first.word,
                    to: to.word,
                    ends: ends(to.extensions),
                }),
            };
        }
        let own = named.find(|row| input.is_some_and(|input| *row == input));
        let row = own.unwrap_or(first);
        match (self.writes)(row) {
            true => Ok(Some(row)),
            false => Err(OutputError::NotWritten {
                path: path.to_owned(),
                named: row.word,
                known: extensions(self.writes),
            }),
        }
    }
}

/// Returns the extension of a file name. An ending without a letter, for example in `model-v1.2`, is part of the name.
pub fn extension(path: &str) -> Option<&str> {
    let end = Path::new(path.trim_end_matches('/')).extension()?;
    let has_letter = |end: &&str| end.chars().any(char::is_alphabetic);
    end.to_str().filter(has_letter)
}

/// Returns whether a file name has a part `tmp`, for example `x.test.tmp.out`, which `%t.out` expands to in a lit test.
pub fn is_temporary(path: &str) -> bool {
    let name = Path::new(path).file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.split('.').skip(1).any(|part| part == "tmp"))
}

/// Lists the extensions of the formats that `meant` selects, without duplicates.
fn extensions(meant: fn(&FormatInfo) -> bool) -> String {
    let rows = FORMATS.iter().filter(|row| meant(row));
    let mut all: Vec<&str> = Vec::new();
    for end in rows.flat_map(|row| row.extensions) {
        if !all.contains(end) {
            all.push(end);
        }
    }
    ends(&all)
}

/// Lists extensions in a message.
fn ends(all: &[&str]) -> String {
    let words: Vec<String> = all.iter().map(|end| format!("`.{end}`")).collect();
    match words.as_slice() {
        [] => "no extension of their own".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
