//! Declarations and uses of names.

mod folding;
mod outline;

use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentSymbol, Location, OneOf, Uri, WorkspaceSymbol,
};

pub(crate) use folding::folding;
pub(crate) use outline::outline;

use crate::view::View;

/// Returns the declaration of the entity at `offset`.
pub(crate) fn definition(view: View<'_>, offset: usize, uri: &Uri) -> Option<Location> {
    let (_, symbol) = view.names().symbol_at(offset)?;
    let declared = view.names().declaration(symbol)?;
    let range = view.range(declared.range.clone());
    Some(Location::new(uri.clone(), range))
}

/// Returns the uses of the entity at `offset`, including its declaration if `declaration` is set.
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

/// Returns every occurrence of the entity at `offset`; declarations are marked as writes.
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

/// Returns the declarations of a document whose names contain `query`, ignoring case.
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
