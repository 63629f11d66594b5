//! Regular node lines, as described by the op tables: operands, the list without a key, attributes by key.

use mind_diag::{Code, Diagnostic};
use mind_ir::attr::{Attr, AttrKind, OPEN_END, Padding};
use mind_ir::opdef::{AttrDef, OpDef, nearest};
use mind_ir::types::{DType, Dim};
use mind_ir::{OpId, ValueId};
use smallvec::SmallVec;

use super::bodies;
use super::reader::{Declared, Head, Operands, Reader, node_meant};
use super::value::{Value, read_value};
use super::writer::{Writer, check_symbols};
use crate::number::{write_float, write_int};
use crate::quoted::write_quoted;
use crate::refusal::Refusal;
use crate::scan::{Parsed, excerpt};
use crate::source_map::{Entity, Role};

/// Reads the rest of a node line after its kind, and defines the node.
pub(super) type ReadNode = fn(&mut Reader<'_>, &'static OpDef, Head) -> Parsed<()>;

/// Writes a node line between its id and its type.
pub(super) type WriteNode = fn(&mut Writer<'_>, OpId, &Spelling) -> Result<(), Refusal>;

/// How an op is written.
pub(super) struct Spelling {
    pub(super) kind: &'static str,
    pub(super) write: WriteNode,
    /// Positions of the attributes without a key, then of those with one, sorted by key.
    pub(super) attrs: Vec<usize>,
}

/// The attribute values of a line, by position in the op's table.
pub(super) type Slots = SmallVec<[Option<Value>; 4]>;

/// Reads operands, attributes and the type.
pub(super) fn read(r: &mut Reader<'_>, def: &'static OpDef, head: Head) -> Parsed<()> {
    let mut operands = Operands::new();
    read_operands(r, def, head, &mut operands)?;
    let mut slots: Slots = def.attrs.iter().map(|_| None).collect();
    read_attributes(r, def, &mut slots)?;
    let declared = r.declared()?;
    finish(r, def, head, &operands, &slots, declared)
}

/// Defines the node of the line `head` from its operands, attributes and type.
///
/// # Errors
///
/// Errors if an attribute without default is missing.
pub(super) fn finish(
    r: &mut Reader<'_>,
    def: &'static OpDef,
    head: Head,
    operands: &[ValueId],
    slots: &Slots,
    declared: Declared,
) -> Parsed<()> {
    let mut attrs: SmallVec<[Attr<'_>; 4]> = SmallVec::new();
    for (slot, attr) in slots.iter().zip(def.attrs) {
        match slot.as_ref().map(Value::attr).or(attr.default) {
            Some(value) => attrs.push(value),
            None => return Err(Box::new(missing(r, attr, head))),
        }
    }
    r.define(head, def, operands, &attrs, declared);
    Ok(())
}

/// Reads the operands of an op.
///
/// # Errors
///
/// Returns E2007 for a wrong number of operands and E4001 for one that is not defined above.
pub(super) fn read_operands(
    r: &mut Reader<'_>,
    def: &'static OpDef,
    head: Head,
    operands: &mut Operands,
) -> Parsed<()> {
    let found = r.operands(head, operands)?;
    if def.admits_operands(found) {
        Ok(())
    } else {
        Err(Box::new(wrong_arity(r, def, head, found)))
    }
}

#[cold]
fn wrong_arity(r: &Reader<'_>, def: &OpDef, head: Head, found: usize) -> Diagnostic {
    let kind = kind_of(r, head);
    let expected = def.count_text();
    let names: Vec<&str> = def
        .all_operands()
        .map(|(operand, _)| operand.name)
        .collect();
    let message = format!("'{kind}' needs {expected}, found {found}");
    let error = Diagnostic::error(r.cursor.span_of_line(head.start), message)
        .code(Code(2007))
        .context("op", kind)
        .context("expected", expected)
        .context("found", found.to_string());
    let next = r.cursor.word_at(r.cursor.at());
    match (names.is_empty(), node_meant(next)) {
        (true, _) => error.help(format!("remove the operands of '{kind}'")),
        (false, Some(node)) => error.help(format!(
            "operands are nodes: write `{node}` for {}",
            excerpt(next)
        )),
        (false, None) => error.help(format!("its operands are: {}", names.join(", "))),
    }
}

/// Returns the kind written on the line `head`.
fn kind_of<'t>(r: &Reader<'t>, head: Head) -> &'t str {
    let line = r.cursor.slice(head.start, r.cursor.at().max(head.start));
    line.split([' ', '\t'])
        .filter(|word| !word.is_empty())
        .nth(1)
        .unwrap_or_default()
}

/// Reads attributes up to the type or the end of the line.
pub(super) fn read_attributes(
    r: &mut Reader<'_>,
    def: &'static OpDef,
    slots: &mut Slots,
) -> Parsed<()> {
    loop {
        r.cursor.blanks();
        if r.cursor.at_line_end() || r.cursor.peek() == b'T' {
            return Ok(());
        }
        if bodies::read_count(r, def)? {
            continue;
        }
        let start = r.cursor.at();
        let index = match r.cursor.peek() {
            b'[' | b'-' | b'0'..=b'9' => positional(r, def, slots, start)?,
            _ => keyed(r, def, slots, start)?,
        };
        slots[index] = Some(read_value(r, def.attrs[index].kind)?);
    }
}

/// Returns the first attribute without a key that has no value yet.
fn positional(r: &Reader<'_>, def: &OpDef, slots: &Slots, start: usize) -> Parsed<usize> {
    let free = |&index: &usize| def.attrs[index].key.is_none() && slots[index].is_none();
    (0..slots.len())
        .find(free)
        .ok_or_else(|| Box::new(r.unexpected(start)))
}

/// Reads `key=` and returns the position of the attribute.
fn keyed(r: &mut Reader<'_>, def: &'static OpDef, slots: &Slots, start: usize) -> Parsed<usize> {
    let key = r.cursor.ident();
    if key.is_empty() || !r.cursor.eat(b'=') {
        return Err(Box::new(r.unexpected(start)));
    }
    let span = r.cursor.span_of(start, start + key.len());
    let Some(index) = def.attrs.iter().position(|attr| attr.key == Some(key)) else {
        return Err(Box::new(unknown_key(r, def, start, key)));
    };
    if let Some(map) = &mut r.map {
        map.record(span, Entity::Attr(def, Some(index)), Role::Reference);
    }
    if slots[index].is_some() {
        let message = format!("attribute '{key}' is given twice");
        let error = Diagnostic::error(span, message);
        return Err(Box::new(error.help("keep one of them")));
    }
    Ok(index)
}

/// Returns the error for the unknown attribute `key` at `start`, which is followed by `=`.
#[cold]
fn unknown_key(r: &Reader<'_>, def: &OpDef, start: usize, key: &str) -> Diagnostic {
    let span = r.cursor.span_of(start, start + key.len());
    let error = Diagnostic::error(span, format!("unknown attribute {}", excerpt(key)));
    // The attribute's full name, which other formats use as its key.
    let long = nearest(key, def.attrs.iter().map(|attr| attr.name));
    let attr = def.attrs.iter().find(|attr| Some(attr.name) == long);
    let keys: Vec<&str> = def.attrs.iter().filter_map(|attr| attr.key).collect();
    match (attr, nearest(key, keys.iter().copied())) {
        (
            Some(AttrDef {
                key: None,
                name,
                kind,
                ..
            }),
            _,
        ) => {
            let value = r.cursor.rest_of_line(start + key.len() + 1);
            let value = value.split(']').next().unwrap_or(value);
            let items = value.strip_prefix('[').unwrap_or_else(|| first_word(value));
            let brackets = if value.starts_with('[') { 2 } else { 0 };
            let len = key.len() + 1 + items.len() + brackets;
            let written = match kind {
                AttrKind::Int => items.to_owned(),
                _ => format!("[{items}]"),
            };
            let fix = r.cursor.edit(start, len, written.as_str());
            let help = format!("`{name}` is written without a key: `{written}`");
            error.help(help).fix(fix)
        }
        (Some(AttrDef { key: Some(own), .. }), _) => error.did_you_mean(own),
        (None, Some(own)) => error.did_you_mean(own),
        (None, None) if keys.is_empty() => error.help("it has no attributes"),
        (None, None) => error.help(format!("its attributes are: {}", keys.join(", "))),
    }
}

fn first_word(text: &str) -> &str {
    text.split([' ', '\t']).next().unwrap_or(text)
}

#[cold]
fn missing(r: &Reader<'_>, attr: &AttrDef, head: Head) -> Diagnostic {
    let kind = kind_of(r, head);
    let message = match (attr.key, attr.kind) {
        (Some(key), _) => format!("'{kind}' needs the attribute '{key}'"),
        (None, AttrKind::Int) => format!("'{kind}' needs a value"),
        (None, _) => format!(
            "'{kind}' needs a list of its {}",
            attr.name.replace('_', " ")
        ),
    };
    let example = match (attr.key, attr.kind) {
        (Some(key), _) => format!("as in `{kind} N0 {key}=1`"),
        (None, AttrKind::Int) => format!("as in `{kind} 1`"),
        (None, AttrKind::Dims) => format!("as in `{kind} N0 [2,-1]`"),
        (None, _) => format!("as in `{kind} N0 [0]`"),
    };
    Diagnostic::error(r.cursor.span_of_line(head.start), message).help(example)
}

/// Writes operands and attributes.
pub(super) fn write(w: &mut Writer<'_>, op: OpId, spelling: &Spelling) -> Result<(), Refusal> {
    write_operands(w, op, spelling.kind);
    let def = w.graph.def(op);
    for &index in &spelling.attrs {
        let attr = &w.graph.attrs(op)[index];
        if let Attr::Dims(shape) = attr {
            check_symbols(w.graph, shape)?;
        }
        write_attr(w, def.attrs[index].key, attr);
    }
    Ok(())
}

/// Writes the kind and the operands.
#[inline]
pub(super) fn write_operands(w: &mut Writer<'_>, op: OpId, kind: &str) {
    w.word(kind);
    for &operand in w.graph.operands(op) {
        w.node(operand);
    }
}

/// Writes an attribute, with its key if it has one.
pub(super) fn write_attr(w: &mut Writer<'_>, key: Option<&str>, attr: &Attr<'_>) {
    let graph = w.graph;
    let out = w.out();
    out.push(' ');
    if let Some(key) = key {
        out.push_str(key);
        out.push('=');
    }
    match attr {
        Attr::Int(value) => write_int(out, *value),
        Attr::Bool(value) => out.push(if *value { '1' } else { '0' }),
        Attr::Float(bits) => write_float(out, f64::from_bits(*bits), DType::F64),
        Attr::Str(sym) => write_quoted(out, graph.name(*sym)),
        Attr::Ints(list) => write_list(out, list, |out, &value| write_int(out, value)),
        Attr::Dims(list) => write_list(out, list, |out, &dim| match dim {
            Dim::Fixed(extent) => write_int(out, extent),
            Dim::Symbol(sym) => out.push_str(graph.name(sym)),
            Dim::Dynamic => out.push_str("-1"),
        }),
        Attr::Padding(Padding::Valid) => out.push_str("valid"),
        Attr::Padding(Padding::Same) => out.push_str("same"),
        Attr::Padding(Padding::Custom(pads)) => {
            write_list(out, &[&pads[..2], &pads[2..]], |out, pair| {
                write_list(out, pair, |out, &pad| write_int(out, pad));
            });
        }
        Attr::DType(dtype) => out.push_str(dtype.name()),
        Attr::Word(word) => out.push_str(word),
        Attr::Literal(_) => {}
    }
}

/// Writes a list in brackets, without blanks.
pub(super) fn write_list<T>(out: &mut String, list: &[T], item: impl Fn(&mut String, &T)) {
    out.push('[');
    for (index, value) in list.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        item(out, value);
    }
    out.push(']');
}

/// Writes the range of one axis of a slice.
pub(super) fn write_range(out: &mut String, [start, end, step]: [i64; 3]) {
    write_int(out, start);
    out.push(':');
    if end != OPEN_END {
        write_int(out, end);
    }
    out.push(':');
    write_int(out, step);
}
