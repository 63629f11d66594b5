//! Ops in mic@1: `sum input [axes] kd=0`.

use mind_ir::attr::{Attr, AttrKind};
use mind_ir::opdef::{AttrDef, OpDef, Trait};
use mind_text::mic1::Syntax;

use super::label::{Label, SignaturePart, operand};
use super::{Call, unquoted};

/// Returns the op of the node line that begins with `before`, after its kind.
pub(super) fn call(syntax: &Syntax, before: &str) -> Option<Call> {
    let words = words(before);
    let [head, kind, done @ .., partial] = words.as_slice() else {
        return None;
    };
    let is_node = head.strip_prefix('N').is_some_and(is_id);
    let (word, def) = syntax.ops().find(|(word, _)| word == kind && is_node)?;
    let attrs = attributes(word, def);
    let label = label(word, def, &attrs);
    let active = active(def, &attrs, done, partial);
    Some(Call { def, label, active })
}

/// Returns the attributes that are written after `kind`, with their indices.
fn attributes(kind: &str, def: &'static OpDef) -> Vec<(usize, &'static AttrDef)> {
    // `sum_all` reduces all axes. The kind of an input determines its role, so only its name is written.
    let over_all = def
        .names
        .mic1
        .is_some_and(|own| kind.strip_suffix("_all") == Some(own));
    let is_unwritten = |attr: &AttrDef| def.has(Trait::Interface) && attr.default.is_some();
    let attrs = def.attrs.iter().enumerate();
    attrs
        .filter(|(_, attr)| !over_all && !is_unwritten(attr))
        .collect()
}

fn label(kind: &str, def: &OpDef, attrs: &[(usize, &AttrDef)]) -> Label {
    let mut label = Label::default();
    label.text(kind);
    label.operands(def, " ", " ");
    let ranges = attrs.iter().filter(|(_, attr)| is_list(attr)).count() > 1;
    for (nth, (at, attr)) in attrs.iter().enumerate() {
        let default = match attr.default {
            Some(Attr::Bool(value)) => Some(u8::from(value).to_string()),
            _ => attr.default_text(),
        };
        // The bounds of a slice are written as ranges, `starts:ends:steps`.
        label.text(if ranges && nth > 0 { ":" } else { " " });
        let text = match attr.key {
            Some(key) => format!("{key}={}", default.unwrap_or_default().replace(", ", ",")),
            None if is_list(attr) && !ranges => format!("[{}]", attr.name),
            None => attr.name.to_owned(),
        };
        label.part(SignaturePart::Attr(*at), &text);
    }
    if def.has(Trait::DeclaresType) {
        label.text(" ");
        label.part(SignaturePart::Type, "T");
    }
    label
}

/// Returns whether the attribute is the list without a key.
fn is_list(attr: &AttrDef) -> bool {
    let kinds = [AttrKind::Ints, AttrKind::Dims, AttrKind::LiteralData];
    attr.key.is_none() && kinds.contains(&attr.kind)
}

fn active(
    def: &OpDef,
    attrs: &[(usize, &AttrDef)],
    done: &[&str],
    partial: &str,
) -> Option<SignaturePart> {
    let is_operand = |word: &str| word.strip_prefix('N').is_some_and(is_id);
    let operands = done.iter().filter(|word| is_operand(word)).count();
    let left = |attr: &AttrDef| !done.iter().any(|word| writes(word, attr));
    if partial.starts_with('T') {
        return def.has(Trait::DeclaresType).then_some(SignaturePart::Type);
    }
    // A variadic operand continues until an attribute or the type begins.
    let only_operands = operands == done.len();
    if is_operand(partial) || partial == "N" || partial.is_empty() && only_operands {
        let open = operand(def, operands);
        if open.is_some() || !partial.is_empty() {
            return open;
        }
    }
    if partial.starts_with(|first: char| first != '[' && first.is_alphabetic())
        && let Some((at, _)) = attrs.iter().find(|(_, attr)| {
            let key = partial.split('=').next().unwrap_or(partial);
            attr.key.is_some_and(|own| {
                if partial.contains('=') {
                    own == key
                } else {
                    own.starts_with(key)
                }
            })
        })
    {
        return Some(SignaturePart::Attr(*at));
    }
    if partial.contains('=') {
        return None;
    }
    let keyless = |attr: &AttrDef| attr.key.is_none() || partial.is_empty();
    let next = attrs.iter().find(|(_, attr)| keyless(attr) && left(attr));
    let next = next.map(|(at, _)| SignaturePart::Attr(*at));
    next.or(def.has(Trait::DeclaresType).then_some(SignaturePart::Type))
}

/// Returns whether `word` is a complete attribute.
fn writes(word: &str, attr: &AttrDef) -> bool {
    let is_operand = word.strip_prefix('N').is_some_and(is_id);
    match attr.key {
        Some(key) => word.split_once('=').is_some_and(|(own, _)| own == key),
        None if is_list(attr) => word.starts_with('[') || word.contains(':'),
        None => !word.contains('=') && !is_operand,
    }
}

fn is_id(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Splits a line into words, the last of which is incomplete. Spaces inside brackets and strings do not separate words.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    for (at, letter) in unquoted(line) {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ if letter.is_whitespace() && depth == 0 => {
                words.extend(Some(&line[start..at]).filter(|word| !word.is_empty()));
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    words.push(&line[start..]);
    words
}
