//! What the table says of a format.

use std::fmt;
use std::sync::Arc;

use mind_convert::Imported;
use mind_diag::{Diagnostics, SourceFile};
#[cfg(feature = "draw")]
use mind_draw::Detail;
use mind_ir::tensor::Tensor;
use mind_ir::verify::Profile;
use mind_ir::{Bytes, Graph};
#[cfg(feature = "irv2")]
use mind_irv2::graph::document::Padding;
use mind_text::Limits;

use super::text::Format;
use crate::host::FileBytes;
use crate::session::Session;

/// A format that modules, or descriptions of models, are read from or written to.
pub struct FormatInfo {
    /// What `--from` and `--to` call it.
    pub word: &'static str,
    /// What the names of its files end with.
    pub extensions: &'static [&'static str],
    /// What it is, in one line.
    pub summary: &'static str,
    /// Whether a text looks like it; `None` if no text does, so that the word or the file's name says it.
    pub sniff: Option<fn(&str) -> bool>,
    /// How it is read, if it is.
    pub read: Option<Read>,
    /// How it is written, if it is.
    pub write: Option<Write>,
    /// How much of a module's interface is written; `None` if the format does not describe a module.
    pub carries: Option<Carried>,
}

/// How much of a module's interface a format can represent; each level includes those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Carried {
    /// The names of inputs alone.
    Inputs,
    /// The names of outputs.
    Names,
    /// Metadata and descriptions.
    Described,
    /// Images and class labels.
    All,
}

/// How a format is read.
#[derive(Clone, Copy)]
pub enum Read {
    /// A text is a module.
    Module(Format),
    /// A text describes a model, of which a module is made.
    Document(fn(&str, &LoadOptions) -> Result<Graph, Diagnostics>),
    /// A text of another compiler is a module.
    Import(TextReader),
    /// A folder has a file that holds a program.
    Package(PackageReader),
    /// The bytes of a file are a module.
    Binary(BinaryReader),
    /// Files describe a model; `mind-model` reads them.
    Model,
}

/// How a file that is no text is read.
#[derive(Clone, Copy)]
pub struct BinaryReader {
    /// Whether bytes look like it.
    pub looks: fn(&[u8]) -> bool,
    /// The files beside it that hold elements of it, by their paths below its folder.
    pub files: fn(&[u8]) -> Vec<String>,
    /// The module that the bytes are.
    pub read: fn(Bytes, &LoadOptions) -> Result<Imported, Diagnostics>,
}

/// How a text of another compiler is read.
#[derive(Clone, Copy)]
pub struct TextReader {
    /// The module that the text is.
    pub read: fn(&str, &LoadOptions) -> Result<Imported, Diagnostics>,
}

/// How a package is read.
#[derive(Clone, Copy)]
pub struct PackageReader {
    /// The path of the file with the program, below the package, by its manifest.
    pub program_path: fn(&[u8]) -> Result<String, ManifestError>,
    /// The program in that file, whose name is for diagnostics.
    pub program: fn(&str, &[u8], &Limits) -> ReadProgram,
    /// A note for each part of that file that the module does not keep.
    pub left_out: fn(&[u8]) -> Diagnostics,
    /// The extension of that file, where it is outside of a package.
    pub program_extension: &'static str,
    /// The format whose texts read as the program does.
    pub reads_as: Format,
}

/// Why a manifest leads to no program.
pub type ManifestError = Box<dyn std::error::Error + Send + Sync>;

/// A file, for its diagnostics, and the program in it.
pub type ReadProgram = (SourceFile, Result<Graph, Diagnostics>);

/// How a format is written.
#[derive(Clone, Copy)]
pub enum Write {
    /// As text.
    Text(Format),
    /// As text, of a module that is lowered to MIL first.
    Program(Format),
    /// As a folder, of a module that is lowered to MIL first.
    Package,
    /// As a file that is no text, with files beside it where they are asked for.
    Binary(WriteBinary),
    /// As C: of a module, or of a model that is described.
    C(Print),
    /// As machine code, with a header beside it.
    Object(Linking),
    /// As a drawing.
    Drawing(Print),
    /// As a document that describes a model.
    Description,
}

impl Write {
    /// The text of a module, which is a program of MIL already where the format wants one; `None` for what is not
    /// one text.
    pub fn text(
        self,
        session: &Session,
        g: &Graph,
        options: &WriteOptions<'_>,
    ) -> Option<Result<String, Diagnostics>> {
        match self {
            Write::Text(format) | Write::Program(format) => Some(session.formats.print(format, g)),
            Write::C(print) | Write::Drawing(print) => Some(print(session, g, options)),
            Write::Package | Write::Binary(_) | Write::Object(_) | Write::Description => None,
        }
    }
}

/// What becomes of machine code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linking {
    /// An object file, which its user links.
    Object,
    /// A shared library, which the linker of the system makes.
    Shared,
}

/// Writes a module as bytes.
pub type WriteBinary = fn(&Graph, &BinaryOptions<'_>) -> Result<Binary, Diagnostics>;

/// What formats of bytes are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct BinaryOptions<'a> {
    /// The version of the operator set; `None` for the usual one.
    pub opset: Option<i64>,
    /// The name of the file that holds the elements of large constants; `None` for the module's own.
    pub data_file: Option<&'a str>,
}

/// A module as bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct Binary {
    /// The file.
    pub file: Vec<u8>,
    /// The file beside it, if one was named.
    pub data: Option<Vec<u8>>,
    /// Notes for the user, for example on engines that do not take the file.
    pub notes: Diagnostics,
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
    #[cfg(feature = "draw")]
    pub detail: Detail,
}

impl FormatInfo {
    /// Whether the names of its files end with `end`, in lower or upper case.
    pub fn has_extension(&self, end: &str) -> bool {
        let mut own = self.extensions.iter();
        own.any(|own| own.eq_ignore_ascii_case(end))
    }

    /// The text format that it is, if it is one.
    pub fn text(&self) -> Option<Format> {
        match self.read {
            Some(Read::Module(format)) => Some(format),
            Some(
                Read::Document(_)
                | Read::Import(_)
                | Read::Package(_)
                | Read::Binary(_)
                | Read::Model,
            )
            | None => None,
        }
    }

    /// How it is written as bytes, if it is.
    pub fn binary(&self) -> Option<WriteBinary> {
        match self.write {
            Some(Write::Binary(write)) => Some(write),
            Some(
                Write::Text(_)
                | Write::Program(_)
                | Write::Package
                | Write::C(_)
                | Write::Object(_)
                | Write::Drawing(_)
                | Write::Description,
            )
            | None => None,
        }
    }

    /// Whether reading it takes the extents that are given for dimensions, so that the module has none of them left.
    pub fn reads_dims(&self) -> bool {
        matches!(self.read, Some(Read::Binary(_) | Read::Import(_)))
    }

    /// What a text of it may take: any size where most of it are elements.
    pub fn limits(&self, own: &Limits) -> Limits {
        match self.read {
            Some(Read::Import(_)) => Limits::none(),
            Some(
                Read::Module(_)
                | Read::Document(_)
                | Read::Package(_)
                | Read::Binary(_)
                | Read::Model,
            )
            | None => *own,
        }
    }

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
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// The format; `None` to tell it from the content.
    pub from: Option<&'static FormatInfo>,
    /// What the text may take.
    pub limits: Limits,
    /// What the module may use.
    pub profile: Profile,
    /// What becomes of the padding of weights in IR v2 documents.
    #[cfg(feature = "irv2")]
    pub padding: Padding,
    /// The extents of dimensions that a format names, where it computes with them while it is read.
    pub dims: Vec<(String, usize)>,
    /// The shapes of the arrays that inputs are given, which close the other open dimensions where a format computes with
    /// them while it is read.
    pub shapes: Vec<(String, Vec<usize>)>,
    /// Inputs that are constants, where a format takes such.
    pub bound: Vec<(String, Tensor)>,
    /// Whether products of numbers that integers stand for stay products of floats, where a format has such.
    pub keeps_dequantized: bool,
    /// The files beside the one that is read, where a format has such.
    pub beside: Vec<Beside>,
}

/// A file beside the one that is read.
#[derive(Clone)]
pub struct Beside {
    /// Its path below the folder.
    pub name: String,
    /// Its bytes, or why it could not be opened.
    pub bytes: Result<Arc<dyn FileBytes>, String>,
}

impl fmt::Debug for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
