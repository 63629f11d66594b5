//! The formats that every tool knows: one table, from which words, detection, help and documents follow.

use std::fmt;
use std::path::Path;

use mind_coreml::mil::{self, Spelling};
use mind_diag::{Diagnostic, Diagnostics, SourceFile, Span};
use mind_draw::Detail;
use mind_ir::Graph;
use mind_ir::opdef::{OpDef, Registry};
use mind_irv2::{ReadOptions, is_document};
use mind_text::{Limits, SourceMap};

use crate::draw;
use crate::engine::c_text;
use crate::load::LoadOptions;
use crate::session::Session;

/// A text format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// mic@1.
    Mic1,
    /// mic@2.
    Mic2,
    /// Core text.
    Core,
    /// MIL, as compilers print it.
    Mil,
    /// MIL, as the primer for writing by hand spells it.
    MilPrimer,
}

/// Which crate reads and writes a format.
enum Syntax {
    Text(mind_text::Format),
    Mil(Spelling),
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 5] = [
        Format::Mic1,
        Format::Mic2,
        Format::Core,
        Format::Mil,
        Format::MilPrimer,
    ];

    const fn syntax(self) -> Syntax {
        match self {
            Format::Mic1 => Syntax::Text(mind_text::Format::Mic1),
            Format::Mic2 => Syntax::Text(mind_text::Format::Mic2),
            Format::Core => Syntax::Text(mind_text::Format::Core),
            Format::Mil => Syntax::Mil(Spelling::Compiler),
            Format::MilPrimer => Syntax::Mil(Spelling::Primer),
        }
    }

    /// Its row in [`FORMATS`].
    pub fn info(self) -> &'static FormatInfo {
        let row = FORMATS.iter().find(|row| row.text == Some(self));
        row.expect("every text format has a row")
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.info().word
    }

    /// What the names of its files end with.
    pub fn extension(self) -> &'static str {
        match self {
            Format::MilPrimer => Format::Mil.extension(),
            Format::Mic1 | Format::Mic2 | Format::Core | Format::Mil => self.info().extensions[0],
        }
    }

    /// The format called `name`.
    pub fn parse(name: &str) -> Option<Format> {
        FormatInfo::named(name)?.text
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text format that `text` looks like, by its first line that is neither blank nor a comment.
///
/// A header of an unknown version, and MLIR, count as the format nearest to them, whose parser then says
/// what is wrong with them.
pub fn detect(text: &str) -> Option<Format> {
    FormatInfo::of_text(text)?.text
}

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
    Package(fn(&str, &[u8], &Limits) -> (SourceFile, Result<Graph, Diagnostics>)),
    /// Files describe a model; `mind-model` reads them.
    Model,
}

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

/// Every format.
pub static FORMATS: &[FormatInfo] = &[
    FormatInfo {
        word: "mic1",
        extensions: &["mic", "mic1"],
        summary: "mic@1 text",
        text: Some(Format::Mic1),
        sniff: Some(|text| mind_text::detect(text) == Some(mind_text::Format::Mic1)),
        read: Some(Read::Text(|formats, text, base, options| {
            formats.parse(Format::Mic1, text, base, &options.limits)
        })),
        write: Some(Write::Text(|session, g, _| {
            session.formats.print(Format::Mic1, g)
        })),
    },
    FormatInfo {
        word: "mic2",
        extensions: &["mic2"],
        summary: "mic@2 text",
        text: Some(Format::Mic2),
        sniff: Some(|text| mind_text::detect(text) == Some(mind_text::Format::Mic2)),
        read: Some(Read::Text(|formats, text, base, options| {
            formats.parse(Format::Mic2, text, base, &options.limits)
        })),
        write: Some(Write::Text(|session, g, _| {
            session.formats.print(Format::Mic2, g)
        })),
    },
    FormatInfo {
        word: "core",
        extensions: &["core"],
        summary: "Core text, which has words for every op",
        text: Some(Format::Core),
        sniff: Some(|text| mind_text::detect(text) == Some(mind_text::Format::Core)),
        read: Some(Read::Text(|formats, text, base, options| {
            formats.parse(Format::Core, text, base, &options.limits)
        })),
        write: Some(Write::Text(|session, g, _| {
            session.formats.print(Format::Core, g)
        })),
    },
    FormatInfo {
        word: "mil",
        extensions: &["mil"],
        summary: "MIL text, as compilers print it",
        text: Some(Format::Mil),
        sniff: Some(mil::is_program),
        read: Some(Read::Text(|formats, text, base, options| {
            formats.parse(Format::Mil, text, base, &options.limits)
        })),
        write: Some(Write::Program(|session, g, _| {
            session.formats.print(Format::Mil, g)
        })),
    },
    FormatInfo {
        word: "mil-primer",
        extensions: &[],
        summary: "MIL text, as the primer for writing by hand spells it",
        text: Some(Format::MilPrimer),
        sniff: None,
        read: Some(Read::Text(|formats, text, base, options| {
            formats.parse(Format::MilPrimer, text, base, &options.limits)
        })),
        write: Some(Write::Program(|session, g, _| {
            session.formats.print(Format::MilPrimer, g)
        })),
    },
    FormatInfo {
        word: "mlpackage",
        extensions: &["mlpackage"],
        summary: "a Core ML package, which is a folder",
        text: None,
        sniff: None,
        read: Some(Read::Package(mind_coreml::package::read::program)),
        write: Some(Write::Package),
    },
    FormatInfo {
        word: "irv2",
        extensions: &["json"],
        summary: "an IR v2 document, which describes a decoder model",
        text: None,
        sniff: Some(is_document),
        read: Some(Read::Text(|_, text, _, options| {
            let (document, _) = mind_irv2::read(text, &ReadOptions::default())?;
            described(&document, options)
        })),
        write: Some(Write::Description),
    },
    FormatInfo {
        word: "hf",
        extensions: &["gguf"],
        summary: "a decoder model of Hugging Face: a folder with `config.json`, that file, or a GGUF file",
        text: None,
        sniff: None,
        read: Some(Read::Model),
        write: None,
    },
    FormatInfo {
        word: "c",
        extensions: &["c"],
        summary: "one file of C: a module, or the model that `irv2` or `hf` describes",
        text: None,
        sniff: None,
        read: None,
        write: Some(Write::C(|session, g, options| {
            c_text(session, g.clone(), options.function, options.has_main)
        })),
    },
    FormatInfo {
        word: "dot",
        extensions: &["dot"],
        summary: "a drawing for Graphviz",
        text: None,
        sniff: None,
        read: None,
        write: Some(Write::Drawing(|_, g, options| {
            Ok(mind_draw::dot(&draw::module(g).simplified(options.detail)))
        })),
    },
    FormatInfo {
        word: "svg",
        extensions: &["svg"],
        summary: "a drawing as a picture",
        text: None,
        sniff: None,
        read: None,
        write: Some(Write::Drawing(|_, g, options| {
            Ok(mind_draw::svg(&draw::module(g).simplified(options.detail)))
        })),
    },
    FormatInfo {
        word: "html",
        extensions: &["html"],
        summary: "a page with the drawing and the text",
        text: None,
        sniff: None,
        read: None,
        write: Some(Write::Drawing(|session, g, options| {
            let format = options.input.text.unwrap_or(Format::Core);
            let text = session.formats.print(format, g).unwrap_or_default();
            let drawing = draw::module(g).simplified(options.detail);
            Ok(draw::html(&drawing, options.name, &text))
        })),
    },
];

impl FormatInfo {
    /// The row that `--from` and `--to` call `word`.
    pub fn named(word: &str) -> Option<&'static FormatInfo> {
        FORMATS.iter().find(|row| row.word == word)
    }

    /// The format that `text` looks like.
    pub fn of_text(text: &str) -> Option<&'static FormatInfo> {
        let looks = |row: &&FormatInfo| row.sniff.is_some_and(|sniff| sniff(text));
        FORMATS.iter().find(looks)
    }

    /// The format of files that no text looks like, by the name of the file or folder.
    pub fn of_path(path: &str) -> Option<&'static FormatInfo> {
        let end = Path::new(path.trim_end_matches('/')).extension()?;
        let is_read = |row: &&FormatInfo| row.read.is_some() && row.sniff.is_none();
        let mut rows = FORMATS.iter().filter(is_read);
        rows.find(|row| row.extensions.iter().any(|own| *own == end))
    }

    /// The words of the formats that `is_meant`.
    pub fn words(is_meant: fn(&FormatInfo) -> bool) -> Vec<&'static str> {
        let meant = FORMATS.iter().filter(|row| is_meant(row));
        meant.map(|row| row.word).collect()
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

/// The module of a model that is described.
///
/// # Errors
///
/// A model that cannot be a module.
pub fn described(
    document: &mind_irv2::Document,
    options: &LoadOptions,
) -> Result<Graph, Diagnostics> {
    let graph = mind_irv2::graph::document::model(document, options.padding);
    graph.map_err(|why| Diagnostic::error(Span::FILE, why.to_string()).into())
}

/// All formats, prepared for the ops of a registry.
pub struct Formats {
    /// mic@1, mic@2 and Core text.
    pub text: mind_text::Formats,
}

impl Formats {
    /// The formats for the ops of `registry`.
    pub fn new(registry: &Registry) -> Formats {
        Formats {
            text: mind_text::Formats::new(registry),
        }
    }

    /// Reads a module. `base` is added to every span, for a text that is part of a larger file.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the text itself.
    pub fn parse(
        &self,
        format: Format,
        text: &str,
        base: u32,
        limits: &Limits,
    ) -> Result<Graph, Diagnostics> {
        match format.syntax() {
            Syntax::Text(format) => self.text.parse(format, text, base, limits),
            Syntax::Mil(spelling) => mil::parse(text, base, limits, spelling),
        }
    }

    /// Reads a module as [`parse`](Formats::parse) does, and fills `map` with the names of the text.
    ///
    /// # Errors
    ///
    /// The same; `map` then holds the names that could be read.
    pub fn parse_mapped(
        &self,
        format: Format,
        text: &str,
        base: u32,
        limits: &Limits,
        map: &mut SourceMap,
    ) -> Result<Graph, Diagnostics> {
        match format.syntax() {
            Syntax::Text(format) => self.text.parse_mapped(format, text, base, limits, map),
            Syntax::Mil(spelling) => mil::parse_mapped(text, base, limits, spelling, map),
        }
    }

    /// The words that name ops in `format`, ascending, with what each names.
    pub fn ops(&self, format: Format) -> Vec<(&'static str, &'static OpDef)> {
        match format.syntax() {
            Syntax::Text(format) => self.text.ops(format),
            Syntax::Mil(_) => {
                let mut ops: Vec<_> = mil::ops().collect();
                ops.sort_unstable_by_key(|(word, _)| *word);
                ops
            }
        }
    }

    /// Writes a module.
    ///
    /// # Errors
    ///
    /// Each op that the format cannot say.
    pub fn print(&self, format: Format, g: &Graph) -> Result<String, Diagnostics> {
        match format.syntax() {
            Syntax::Text(format) => self.text.print(format, g),
            Syntax::Mil(spelling) => mil::print(g, spelling),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for format in Format::ALL {
            assert_eq!(Format::parse(format.name()), Some(format));
        }
        assert_eq!(Format::parse("mic@1"), None);
    }

    #[test]
    fn words_and_extensions_name_one_format() {
        for (at, row) in FORMATS.iter().enumerate() {
            assert_eq!(FormatInfo::named(row.word), Some(row));
            assert!(row.read.is_some() || row.write.is_some(), "{row:?}");
            for other in &FORMATS[at + 1..] {
                assert!(row.word != other.word, "{row:?}");
                let shared = |end: &&&str| other.extensions.contains(end);
                assert_eq!(
                    row.extensions.iter().find(shared),
                    None,
                    "{row:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn names_of_files_tell_formats_that_no_text_tells() {
        let word = |path| FormatInfo::of_path(path).map(|row| row.word);
        assert_eq!(word("a/b.mlpackage/"), Some("mlpackage"));
        assert_eq!(word("b.gguf"), Some("hf"));
        for path in [
            "a.mil",
            "a.core",
            "-",
            "c",
            "mlpackage",
            "hf",
            "a.c",
            "a.svg",
            "a.json",
        ] {
            assert_eq!(word(path), None, "{path}");
        }
    }

    #[test]
    fn formats_are_detected_by_their_first_line() {
        let cases = [
            ("mic@2 # more", Some(Format::Mic2)),
            ("// a comment\n  program(1.3)", Some(Format::Mil)),
            ("mil.program {}", Some(Format::Core)),
            ("# only comments", None),
            ("{\"version\": 2}", None),
        ];
        for (text, format) in cases {
            assert_eq!(detect(text), format, "{text:?}");
        }
    }
}
