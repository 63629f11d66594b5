//! Ops in Core text: `Sum(input) {axes=[], keepdims=false}`.

use mind_ir::attr::AttrKind;
use mind_ir::opdef::{AttrDef, OpDef, Trait};
use mind_text::core::Syntax;

use super::label::{Label, SignaturePart, operand};
use super::{Call, unquoted};

/// The maximal number of open brackets that are examined, from the innermost one outwards.
const DEEPEST: usize = 64;

/// Returns the op whose parentheses or braces are open at the end of `before`.
pub(super) fn call(syntax: &Syntax, before: &str) -> Option<Call> {
    let mut innermost = open(before).into_iter().rev().take(DEEPEST);
    innermost.find_map(|(at, bracket)| {
        let (head, inside) = (before[..at].trim_end(), &before[at + 1..]);
        let head = match (bracket, head.strip_suffix(')')) {
            ('{', Some(operands)) => operands.rsplit_once('(')?.0.trim_end(),
            _ => head,
        };
        let word = head.rsplit([' ', '\t', '=', '{']).next()?;
        let mut ops = syntax.ops();
        let (_, def) = ops.find(|(own, def)| *own == word || def.name == word)?;
        let active = match bracket {
            '(' => operand(def, items(inside).len() - 1),
            _ => attribute(def, &items(inside)),
        };
        let label = label(word, def);
        Some(Call { def, label, active })
    })
}

fn label(word: &str, def: &OpDef) -> Label {
    let mut label = Label::default();
    label.text(word);
    if !def.operands.is_empty() || def.variadic.is_some() {
        label.operands(def, "(", ", ");
        label.text(")");
    }
    for (at, attr) in def.attrs.iter().enumerate() {
        label.text(if at == 0 { " {" } else { ", " });
        let text = match attr.default_text() {
            Some(_) if is_role(def, attr) => "role=input".to_owned(),
            // The default means that the attribute is omitted, so only its name is shown.
            Some(_) if def.has(Trait::Interface) => attr.name.to_owned(),
            Some(default) => format!("{}={default}", attr.name),
            None => attr.name.to_owned(),
        };
        label.part(SignaturePart::Attr(at), &text);
    }
    if !def.attrs.is_empty() {
        label.text("}");
    }
    if def.has(Trait::DeclaresType) {
        label.text(" : ");
        label.part(SignaturePart::Type, "type");
    }
    label
}

/// Returns whether `attr` marks an input as a parameter, which is written as `role=param`.
fn is_role(def: &OpDef, attr: &AttrDef) -> bool {
    def.has(Trait::Interface) && attr.kind == AttrKind::Bool
}

/// Returns the attribute of the last of `items`: by its key, else by the start of its key, else the first one that the
/// other items do not set.
fn attribute(def: &OpDef, items: &[&str]) -> Option<SignaturePart> {
    let key = |attr: &AttrDef| {
        if is_role(def, attr) {
            "role"
        } else {
            attr.name
        }
    };
    let (last, others) = items.split_last()?;
    let others: Vec<&str> = others.iter().map(|item| key_of(item).trim()).collect();
    let word = key_of(last).trim();
    let mut attrs = def.attrs.iter();
    let found = if last.contains('=') {
        attrs.position(|attr| key(attr) == word)
    } else {
        attrs.position(|attr| key(attr).starts_with(word) && !others.contains(&key(attr)))
    };
    found.map(SignaturePart::Attr)
}

fn key_of(item: &str) -> &str {
    item.split('=').next().unwrap_or(item)
}

/// Returns the open brackets at the end of `text` with their offsets. Strings are skipped.
fn open(text: &str) -> Vec<(usize, char)> {
    let mut open = Vec::new();
    for (at, letter) in unquoted(text) {
        match letter {
            '(' | '[' | '{' => open.push((at, letter)),
            ')' | ']' | '}' => {
                open.pop();
            }
            _ => {}
        }
    }
    open
}

/// Splits a list whose last item is incomplete. Commas inside brackets and strings do not separate items.
fn items(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    for (at, letter) in unquoted(text) {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&text[start..]);
    items
}
