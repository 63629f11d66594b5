//! Hover texts.

use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};
use mind_ir::opdef::{AttrDef, DOC_SECTIONS, OpDef};

use crate::names::{NameKind, Occurrence, Referent, Symbol};
use crate::rules;
use crate::view::View;

/// Returns the type of the value at `offset`, the documentation of the op, or other information about the name.
pub(crate) fn hover(view: View<'_>, offset: usize) -> Option<Hover> {
    let at: Vec<&Occurrence> = view.names().at(offset).collect();
    let first = at.first()?;
    // In mic@2 an opcode is the name of the op and of its value.
    let here = at.iter().filter(|found| found.range == first.range);
    let parts: Vec<String> = here.filter_map(|found| describe(view, found)).collect();
    if parts.is_empty() {
        return None;
    }
    let contents = MarkupContent {
        kind: MarkupKind::Markdown,
        value: parts.join("\n\n---\n\n"),
    };
    Some(Hover {
        contents: HoverContents::Markup(contents),
        range: Some(view.range(first.range.clone())),
    })
}

fn describe(view: View<'_>, found: &Occurrence) -> Option<String> {
    match found.referent {
        Referent::Symbol(symbol) => describe_symbol(view, symbol),
        Referent::Op(def) => Some(op(def)),
        Referent::Attr(def, Some(at)) => Some(attribute(def, &def.attrs[at])),
        Referent::Attr(def, None) => {
            let name = view.word(&found.range);
            Some(format!("argument `{name}` of `{}`", def.short_name()))
        }
        Referent::DType => Some(format!("dtype `{}`", view.word(&found.range))),
        Referent::Call(name) => rules::call(name),
        Referent::Keyword => None,
    }
}

fn describe_symbol(view: View<'_>, symbol: Symbol) -> Option<String> {
    let declared = view.names().declaration(symbol)?;
    let name = view.spelling(declared, symbol);
    let line = || {
        let line = view.document.lines.line(declared.range.start);
        let line = view.document.lines.line_range(view.text(), line);
        let text = view.word(&line);
        let code = text.split(view.analysis.language.comment()).next();
        code.unwrap_or(text).trim().to_owned()
    };
    Some(match symbol.kind {
        NameKind::Value => match (view.value_type(symbol), view.earlier_type(symbol)) {
            (Some(ty), _) => format!("```mind\n{name}: {ty}\n```"),
            (None, Some(ty)) => {
                format!("```mind\n{name}: {ty}\n```\nas of the last text without errors")
            }
            (None, None) => format!("value `{name}`"),
        },
        NameKind::Type | NameKind::Text => format!("```mind\n{}\n```", line()),
        NameKind::Dimension => {
            let count = view.names().of(symbol).filter(|found| !found.declares());
            format!("dimension `{name}`, places that use it: {}", count.count())
        }
        NameKind::Function => format!("function `{name}`"),
        NameKind::Rule => rules::summary(view.text(), declared.range.start)?,
        NameKind::Binding => format!("`{name}`, bound by the rule"),
    })
}

/// Returns the syntax and the documentation of an op, from its definition.
pub(crate) fn op(def: &OpDef) -> String {
    let operands = def.all_operands();
    let operands = operands.map(|(operand, repeat)| format!("{}{}", operand.name, repeat.mark()));
    let operands: Vec<String> = operands.collect();
    let attrs: Vec<String> = def.attrs.iter().map(shown).collect();
    let attrs = if attrs.is_empty() {
        String::new()
    } else {
        format!(" {{{}}}", attrs.join(", "))
    };
    let name = def.name;
    format!(
        "```mind\n{name}({}){attrs}\n```\n{}",
        operands.join(", "),
        documentation(def)
    )
}

/// Returns the documentation of an op, with a paragraph per section.
pub(crate) fn documentation(def: &OpDef) -> String {
    let lines: Vec<&str> = def.doc.lines().map(str::trim).collect();
    let doc = lines.join("\n");
    let doc = DOC_SECTIONS.iter().fold(doc, |doc, section| {
        doc.replace(&format!("\n{section}"), &format!("\n\n**{section}**"))
    });
    doc.trim().to_owned()
}

fn attribute(def: &OpDef, attr: &AttrDef) -> String {
    format!(
        "```mind\n{}\n```\nattribute of `{}`: {}",
        shown(attr),
        def.name,
        attr.kind.text()
    )
}

/// Returns an attribute with its default.
fn shown(attr: &AttrDef) -> String {
    match attr.default_text() {
        Some(default) => format!("{}={default}", attr.name),
        None => attr.name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use mind_driver::session::registry;

    use super::documentation;

    #[test]
    fn each_section_is_a_paragraph() {
        let registry = registry();
        let def = registry.get("loops.slide").expect("a shipped op");
        let text = documentation(def);
        for section in ["Shapes:", "Schedule:", "Order:", "Errors:", "Source:"] {
            assert!(
                text.contains(&format!("\n\n**{section}**")),
                "{section}\n{text}"
            );
        }
    }
}
