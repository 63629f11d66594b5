//! Ops in mic@2: `split input axis count part=0`.

use mind_ir::attr::AttrKind;
use mind_ir::opdef::{AttrDef, OpDef};
use mind_text::mic2::Syntax;

use super::Call;
use super::label::{Label, SignaturePart, operand};

/// Returns the op of the node line that begins with `before`, after its opcode.
pub(super) fn call(syntax: &Syntax, before: &str) -> Option<Call> {
    let opcode = before.split_whitespace().next()?;
    let after = &before.trim_start()[opcode.len()..];
    if after.is_empty() {
        return None;
    }
    let (word, def) = syntax.ops().find(|(word, _)| *word == opcode)?;
    let finished = after.ends_with(char::is_whitespace);
    let done = after.split_whitespace().count() - usize::from(!finished);
    let attrs: Vec<(usize, &AttrDef)> = attributes(def).collect();
    let mut label = Label::default();
    label.text(word);
    label.operands(def, " ", " ");
    for (at, attr) in &attrs {
        label.text(" ");
        let text = match attr.default_text() {
            _ if is_list(attr) => format!("{}...", attr.name),
            Some(default) => format!("{}={default}", attr.name),
            None => attr.name.to_owned(),
        };
        label.part(SignaturePart::Attr(*at), &text);
    }
    let active = operand(def, done).or_else(|| {
        let param = done - def.operands.len();
        let list = attrs.last().filter(|(_, attr)| is_list(attr));
        let found = attrs.get(param).or(list);
        found.map(|(at, _)| SignaturePart::Attr(*at))
    });
    Some(Call { def, label, active })
}

/// Returns the attributes that mic@2 can express, with their indices: integers and one integer list.
fn attributes(def: &'static OpDef) -> impl Iterator<Item = (usize, &'static AttrDef)> {
    let attrs = def.attrs.iter().enumerate();
    attrs.filter(|(_, attr)| attr.kind == AttrKind::Int || is_list(attr))
}

fn is_list(attr: &AttrDef) -> bool {
    matches!(attr.kind, AttrKind::Ints | AttrKind::Dims)
}
