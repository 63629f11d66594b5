//! Analysis of a document's text.

use mind_diag::{Diagnostics, SourceFile};
use mind_driver::formats::Format;
use mind_driver::load::warnings;
use mind_driver::session::Session;
use mind_ir::Graph;
use mind_ir::verify::{VerifyConfig, verify};
use mind_mil::check::{Interface, check};
use mind_text::{Limits, SourceMap};

use crate::language::Language;
use crate::names::Names;
use crate::rules;

/// The analysis of a text.
pub(crate) struct Analysis {
    /// The language of the text.
    pub(crate) language: Language,
    /// All errors and warnings.
    pub(crate) diagnostics: Diagnostics,
    /// The names in the text; on lines with errors only those before the error.
    pub(crate) names: Names,
    /// The module; `None` for rule files, and if the text has syntax errors.
    pub(crate) module: Option<Module>,
    /// Whether the text parses. The parsed module may still be invalid.
    pub(crate) reads: bool,
}

/// A parsed module. Its values have types as far as the verifier inferred them.
pub(crate) struct Module {
    pub(crate) graph: Graph,
    pub(crate) map: SourceMap,
}

impl Analysis {
    /// Analyses `text`.
    pub(crate) fn of(session: &Session, hint: Language, text: &str) -> Analysis {
        let language = hint.of_text(text);
        match language {
            Language::Module(format) => module(session, language, format, text),
            Language::Rules => rule_file(session, language, text),
        }
    }
}

fn module(session: &Session, language: Language, format: Format, text: &str) -> Analysis {
    let mut map = SourceMap::new();
    let limits = Limits::default();
    let read = session
        .formats
        .parse_mapped(format, text, 0, &limits, &mut map);
    let names = Names::of_map(&map);
    let mut graph = match read {
        Ok(graph) => graph,
        Err(diagnostics) => {
            return Analysis {
                language,
                diagnostics,
                names,
                module: None,
                reads: false,
            };
        }
    };
    let mut diagnostics = verify(&mut graph, &VerifyConfig::default());
    let is_mil = matches!(format, Format::Mil | Format::MilPrimer);
    if is_mil && !diagnostics.has_errors() {
        diagnostics.append(check(&graph, Interface::Any));
    }
    if !diagnostics.has_errors() {
        diagnostics.append(warnings(format.info(), &graph));
    }
    diagnostics.sort_by_place();
    Analysis {
        language,
        diagnostics,
        names,
        module: Some(Module { graph, map }),
        reads: true,
    }
}

fn rule_file(session: &Session, language: Language, text: &str) -> Analysis {
    let file = SourceFile::new("rules", text);
    let diagnostics = rules::diagnostics(&session.registry, &file);
    Analysis {
        language,
        reads: !diagnostics.has_errors(),
        diagnostics,
        names: rules::names(&session.registry, text),
        module: None,
    }
}
