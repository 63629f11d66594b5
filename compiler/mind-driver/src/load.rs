//! From bytes to a verified module.

use crate::formats::{Format, Formats, detect};
use mind_diag::{Code, Diagnostic, Diagnostics, SourceFile, Span};
use mind_ir::Graph;
use mind_ir::verify::{Profile, VerifyConfig, verify};
use mind_irv2::graph::document::Padding;
use mind_irv2::{ReadOptions, is_document};
use mind_mil::check::Interface;
use mind_text::Limits;

/// How a module is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions {
    /// The format, where the content is not to tell.
    pub from: Option<Format>,
    /// Whether it is a Core ML package, whatever its folder is called.
    pub package: bool,
    /// What the text may take.
    pub limits: Limits,
    /// What the module may use.
    pub profile: Profile,
    /// What becomes of the padding of weights in IR v2 documents.
    pub padding: Padding,
}

/// A verified module and where it came from.
pub struct Loaded {
    /// Its text.
    pub file: SourceFile,
    /// The format of the text.
    pub format: Format,
    /// The module, every value typed.
    pub graph: Graph,
    /// What the text's dialect warns of.
    pub warnings: Diagnostics,
}

/// A text that was refused.
pub struct Rejected {
    /// The text, as far as it can be shown.
    pub file: SourceFile,
    /// Why.
    pub diagnostics: Diagnostics,
}

/// Reads and verifies a module.
///
/// # Errors
///
/// Bytes past the limit or not UTF-8, a format that cannot be told, syntax errors, broken
/// rules.
pub fn load_module(
    formats: &Formats,
    name: &str,
    bytes: Vec<u8>,
    options: &LoadOptions,
) -> Result<Loaded, Box<Rejected>> {
    let text = decode(name, bytes, &options.limits)?;
    let file = SourceFile::new(name, text);
    match parse_and_verify(formats, file.text(), 0, options) {
        Ok((format, graph)) => Ok(Loaded {
            warnings: warnings(format, &graph),
            file,
            format,
            graph,
        }),
        Err(diagnostics) => Err(Box::new(Rejected { file, diagnostics })),
    }
}

/// What `format`, in which a verified module was read or is printed, warns of: for the primer's spelling of MIL
/// what the primer says compilers reject when they parse.
pub fn warnings(format: Format, graph: &Graph) -> Diagnostics {
    match format {
        Format::MilPrimer => mind_mil::primer::rejected(graph),
        Format::Mic1 | Format::Mic2 | Format::Core | Format::Mil => Diagnostics::new(),
    }
}

/// The text in `bytes`.
///
/// # Errors
///
/// More bytes than the limit, E1001 not UTF-8.
pub fn decode(name: &str, bytes: Vec<u8>, limits: &Limits) -> Result<String, Box<Rejected>> {
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
    String::from_utf8(bytes).map_err(|error| {
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

/// Parses and verifies a text that starts `base` bytes into its file.
///
/// # Errors
///
/// As [`load_module`].
pub fn parse_and_verify(
    formats: &Formats,
    text: &str,
    base: u32,
    options: &LoadOptions,
) -> Result<(Format, Graph), Diagnostics> {
    if options.from.is_none() && is_document(text) {
        return document(text, options);
    }
    let Some(format) = options.from.or_else(|| detect(text)) else {
        let help = match text.trim_start().starts_with('{') {
            true => {
                "this is JSON: `mind-translate --from irv2` and `mind-run --model` read IR v2 documents"
            }
            false => {
                "a module starts with `mic@1`, `mic@2`, `program(1.3)` or an instruction of Core text, `%0 = ...`"
            }
        };
        let found = Diagnostic::error(Span::FILE, "the format of this text cannot be told");
        return Err(found.help(help).into());
    };
    let mut graph = formats.parse(format, text, base, &options.limits)?;
    let found = verify(
        &mut graph,
        &VerifyConfig {
            profile: options.profile,
        },
    );
    if found.has_errors() {
        return Err(found);
    }
    if mind_mil::structure::program(&graph).is_some() {
        let found = mind_mil::check::check(&graph, Interface::Any);
        if found.has_errors() {
            return Err(found);
        }
    }
    Ok((format, graph))
}

/// The model that a document of IR v2 describes, to be written as Core text.
///
/// # Errors
///
/// What is wrong with the document.
fn document(text: &str, options: &LoadOptions) -> Result<(Format, Graph), Diagnostics> {
    let (document, _) = mind_irv2::read(text, &ReadOptions::default())?;
    let graph = mind_irv2::graph::document::model(&document, options.padding);
    let mut graph = graph.map_err(|why| Diagnostic::error(Span::FILE, why.to_string()))?;
    let config = VerifyConfig {
        profile: options.profile,
    };
    let found = verify(&mut graph, &config);
    if found.has_errors() {
        Err(found)
    } else {
        Ok((Format::Core, graph))
    }
}
