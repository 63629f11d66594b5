//! Rows of the format table.

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

/// A format of modules or of descriptions of models.
pub struct FormatInfo {
    /// Its name for `--from` and `--to`.
    pub word: &'static str,
    /// Its file name extensions, the preferred one first.
    pub extensions: &'static [&'static str],
    /// A description in one line.
    pub summary: &'static str,
    /// Returns whether a text is in this format; `None` if it is only recognised by its extension or `--from`.
    pub sniff: Option<fn(&str) -> bool>,
    /// Its reader, if it can be read.
    pub read: Option<Read>,
    /// Its writer, if it can be written.
    pub write: Option<Write>,
    /// The parts of a module's interface that it can represent; `None` if it does not represent modules.
    pub carries: Option<Carried>,
}

/// The parts of a module's interface that a format can represent; each level includes those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Carried {
    /// The names of inputs.
    Inputs,
    /// The names of outputs.
    Names,
    /// Metadata and descriptions.
    Described,
    /// Images and class labels.
    All,
}

/// A reader of a format.
#[derive(Clone, Copy)]
pub enum Read {
    /// Text of a module.
    Module(Format),
    /// Text that describes a model, which is converted to a module.
    Document(fn(&str, &LoadOptions) -> Result<Graph, Diagnostics>),
    /// Text of another compiler, which is imported.
    Import(TextReader),
    /// A folder with a file that holds a program.
    Package(PackageReader),
    /// A binary file, which is imported.
    Binary(BinaryReader),
    /// Files that describe a model; read by `mind-model`.
    Model,
}

/// Importer of a binary file.
#[derive(Clone, Copy)]
pub struct BinaryReader {
    /// Returns whether bytes are in this format.
    pub looks: fn(&[u8]) -> bool,
    /// Returns the paths, relative to the file's folder, of external data files.
    pub files: fn(&[u8]) -> Vec<String>,
    /// Imports the bytes.
    pub read: fn(Bytes, &LoadOptions) -> Result<Imported, Diagnostics>,
}

/// Importer of a text.
#[derive(Clone, Copy)]
pub struct TextReader {
    /// Imports the text.
    pub read: fn(&str, &LoadOptions) -> Result<Imported, Diagnostics>,
}

/// Reader of a package.
#[derive(Clone, Copy)]
pub struct PackageReader {
    /// Returns the path of the program's file in the package, from its manifest.
    pub program_path: fn(&[u8]) -> Result<String, ManifestError>,
    /// Reads the program from the bytes of that file, whose name is used in diagnostics.
    pub program: fn(&str, &[u8], &Limits) -> ReadProgram,
    /// Returns a note for each part of that file that the module drops.
    pub left_out: fn(&[u8]) -> Diagnostics,
    /// Extension of that file outside of a package.
    pub program_extension: &'static str,
    /// Text format that the program is equivalent to.
    pub reads_as: Format,
}

/// Error of a manifest without a usable program.
pub type ManifestError = Box<dyn std::error::Error + Send + Sync>;

/// A file, for diagnostics, and the program read from it.
pub type ReadProgram = (SourceFile, Result<Graph, Diagnostics>);

/// A writer of a format.
#[derive(Clone, Copy)]
pub enum Write {
    /// Text.
    Text(Format),
    /// Text of a module lowered to MIL.
    Program(Format),
    /// A folder, of a module lowered to MIL.
    Package,
    /// A binary file, optionally with an external data file.
    Binary(WriteBinary),
    /// C, of a module or of a model.
    C(Print),
    /// Machine code with a C header.
    Object(Linking),
    /// A drawing.
    Drawing(Print),
    /// A document that describes a model.
    Description,
}

impl Write {
    /// Prints a module, which must be lowered to MIL first if the format needs that; returns `None` for formats that
    /// are not a single text.
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

/// Kind of machine code file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linking {
    /// An object file, which the user links.
    Object,
    /// A shared library, linked by the system's linker.
    Shared,
}

/// Writes a module as bytes.
pub type WriteBinary = fn(&Graph, &BinaryOptions<'_>) -> Result<Binary, Diagnostics>;

/// Options of binary formats.
#[derive(Clone, Copy, Debug, Default)]
pub struct BinaryOptions<'a> {
    /// The opset version; `None` for the default.
    pub opset: Option<i64>,
    /// The name of the file for the data of large constants; `None` to store all data in the module.
    pub data_file: Option<&'a str>,
}

/// A module as bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct Binary {
    /// The main file.
    pub file: Vec<u8>,
    /// The external data file, if one was named.
    pub data: Option<Vec<u8>>,
    /// Notes for the user, for example on engines that do not take the file.
    pub notes: Diagnostics,
}

/// Writes a module as text.
pub type Print = fn(&Session, &Graph, &WriteOptions<'_>) -> Result<String, Diagnostics>;

/// Options of text formats.
#[derive(Clone, Copy)]
pub struct WriteOptions<'a> {
    /// Title of a page about the module.
    pub name: &'a str,
    /// The format of the input.
    pub input: &'static FormatInfo,
    /// Name of the generated C function.
    pub function: &'a str,
    /// Whether generated C has a `main` function.
    pub has_main: bool,
    /// The level of detail of drawings.
    #[cfg(feature = "draw")]
    pub detail: Detail,
}

impl FormatInfo {
    /// Returns whether `end` is one of its extensions, ignoring case.
    pub fn has_extension(&self, end: &str) -> bool {
        let mut own = self.extensions.iter();
        own.any(|own| own.eq_ignore_ascii_case(end))
    }

    /// Returns the text format, if it is one.
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

    /// Returns the writer of a binary format.
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

    /// Returns whether its reader specialises the module to the extents of `--dim` and does not leave symbols for them.
    pub fn reads_dims(&self) -> bool {
        matches!(self.read, Some(Read::Binary(_) | Read::Import(_)))
    }

    /// Returns the limits on its texts; imported texts have none, because they consist mostly of constants.
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

    /// Returns whether it describes a model and not a module.
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

/// Options of readers.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// The format; `None` to detect it from the contents.
    pub from: Option<&'static FormatInfo>,
    /// Limits on the text.
    pub limits: Limits,
    /// The ops and types that the module may use.
    pub profile: Profile,
    /// The handling of padded weights in IR v2 documents.
    #[cfg(feature = "irv2")]
    pub padding: Padding,
    /// Extents of named dimensions, for formats that specialise modules when they are read.
    pub dims: Vec<(String, usize)>,
    /// Shapes of the arrays bound to inputs; they determine the other unknown dimensions in formats that specialise
    /// modules when they are read.
    pub shapes: Vec<(String, Vec<usize>)>,
    /// Inputs that are bound to constants, in formats that support it.
    pub bound: Vec<(String, Tensor)>,
    /// Whether products of dequantised numbers stay floating-point products, in formats that have them.
    pub keeps_dequantized: bool,
    /// External data files, in formats that have them.
    pub data_files: Vec<DataFile>,
}

/// An external data file.
#[derive(Clone)]
pub struct DataFile {
    /// Its path relative to the folder of the main file.
    pub name: String,
    /// Its contents, or the error of opening it.
    pub bytes: Result<Arc<dyn FileBytes>, String>,
}

impl fmt::Debug for DataFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
