//! What the table says of a format.

use std::fmt;

use mind_diag::{Diagnostics, SourceFile};
use mind_draw::Detail;
use mind_ir::Graph;
use mind_ir::verify::Profile;
use mind_irv2::graph::document::Padding;
use mind_text::Limits;

use super::text::{Format, Formats};
use crate::session::Session;

/// A format that modules, or descriptions of models, are read from or written to.
pub struct FormatInfo {
    /// What `--from` and `--to` call it.
    pub word: &'static str,
    /// What the names of its files end with.
    pub extensions: &'static [&'static str],
    /// What it is, in one line.
    pub summary: &'static str,
    /// The text format that it is, if it is one.
    pub text: Option<Format>,
    /// Whether a text looks like it; `None` if no text does, so that the word or the file's name says it.
    pub sniff: Option<fn(&str) -> bool>,
    /// How it is read, if it is.
    pub read: Option<Read>,
    /// How it is written, if it is.
    pub write: Option<Write>,
}

/// How a format is read.
#[derive(Clone, Copy)]
pub enum Read {
    /// A text is a module; the offset is added to every span.
    Text(fn(&Formats, &str, u32, &LoadOptions) -> Result<Graph, Diagnostics>),
    /// A folder has a file that holds a program of MIL, which reads as that of a text of [`Format::Mil`] does. The
    /// name of the file is for diagnostics.
    Package(fn(&str, &[u8], &Limits) -> ReadProgram),
    /// Files describe a model; `mind-model` reads them.
    Model,
}

/// A file, for its diagnostics, and the program in it.
pub type ReadProgram = (SourceFile, Result<Graph, Diagnostics>);

/// How a format is written.
#[derive(Clone, Copy)]
pub enum Write {
    /// As text.
    Text(Print),
    /// As text, of a module that is lowered to MIL first.
    Program(Print),
    /// As a folder, of a module that is lowered to MIL first.
    Package,
    /// As C: of a module, or of a model that is described.
    C(Print),
    /// As a drawing.
    Drawing(Print),
    /// As a document that describes a model.
    Description,
}

/// Writes a module as text.
pub type Print = fn(&Session, &Graph, &WriteOptions<'_>) -> Result<String, Diagnostics>;

/// What some formats are asked for.
#[derive(Clone, Copy)]
pub struct WriteOptions<'a> {
    /// What the module is called in a page about it.
    pub name: &'a str,
    /// The format that it was read from.
    pub input: &'static FormatInfo,
    /// What its function in C is called.
    pub function: &'a str,
    /// Whether its C is a program.
    pub has_main: bool,
    /// How much of it is drawn.
    pub detail: Detail,
}

impl FormatInfo {
    /// Whether it describes a model, not a module.
    pub fn is_description(&self) -> bool {
        matches!(self.read, Some(Read::Model)) || matches!(self.write, Some(Write::Description))
    }
}

impl fmt::Debug for FormatInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word)
    }
}

impl PartialEq for FormatInfo {
    fn eq(&self, other: &FormatInfo) -> bool {
        self.word == other.word
    }
}

/// How a module is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions {
    /// The format; `None` to tell it from the content.
    pub from: Option<&'static FormatInfo>,
    /// What the text may take.
    pub limits: Limits,
    /// What the module may use.
    pub profile: Profile,
    /// What becomes of the padding of weights in IR v2 documents.
    pub padding: Padding,
}
