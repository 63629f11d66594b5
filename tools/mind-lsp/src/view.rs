//! The inputs of features: a document, its analysis, and the compiler's session.

use std::ops::Range;

use mind_driver::session::Session;
use mind_ir::{Graph, ValueId};
use mind_text::Role;

use crate::analysis::{Analysis, Module};
use crate::document::Document;
use crate::names::{NameKind, Names, Occurrence, Symbol};

/// An analysed document.
#[derive(Clone, Copy)]
pub(crate) struct View<'v> {
    pub(crate) session: &'v Session,
    pub(crate) document: &'v Document,
    pub(crate) analysis: &'v Analysis,
}

impl<'v> View<'v> {
    /// Returns the text.
    pub(crate) fn text(self) -> &'v str {
        &self.document.text
    }

    /// Returns the text of `range`.
    pub(crate) fn word(self, range: &Range<usize>) -> &'v str {
        self.text().get(range.clone()).unwrap_or_default()
    }

    /// Returns the names.
    pub(crate) fn names(self) -> &'v Names {
        &self.analysis.names
    }

    /// Converts `range` to the protocol.
    pub(crate) fn range(self, range: Range<usize>) -> lsp_types::Range {
        self.document.lines.range(self.text(), range)
    }

    /// Returns the spelling of a name; for an unnamed value of mic@2, its number.
    pub(crate) fn spelling(self, found: &Occurrence, symbol: Symbol) -> String {
        match found.role {
            Role::Implicit => symbol.number.to_string(),
            _ => self.word(&found.range).to_owned(),
        }
    }

    /// Returns the type of a value, for example `f32[4, B]`; `None` if the text has errors.
    pub(crate) fn value_type(self, symbol: Symbol) -> Option<String> {
        type_text(self.analysis.module.as_ref()?, symbol)
    }

    /// Returns the type of the value with the same name in the last version that parsed. Takes time proportional to
    /// that text.
    pub(crate) fn earlier_type(self, symbol: Symbol) -> Option<String> {
        let good = self.document.good()?;
        let module = good.analysis.module.as_ref()?;
        let declared = self.names().declaration(symbol)?;
        let wanted = self.spelling(declared, symbol);
        let before = good.analysis.names.all().iter().find_map(|found| {
            let symbol = found
                .symbol()
                .filter(|symbol| symbol.kind == NameKind::Value)?;
            let same = match found.role {
                Role::Reference => false,
                Role::Implicit => symbol.number.to_string() == wanted,
                Role::Definition => good.text.get(found.range.clone()) == Some(&wanted),
            };
            same.then_some(symbol)
        })?;
        type_text(module, before)
    }
}

/// Returns the inferred type, else the declared one.
fn type_text(module: &Module, symbol: Symbol) -> Option<String> {
    let value = module.map.value(symbol.number)?;
    known_type(&module.graph, value)
}

fn known_type(g: &Graph, value: ValueId) -> Option<String> {
    let ty = g.type_id(value).or_else(|| g.declared(value))?;
    Some(g.types().get(ty).text(g.symbols()))
}
