//! Where the names of a document are declared and used.

mod folding;
mod outline;

use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentSymbol, Location, OneOf, Uri, WorkspaceSymbol,
};

pub(crate) use folding::folding;
pub(crate) use outline::outline;

use crate::view::View;

/// Where the thing at `offset` is declared.
pub(crate) fn definition(view: View<'_>, offset: usize, uri: &Uri) -> Option<Location> {
    let (_, symbol) = view.names().symbol_at(offset)?;
    let declared = view.names().declaration(symbol)?;
    let range = view.range(declared.range.clone());
    Some(Location::new(uri.clone(), range))
}

/// Where the thing at `offset` is used, and where it is declared if `declaration` asks for that.
pub(crate) fn references(
    view: View<'_>,
    offset: usize,
    declaration: bool,
    uri: &Uri,
) -> Vec<Location> {
    let Some((_, symbol)) = view.names().symbol_at(offset) else {
        return Vec::new();
    };
    let found = view.names().of(symbol);
    let found = found.filter(|found| declaration || !found.declares());
    found
        .map(|found| Location::new(uri.clone(), view.range(found.range.clone())))
        .collect()
}

/// Every place of the thing at `offset`, declarations as writes.
pub(crate) fn highlights(view: View<'_>, offset: usize) -> Vec<DocumentHighlight> {
    let Some((_, symbol)) = view.names().symbol_at(offset) else {
        return Vec::new();
    };
    let found = view.names().of(symbol).map(|found| DocumentHighlight {
        range: view.range(found.range.clone()),
        kind: Some(if found.declares() {
            DocumentHighlightKind::WRITE
        } else {
            DocumentHighlightKind::READ
        }),
    });
    found.collect()
}

/// What a document declares that has the letters of `query` in its name, whatever their case.
pub(crate) fn matching(view: View<'_>, query: &str, uri: &Uri) -> Vec<WorkspaceSymbol> {
    let (query, mut found) = (query.to_lowercase(), Vec::new());
    let mut left: Vec<(DocumentSymbol, Option<String>)> = Vec::new();
    left.extend(outline(view).into_iter().rev().map(|own| (own, None)));
    while let Some((mut symbol, container)) = left.pop() {
        let below = symbol.children.take().unwrap_or_default();
        let inside = below.into_iter().rev();
        left.extend(inside.map(|own| (own, Some(symbol.name.clone()))));
        if symbol.name.to_lowercase().contains(&query) {
            found.push(WorkspaceSymbol {
                name: symbol.name,
                kind: symbol.kind,
                tags: None,
                container_name: container,
                location: OneOf::Left(Location::new(uri.clone(), symbol.selection_range)),
                data: None,
            });
        }
    }
    found
}
