//! What features look at: a document, what is known of it, and the compiler's tables.

use std::ops::Range;

use mind_driver::session::Session;
use mind_ir::{Graph, ValueId};
use mind_text::Role;

use crate::analysis::{Analysis, Module};
use crate::document::Document;
use crate::names::{Found, Kind, Names, Symbol};

/// A document that has been read.
#[derive(Clone, Copy)]
pub(crate) struct View<'v> {
    pub(crate) session: &'v Session,
    pub(crate) document: &'v Document,
    pub(crate) analysis: &'v Analysis,
}

impl<'v> View<'v> {
    /// The text.
    pub(crate) fn text(self) -> &'v str {
        &self.document.text
    }

    /// What stands at `range`.
    pub(crate) fn word(self, range: &Range<usize>) -> &'v str {
        self.text().get(range.clone()).unwrap_or_default()
    }

    /// The names.
    pub(crate) fn names(self) -> &'v Names {
        &self.analysis.names
    }

    /// The protocol's form of `range`.
    pub(crate) fn range(self, range: Range<usize>) -> lsp_types::Range {
        self.document.lines.range(self.text(), range)
    }

    /// What a name is called in the text: for a value of mic@2 its number, which nothing spells.
    pub(crate) fn spelling(self, found: &Found, symbol: Symbol) -> String {
        match found.role {
            Role::Implicit => symbol.number.to_string(),
            _ => self.word(&found.range).to_owned(),
        }
    }

    /// The type of a value, as `f32[4, B]`; none while the text has errors.
    pub(crate) fn value_type(self, symbol: Symbol) -> Option<String> {
        type_text(self.analysis.module.as_ref()?, symbol)
    }

    /// The type that a value had in the last text that read, found by its name. Looks through that text.
    pub(crate) fn earlier_type(self, symbol: Symbol) -> Option<String> {
        let good = self.document.good()?;
        let module = good.analysis.module.as_ref()?;
        let declared = self.names().declaration(symbol)?;
        let wanted = self.spelling(declared, symbol);
        let before = good.analysis.names.all().iter().find_map(|found| {
            let symbol = found.symbol().filter(|symbol| symbol.kind == Kind::Value)?;
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

/// The type that the verifier found, else the declared one.
fn type_text(module: &Module, symbol: Symbol) -> Option<String> {
    let value = module.map.value(symbol.number)?;
    known_type(&module.graph, value)
}

fn known_type(g: &Graph, value: ValueId) -> Option<String> {
    let ty = g.type_id(value).or_else(|| g.declared(value))?;
    Some(g.types().get(ty).text(g.symbols()))
}
