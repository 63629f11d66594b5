//! The format of an output file, by `--to` and by the extension of its name.

use std::path::Path;

use super::row::FormatInfo;
use super::table::FORMATS;

/// The output that a user asks for.
#[derive(Clone, Copy)]
pub struct Output<'a> {
    /// The format that is asked for by its word.
    pub to: Option<&'static FormatInfo>,
    /// The file that is written, if it has a name.
    pub path: Option<&'a str>,
    /// Whether a format can be written here.
    pub writes: fn(&FormatInfo) -> bool,
}

/// Why the name of an output file leads to no format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OutputError {
    /// The format that is asked for is not that of the name.
    #[error(
        "`{path}` is named as a file of `{named}`, and the format asked for is `{to}`: files of it end in {ends}"
    )]
    Contradiction {
        /// The name.
        path: String,
        /// The format that the extension belongs to.
        named: &'static str,
        /// The format that is asked for.
        to: &'static str,
        /// The extensions of that format.
        ends: String,
    },
    /// The extension is that of a format that cannot be written here.
    #[error(
        "`{path}` is named as a file of `{named}`, which is not written here: names end in {known}"
    )]
    NotWritten {
        /// The name.
        path: String,
        /// The format that the extension belongs to.
        named: &'static str,
        /// The extensions of the formats that are.
        known: String,
    },
    /// No format has the extension.
    #[error("no format has the extension of `{path}`: names end in {known}")]
    Unknown {
        /// The name.
        path: String,
        /// The extensions of the formats that are written here.
        known: String,
    },
}

impl Output<'_> {
    /// Returns the format that is asked for, else the one that the extension selects; `None` where there is neither.
    ///
    /// An extension that several formats share, as `.mic` is of mic@1 and mic@2, selects `input` if it is one of them,
    /// else the first of the table. A name without an extension selects nothing, nor does that of a
    /// [temporary file](is_temporary) whose extension no format has.
    ///
    /// # Errors
    ///
    /// An extension of another format than the one asked for, of one that cannot be written here, or of none.
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

/// Returns the extension of a file's name. An ending without a letter, as in `model-v1.2`, is part of the name.
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

/// The extensions of the formats that are `meant`, each once.
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

/// Extensions as words of a message.
fn ends(all: &[&str]) -> String {
    let words: Vec<String> = all.iter().map(|end| format!("`.{end}`")).collect();
    match words.as_slice() {
        [] => "no extension of their own".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
