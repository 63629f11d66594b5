//! Table of all formats, and lookups in it.

use std::fmt;

#[cfg(feature = "mil")]
use mind_coreml::mil;
#[cfg(feature = "package")]
use mind_coreml::package;

#[cfg(feature = "irv2")]
use super::document;
use super::output::extension;
#[cfg(feature = "object")]
use super::row::Linking;
#[cfg(feature = "package")]
use super::row::PackageReader;
#[cfg(feature = "stablehlo")]
use super::row::TextReader;
#[cfg(feature = "onnx")]
use super::row::{Binary, BinaryReader, LoadOptions};
use super::row::{Carried, FormatInfo, Read, Write};
use super::text::Format;
#[cfg(feature = "draw")]
use crate::draw;
#[cfg(feature = "jit")]
use crate::engine::c_text;

impl Format {
    /// Returns its row in [`FORMATS`].
    pub fn info(self) -> &'static FormatInfo {
        let row = FORMATS.iter().find(|row| row.text() == Some(self));
        row.expect("every text format has a row")
    }

    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        self.info().word
    }

    /// Returns its preferred file name extension.
    pub fn extension(self) -> &'static str {
        self.info().extensions[0]
    }

    /// Returns the text format called `name`.
    pub fn parse(name: &str) -> Option<Format> {
        FormatInfo::named(name)?.text()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns the text format of `text`, detected from its first line that is neither blank nor a comment.
///
/// A header of an unknown version and MLIR are assigned to the closest format, because its parser then explains the
/// error.
pub fn detect(text: &str) -> Option<Format> {
    FormatInfo::of_text(text)?.text()
}

/// Converts the options to those of the ONNX importer.
#[cfg(feature = "onnx")]
fn onnx_options(options: &LoadOptions) -> mind_onnx::ImportOptions {
    struct Shared(std::sync::Arc<dyn crate::host::FileBytes>);
    impl AsRef<[u8]> for Shared {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    let dims = options.dims.iter();
    let data_files = options.data_files.iter().map(|file| {
        let bytes = file.bytes.clone();
        let bytes = bytes.map(|bytes| mind_onnx::Bytes::from_owner(Shared(bytes)));
        (file.name.clone(), bytes)
    });
    mind_onnx::ImportOptions {
        dims: dims
            .map(|(name, extent)| (name.clone(), *extent as i64))
            .collect(),
        shapes: options.shapes.iter().cloned().collect(),
        bound: options.bound.iter().cloned().collect(),
        keeps_dequantized: options.keeps_dequantized,
        files: data_files.collect(),
    }
}

/// Every format.
pub static FORMATS: &[FormatInfo] = &[
    FormatInfo {
        word: "mic1",
        extensions: &["mic", "mic1"],
        summary: "mic@1 text",
        sniff: Some(|text| mind_text::detect(text) == Some(mind_text::Format::Mic1)),
        read: Some(Read::Module(Format::Mic1)),
        write: Some(Write::Text(Format::Mic1)),
        carries: Some(Carried::Inputs),
    },
    FormatInfo {
        word: "mic2",
        extensions: &["mic2", "mic"],
        summary: "mic@2 text",
        sniff: Some(|text| mind_text::detect(text) == Some(mind_text::Format::Mic2)),
        read: Some(Read::Module(Format::Mic2)),
        write: Some(Write::Text(Format::Mic2)),
        carries: Some(Carried::Inputs),
    },
    FormatInfo {
        word: "core",
        extensions: &["core"],
        summary: "Core text, which can express every op",
        sniff: Some(|text| mind_text::detect(text) == Some(mind_text::Format::Core)),
        read: Some(Read::Module(Format::Core)),
        write: Some(Write::Text(Format::Core)),
        carries: Some(Carried::All),
    },
    #[cfg(feature = "mil")]
    FormatInfo {
        word: "mil",
        extensions: &["mil"],
        summary: "MIL text in the spelling that compilers print",
        sniff: Some(mil::is_program),
        read: Some(Read::Module(Format::Mil)),
        write: Some(Write::Program(Format::Mil)),
        carries: Some(Carried::Names),
    },
    #[cfg(feature = "mil")]
    FormatInfo {
        word: "mil-primer",
        extensions: &["mil"],
        summary: "MIL text in the spelling of the primer for writing by hand",
        sniff: None,
        read: Some(Read::Module(Format::MilPrimer)),
        write: Some(Write::Program(Format::MilPrimer)),
        carries: Some(Carried::Names),
    },
    #[cfg(feature = "package")]
    FormatInfo {
        word: "mlpackage",
        extensions: &["mlpackage"],
        summary: "a Core ML package, which is a folder",
        sniff: None,
        read: Some(Read::Package(PackageReader {
            program_path: |manifest| Ok(package::read::model_path(manifest)?),
            program: package::read::program,
            left_out: package::read::left_out,
            program_extension: "mlmodel",
            reads_as: Format::Mil,
        })),
        write: Some(Write::Package),
        carries: Some(Carried::All),
    },
    #[cfg(feature = "onnx")]
    FormatInfo {
        word: "onnx",
        extensions: &["onnx"],
        summary: "an ONNX model",
        sniff: None,
        read: Some(Read::Binary(BinaryReader {
            looks: mind_onnx::is_model,
            files: mind_onnx::files,
            read: |bytes, options| mind_onnx::import(bytes, &onnx_options(options)),
        })),
        write: Some(Write::Binary(|g, options| {
            let options = mind_onnx::ExportOptions {
                opset: options.opset.unwrap_or(mind_onnx::DEFAULT_OPSET),
                data_file: options.data_file.map(str::to_owned),
            };
            let written = mind_onnx::write(g, &options)?;
            Ok(Binary {
                file: written.model,
                data: written.data,
                notes: written.notes,
            })
        })),
        carries: Some(Carried::Described),
    },
    #[cfg(feature = "stablehlo")]
    FormatInfo {
        word: "stablehlo",
        extensions: &["stablehlo", "mlir"],
        summary: "a module of StableHLO, as text of MLIR",
        sniff: Some(mind_stablehlo::is_module),
        read: Some(Read::Import(TextReader {
            read: |text, options| {
                let dims = options.dims.iter();
                let options = mind_stablehlo::ImportOptions {
                    dims: dims
                        .map(|(name, extent)| (name.clone(), *extent as i64))
                        .collect(),
                    shapes: options.shapes.iter().cloned().collect(),
                    bound: options.bound.iter().cloned().collect(),
                };
                mind_stablehlo::import(text, &options)
            },
        })),
        write: None,
        carries: None,
    },
    #[cfg(feature = "irv2")]
    FormatInfo {
        word: "irv2",
        extensions: &["json"],
        summary: "an IR v2 document, which describes a model",
        sniff: Some(mind_irv2::is_document),
        read: Some(Read::Document(document::read)),
        write: Some(Write::Description),
        carries: None,
    },
    FormatInfo {
        word: "hf",
        extensions: &["gguf"],
        summary: "a model of Hugging Face: a folder with `config.json`, that file, or a GGUF file",
        sniff: None,
        read: Some(Read::Model),
        write: None,
        carries: None,
    },
    #[cfg(feature = "jit")]
    FormatInfo {
        word: "c",
        extensions: &["c"],
        summary: "one file of C: a module, or the model that `irv2` or `hf` describes",
        sniff: None,
        read: None,
        write: Some(Write::C(|session, g, options| {
            c_text(session, g.clone(), options.function, options.has_main)
        })),
        carries: None,
    },
    #[cfg(feature = "object")]
    FormatInfo {
        word: "object",
        extensions: &["o", "obj"],
        summary: "an object file with machine code of a module, and its header",
        sniff: None,
        read: None,
        write: Some(Write::Object(Linking::Object)),
        carries: None,
    },
    #[cfg(feature = "object")]
    FormatInfo {
        word: "so",
        extensions: &["so", "dylib"],
        summary: "a shared library with machine code of a module, linked by `cc`, and its header",
        sniff: None,
        read: None,
        write: Some(Write::Object(Linking::Shared)),
        carries: None,
    },
    #[cfg(feature = "draw")]
    FormatInfo {
        word: "dot",
        extensions: &["dot", "gv"],
        summary: "a drawing for Graphviz",
        sniff: None,
        read: None,
        write: Some(Write::Drawing(|_, g, options| {
            Ok(mind_draw::dot(&draw::module(g).simplified(options.detail)))
        })),
        carries: None,
    },
    #[cfg(feature = "draw")]
    FormatInfo {
        word: "svg",
        extensions: &["svg"],
        summary: "a drawing as a picture",
        sniff: None,
        read: None,
        write: Some(Write::Drawing(|_, g, options| {
            Ok(mind_draw::svg(&draw::module(g).simplified(options.detail)))
        })),
        carries: None,
    },
    #[cfg(feature = "draw")]
    FormatInfo {
        word: "html",
        extensions: &["html", "htm"],
        summary: "a page with the drawing and the text",
        sniff: None,
        read: None,
        write: Some(Write::Drawing(|session, g, options| {
            let format = options.input.text().unwrap_or(Format::Core);
            let text = session.formats.print(format, g).unwrap_or_default();
            let drawing = draw::module(g).simplified(options.detail);
            Ok(draw::html(&drawing, options.name, &text))
        })),
        carries: None,
    },
];

/// Returns the longest prefix that is valid UTF-8.
fn text_before_error(bytes: &[u8]) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok(),
    }
}

impl FormatInfo {
    /// Returns the format called `word` by `--from` and `--to`.
    pub fn named(word: &str) -> Option<&'static FormatInfo> {
        FORMATS.iter().find(|row| row.word == word)
    }

    /// Returns the format that `text` is in.
    pub fn of_text(text: &str) -> Option<&'static FormatInfo> {
        let looks = |row: &&FormatInfo| row.sniff.is_some_and(|sniff| sniff(text));
        // Imports come first, because Core text claims all MLIR in order to explain its errors.
        let is_import = |row: &&FormatInfo| matches!(row.read, Some(Read::Import(_)));
        let imports = FORMATS.iter().filter(is_import);
        imports.chain(FORMATS).find(looks)
    }

    /// Returns the format of another compiler that bytes are in.
    pub fn of_bytes(bytes: &[u8]) -> Option<&'static FormatInfo> {
        let looks = |row: &&FormatInfo| match row.read {
            Some(Read::Binary(reader)) => (reader.looks)(bytes),
            Some(Read::Import(_)) => {
                let sniff = |sniff: fn(&str) -> bool| text_before_error(bytes).is_some_and(sniff);
                row.sniff.is_some_and(sniff)
            }
            Some(Read::Module(_) | Read::Document(_) | Read::Package(_) | Read::Model) | None => {
                false
            }
        };
        FORMATS.iter().find(looks)
    }

    /// Returns the readable format of a file or folder by its extension, if the format cannot be detected from text.
    pub fn of_path(path: &str) -> Option<&'static FormatInfo> {
        let named = FormatInfo::named_by(path);
        named.filter(|row| row.read.is_some() && row.sniff.is_none())
    }

    /// Returns the package format whose program files are named like `path`.
    pub fn of_program(path: &str) -> Option<&'static FormatInfo> {
        let end = extension(path)?;
        FORMATS.iter().find(|row| match row.read {
            Some(Read::Package(reader)) => reader.program_extension == end,
            Some(
                Read::Module(_)
                | Read::Document(_)
                | Read::Import(_)
                | Read::Binary(_)
                | Read::Model,
            )
            | None => false,
        })
    }

    /// Returns the format of the extension of `path`.
    pub fn named_by(path: &str) -> Option<&'static FormatInfo> {
        let end = extension(path)?;
        FORMATS.iter().find(|row| row.has_extension(end))
    }

    /// Returns the names of the formats that `is_meant` selects.
    pub fn words(is_meant: fn(&FormatInfo) -> bool) -> Vec<&'static str> {
        let meant = FORMATS.iter().filter(|row| is_meant(row));
        meant.map(|row| row.word).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for &format in Format::ALL {
            assert_eq!(Format::parse(format.name()), Some(format));
        }
        assert_eq!(Format::parse("mic@1"), None);
    }

    #[test]
    fn words_name_one_format_and_extensions_one_or_two_spellings_of_it() {
        let mut shared = Vec::new();
        for (at, row) in FORMATS.iter().enumerate() {
            assert_eq!(FormatInfo::named(row.word), Some(row));
            assert!(row.read.is_some() || row.write.is_some(), "{row:?}");
            assert!(!row.extensions.is_empty(), "{row:?}");
            for other in &FORMATS[at + 1..] {
                assert!(row.word != other.word, "{row:?}");
                let both = row.extensions.iter().filter(|end| other.has_extension(end));
                shared.extend(both.map(|end| (*end, row.word, other.word)));
            }
        }
        let expected = [("mic", "mic1", "mic2"), ("mil", "mil", "mil-primer")];
        assert!(
            shared.iter().all(|own| expected.contains(own)),
            "{shared:?}"
        );
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

    #[cfg(feature = "stablehlo")]
    #[test]
    fn mlir_is_core_text_unless_it_has_ops_of_stablehlo() {
        let word = |text| FormatInfo::of_text(text).map(|row| row.word);
        assert_eq!(word("module {\n  arith.addf\n}"), Some("core"));
        let own = "#loc = loc(unknown)\nmodule @m {\n  stablehlo.add\n}";
        assert_eq!(word(own), Some("stablehlo"));
        assert_eq!(
            FormatInfo::of_bytes(own.as_bytes()).map(|row| row.word),
            Some("stablehlo")
        );
    }
}
