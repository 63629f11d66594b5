//! Parses and verifies modules.

use mind_convert::Imported;
use mind_diag::{Code, Diagnostic, Diagnostics, SourceFile, Span};
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{Bytes, Graph};
use mind_text::Limits;

use crate::formats::{FormatInfo, Formats, LoadOptions, Read};
use crate::mil;

/// A verified module and its source.
pub struct Loaded {
    /// Its source text.
    pub file: SourceFile,
    /// The format of the source.
    pub format: &'static FormatInfo,
    /// The module; every value has a type.
    pub graph: Graph,
    /// Warnings of the format and of the import, and a note for each part of the file that the module drops.
    pub warnings: Diagnostics,
}

/// A source that was rejected.
pub struct Rejected {
    /// The source text, as far as it can be shown.
    pub file: SourceFile,
    /// The errors.
    pub diagnostics: Diagnostics,
}

/// Parses and verifies a module.
///
/// # Errors
///
/// Errors if the bytes exceed the limit or are not UTF-8, if the format is unknown, if there are syntax errors, or if
/// the verifier rejects the module.
pub fn load_module(
    formats: &Formats,
    name: &str,
    bytes: Bytes,
    options: &LoadOptions,
) -> Result<Loaded, Box<Rejected>> {
    let row = options.from.or_else(|| FormatInfo::of_bytes(&bytes));
    let whole = match row {
        Some(row) => without_text(row, name, bytes, options),
        None => Err(bytes),
    };
    let (file, read) = match whole {
        Ok(own) => {
            let graph = verified(own.graph, options);
            let read = graph.map(|graph| Parsed {
                format: own.format,
                graph,
                warnings: own.warnings,
            });
            (own.file, read)
        }
        Err(bytes) => {
            let limits = row.map_or(options.limits, |row| row.limits(&options.limits));
            let file = SourceFile::new(name, decode(name, bytes, &limits)?);
            let read = parse(formats, file.text(), 0, options);
            (file, read)
        }
    };
    match read {
        Ok(mut own) => {
            own.warnings.append(warnings(own.format, &own.graph));
            Ok(Loaded {
                warnings: own.warnings,
                file,
                format: own.format,
                graph: own.graph,
            })
        }
        Err(diagnostics) => Err(Box::new(Rejected { file, diagnostics })),
    }
}

/// A module read from a binary file.
pub struct WithoutText {
    /// The file that its diagnostics refer to.
    pub file: SourceFile,
    /// The format that it is equivalent to.
    pub format: &'static FormatInfo,
    /// The module, not verified, or the errors of the import.
    pub graph: Result<Graph, Diagnostics>,
    /// Warnings about ambiguous contents and their interpretation, and a note for each part that the module drops.
    pub warnings: Diagnostics,
}

/// Reads a binary format.
///
/// # Errors
///
/// Returns the bytes unread if the format is a text format.
pub fn without_text(
    row: &'static FormatInfo,
    name: &str,
    bytes: Bytes,
    options: &LoadOptions,
) -> Result<WithoutText, Bytes> {
    match row.read {
        Some(Read::Package(package)) => {
            let (file, graph) = (package.program)(name, &bytes, &options.limits);
            Ok(WithoutText {
                file,
                format: package.reads_as.info(),
                warnings: match graph.is_ok() {
                    true => (package.left_out)(&bytes),
                    false => Diagnostics::new(),
                },
                graph,
            })
        }
        Some(Read::Binary(binary)) => {
            let (graph, warnings) = split((binary.read)(bytes, options));
            Ok(WithoutText {
                file: SourceFile::new(name, ""),
                format: row,
                graph,
                warnings,
            })
        }
        Some(Read::Module(_) | Read::Document(_) | Read::Import(_) | Read::Model) | None => {
            Err(bytes)
        }
    }
}

/// Returns the warnings of `format` about a verified module that was read from it or is printed in it. Only the
/// primer's spelling of MIL has some, for constructs that compilers reject.
pub fn warnings(format: &FormatInfo, graph: &Graph) -> Diagnostics {
    mil::warnings(format, graph)
}

/// Decodes the text in `bytes`.
///
/// # Errors
///
/// Errors if there are more bytes than the limit, and with E1001 if they are not UTF-8.
pub fn decode(name: &str, bytes: Bytes, limits: &Limits) -> Result<String, Box<Rejected>> {
    let rejected = |diagnostic: Diagnostic| {
        let file = SourceFile::new(name, "");
        Box::new(Rejected {
            file,
            diagnostics: diagnostic.into(),
        })
    };
    if bytes.len() as u64 > limits.bytes {
        let message = format!(
            "{} bytes are more than the limit of {}",
            bytes.len(),
            limits.bytes
        );
        let help = "`--no-input-limits` reads trusted input of any size";
        return Err(rejected(Diagnostic::error(Span::FILE, message).help(help)));
    }
    String::from_utf8(bytes.into()).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let hex = error.as_bytes()[at..]
            .iter()
            .take(4)
            .map(|byte| format!("{byte:02x}"));
        let hex = hex.collect::<Vec<_>>().join(" ");
        let message = format!("the bytes at offset {at} are not UTF-8: {hex}");
        let found = Diagnostic::error(Span::FILE, message).code(Code(1001));
        rejected(
            found
                .context("offset", at.to_string())
                .context("bytes", hex)
                .help("save the text as UTF-8; packages and weight files are not read as text"),
        )
    })
}

/// Splits the result of an import into the module and its warnings.
fn split(read: Result<Imported, Diagnostics>) -> (Result<Graph, Diagnostics>, Diagnostics) {
    match read {
        Ok(own) => (Ok(own.module), own.warnings),
        Err(found) => (Err(found), Diagnostics::new()),
    }
}

/// Parses and verifies a text that starts at byte `base` of its file; drops its warnings.
///
/// # Errors
///
/// Errors as [`load_module`].
pub fn parse_and_verify(
    formats: &Formats,
    text: &str,
    base: u32,
    options: &LoadOptions,
) -> Result<(&'static FormatInfo, Graph), Diagnostics> {
    let own = parse(formats, text, base, options)?;
    Ok((own.format, own.graph))
}

/// A verified module read from text.
pub struct Parsed {
    /// The format of the text.
    pub format: &'static FormatInfo,
    /// The module.
    pub graph: Graph,
    /// Warnings about contradictions in the text and their interpretation.
    pub warnings: Diagnostics,
}

/// Parses and verifies a text that starts at byte `base` of its file.
///
/// # Errors
///
/// Errors as [`load_module`].
pub fn parse(
    formats: &Formats,
    text: &str,
    base: u32,
    options: &LoadOptions,
) -> Result<Parsed, Diagnostics> {
    let Some(format) = options.from.or_else(|| FormatInfo::of_text(text)) else {
        if text.trim_start_matches('\u{feff}').trim().is_empty() {
            let help = "name the file of a module, or write one to standard input";
            return Err(Diagnostic::error(Span::FILE, "the input is empty")
                .help(help)
                .into());
        }
        let help = if text.trim_start().starts_with('{') {
            "this is JSON: `mind-translate --from irv2` and `mind-run --model` read IR v2 documents"
        } else {
            "a module starts with `mic@1`, `mic@2`, `program(1.3)` or an instruction of Core text, `%0 = ...`"
        };
        let found = Diagnostic::error(Span::FILE, "the format of this text is unknown");
        return Err(found.help(help).into());
    };
    let mut warnings = Diagnostics::new();
    let read = match format.read {
        Some(Read::Module(own)) => formats.parse(own, text, base, &options.limits),
        Some(Read::Document(read)) => read(text, options),
        Some(Read::Import(reader)) => {
            let (read, own) = split((reader.read)(text, options));
            warnings = own.map(|one| later(one, base));
            read.map_err(|found| found.map(|one| later(one, base)))
        }
        Some(Read::Package(_) | Read::Binary(_) | Read::Model) | None => {
            let message = format!("{} is not read as text", format.summary);
            return Err(Diagnostic::error(Span::FILE, message).into());
        }
    };
    Ok(Parsed {
        format,
        graph: verified(read, options)?,
        warnings,
    })
}

/// Shifts a diagnostic of a text that starts at byte `base` of its file.
fn later(mut found: Diagnostic, base: u32) -> Diagnostic {
    if !found.span.is_file() {
        found.span = Span::new(found.span.start + base, found.span.end + base);
    }
    found
}

/// Verifies a module that was read.
///
/// # Errors
///
/// Returns the errors of `read`, or those of the verifier.
pub fn verified(
    read: Result<Graph, Diagnostics>,
    options: &LoadOptions,
) -> Result<Graph, Diagnostics> {
    let mut graph = read?;
    let config = VerifyConfig {
        profile: options.profile,
    };
    let mut found = verify(&mut graph, &config);
    if !found.has_errors() {
        found = mil::check(&graph);
    }
    if found.has_errors() {
        Err(found)
    } else {
        Ok(graph)
    }
}
