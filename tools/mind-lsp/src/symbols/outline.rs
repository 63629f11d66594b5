//! Document outline.

use std::ops::Range;

use lsp_types::{DocumentSymbol, SymbolKind};

use crate::names::{NameKind, Occurrence, Referent, Symbol};
use crate::view::View;

/// Returns all declarations of a document; those inside a function are its children.
pub(crate) fn outline(view: View<'_>) -> Vec<DocumentSymbol> {
    let mut all: Vec<DocumentSymbol> = Vec::new();
    let names = view.names().all();
    let declared = names.iter().filter(|found| found.declares());
    let declared: Vec<(&Occurrence, Symbol)> = declared
        .filter_map(|found| Some((found, found.symbol()?)))
        .filter(|(_, symbol)| symbol.kind != NameKind::Binding)
        .filter(|(_, symbol)| {
            view.analysis.language.format().is_some() || symbol.kind == NameKind::Rule
        })
        .collect();
    for (index, (found, symbol)) in declared.iter().enumerate() {
        let next = || {
            let later = declared[index + 1..].iter();
            later.clone().find(|(_, other)| other.kind == symbol.kind)
        };
        let range = match symbol.kind {
            NameKind::Function | NameKind::Rule => {
                let end = next().map_or(view.text().len(), |(next, _)| line_start(view, next));
                line_start(view, found)..end
            }
            _ => {
                let line = view.document.lines.line(found.range.start);
                let line = view.document.lines.line_range(view.text(), line);
                line.start..line.end.max(found.range.end)
            }
        };
        let entry = entry(view, found, *symbol, range);
        let function = all
            .last_mut()
            .filter(|last| last.kind == SymbolKind::FUNCTION && symbol.kind == NameKind::Value);
        match function {
            Some(function) => function.children.get_or_insert_default().push(entry),
            None => all.push(entry),
        }
    }
    all
}

fn line_start(view: View<'_>, found: &Occurrence) -> usize {
    let line = view.document.lines.line(found.range.start);
    view.document.lines.line_range(view.text(), line).start
}

fn entry(
    view: View<'_>,
    found: &Occurrence,
    symbol: Symbol,
    range: Range<usize>,
) -> DocumentSymbol {
    let op = || {
        let mut names = view.names().within(&range);
        let op = names.find(|other| matches!(other.referent, Referent::Op(_)));
        op.map(|op| view.word(&op.range).to_owned())
    };
    let detail = match symbol.kind {
        NameKind::Value => {
            let ty = view.value_type(symbol);
            Some(
                [op(), ty]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(" : "),
            )
        }
        NameKind::Type | NameKind::Text => {
            let rest = view.word(&(found.range.end..range.end));
            let comment = view.analysis.language.comment();
            rest.split(comment)
                .next()
                .map(|rest| rest.trim().to_owned())
        }
        _ => None,
    };
    #[expect(
        deprecated,
        reason = "the protocol's type has a field without a default"
    )]
    DocumentSymbol {
        name: view.spelling(found, symbol),
        detail: detail.filter(|detail| !detail.is_empty()),
        kind: kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: view.range(range),
        selection_range: view.range(found.range.clone()),
        children: None,
    }
}

fn kind(kind: NameKind) -> SymbolKind {
    match kind {
        NameKind::Value | NameKind::Binding => SymbolKind::VARIABLE,
        NameKind::Type => SymbolKind::STRUCT,
        NameKind::Text => SymbolKind::STRING,
        NameKind::Dimension => SymbolKind::TYPE_PARAMETER,
        NameKind::Function => SymbolKind::FUNCTION,
        NameKind::Rule => SymbolKind::EVENT,
    }
}
