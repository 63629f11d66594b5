//! Ops in Core text: `Sum(input) {axes=[], keepdims=false}`.

use mind_ir::attr::AttrKind;
use mind_ir::opdef::{AttrDef, OpDef, Trait};
use mind_text::core::Syntax;

use super::label::{Label, Part, operand};
use super::{Call, unquoted};

/// The most brackets that are looked at, from the innermost one outwards.
const DEEPEST: usize = 64;

/// The op whose parentheses or braces are open at the end of `before`.
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
            // The number stands for the word of a format, and is left out where there is none.
            Some(_) if def.has(Trait::Interface) => attr.name.to_owned(),
            Some(default) => format!("{}={default}", attr.name),
            None => attr.name.to_owned(),
        };
        label.part(Part::Attr(at), &text);
    }
    if !def.attrs.is_empty() {
        label.text("}");
    }
    if def.has(Trait::DeclaresType) {
        label.text(" : ");
        label.part(Part::Type, "type");
    }
    label
}

/// Whether `attr` says if an input is a parameter, which is written `role=param`.
fn is_role(def: &OpDef, attr: &AttrDef) -> bool {
    def.has(Trait::Interface) && attr.kind == AttrKind::Bool
}

/// The attribute that the last of `items` is: by its key, else by the beginning of its key, else the
/// first that the others leave.
fn attribute(def: &OpDef, items: &[&str]) -> Option<Part> {
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
    found.map(Part::Attr)
}

fn key_of(item: &str) -> &str {
    item.split('=').next().unwrap_or(item)
}

/// The brackets that are open at the end of `text` and where; strings aside.
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

/// The items of a list, whose last is not finished; commas within brackets and strings are no ends.
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
