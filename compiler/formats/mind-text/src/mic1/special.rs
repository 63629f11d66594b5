//! Ops whose mic@1 lines differ from the regular layout of their table entries.

use mind_diag::{Code, Diagnostic};
use mind_ir::attr::{Attr, Literal};
use mind_ir::opdef::OpDef;
use mind_ir::types::DType;
use mind_ir::{OpId, Sym, Ty};
use smallvec::SmallVec;

use super::form::Plain;
use super::ids::Entry;
use super::node::{self, ReadNode, Slots, Spelling, WriteNode, write_range};
use super::reader::{Data, Declared, ForwardReference, Head, Operands, Reader, Target};
use super::value::{Value, read_float, read_range};
use super::writer::Writer;
use crate::input;
use crate::number::{NumberError, element_form, read_element, write_element, write_float};
use crate::quoted::read_quoted;
use crate::refusal::Refusal;
use crate::scan::{Cursor, Parsed, excerpt, is_ident};
use crate::source_map::{Entity, Role};

/// The irregular functions and words of one op.
pub(super) struct Special {
    /// The op's name in the tables.
    pub(super) op: &'static str,
    /// Reads the kind of the op's table entry; `None` if it is regular.
    pub(super) read: Option<ReadNode>,
    /// Writes the op; `None` if it is regular.
    pub(super) write: Option<WriteNode>,
    /// Further kinds that are read as this op.
    pub(super) aliases: &'static [(&'static str, ReadNode)],
    /// The canonical forms of its line and of its aliases, unless they are regular.
    pub(super) plain: [Plain; 2],
}

const RULE: Special = Special {
    op: "",
    read: None,
    write: None,
    aliases: &[],
    plain: [Plain::No; 2],
};

/// All irregular ops.
pub(super) const SPECIALS: &[Special] = &[
    Special {
        op: "core.input",
        read: Some(|r, def, head| read_input(r, def, head, false)),
        write: Some(write_input),
        aliases: &[("param", |r, def, head| read_input(r, def, head, true))],
        plain: [Plain::Name { param: false }, Plain::Name { param: true }],
    },
    Special {
        op: "core.const_f32",
        read: Some(|r, def, head| read_const(r, def, head, DType::F32)),
        write: Some(write_const_f32),
        ..RULE
    },
    Special {
        op: "core.const_f64",
        read: Some(|r, def, head| read_const(r, def, head, DType::F64)),
        ..RULE
    },
    Special {
        op: "core.const_tensor",
        read: Some(read_const_tensor),
        write: Some(write_const_tensor),
        ..RULE
    },
    Special {
        op: "core.sum",
        aliases: &[("sum_all", read_over_all)],
        ..RULE
    },
    Special {
        op: "core.mean",
        aliases: &[("mean_all", read_over_all)],
        ..RULE
    },
    Special {
        op: "core.gather",
        write: Some(write_gather),
        ..RULE
    },
    Special {
        op: "core.transpose",
        write: Some(write_transpose),
        ..RULE
    },
    Special {
        op: "core.expand_dims",
        aliases: &[("expand_dims", node::read)],
        ..RULE
    },
    Special {
        op: "core.slice",
        read: Some(read_slice),
        write: Some(write_slice),
        ..RULE
    },
];

/// Placeholder for a name that is defined by a line below.
const UNNAMED: Sym = Sym::new(0);

/// Reads `param S0 T0` or `input "x" T0`.
fn read_input(r: &mut Reader<'_>, def: &'static OpDef, head: Head, param: bool) -> Parsed<()> {
    r.cursor.blanks();
    let start = r.cursor.at();
    let (name, forward) = match r.cursor.peek() {
        b'"' => {
            let text = read_quoted(&mut r.cursor)?;
            (r.intern(&text, start)?, None)
        }
        b'S' => {
            let id = r.id("a name such as S0")?;
            r.note(start, Entity::Name(id), Role::Reference);
            match r.strings.get(id) {
                Some(Entry::Defined(index)) => (Sym::new(index), None),
                Some(Entry::Failed) => {
                    r.poisoned = true;
                    (UNNAMED, None)
                }
                None => (UNNAMED, Some(id)),
            }
        }
        _ => {
            let found = r.cursor.found_at(start);
            let message = format!("expected a name such as S0 or \"x\", found {found}");
            let error = r.cursor.error_at(start, message).code(Code(4004));
            let help = "as in `N0 input S0 T0`";
            return Err(Box::new(in_quotes(&r.cursor, start, error, help)));
        }
    };
    let declared = r.declared()?;
    require_type(r, head, declared)?;
    let attrs = input::attrs(def, name, param);
    let op = r.define(head, def, &[], &attrs, declared);
    if let (Some(op), Some(id)) = (op, forward) {
        r.forward.push(ForwardReference {
            target: Target::Name(op),
            id,
            at: start,
        });
    }
    Ok(())
}

/// Returns the error for the word at `start`, which should be in quotes. It suggests the quoted word, or `help` if the
/// word is not a name.
#[cold]
pub(super) fn in_quotes(
    cursor: &Cursor<'_>,
    start: usize,
    error: Diagnostic,
    help: &str,
) -> Diagnostic {
    let word = cursor.word_at(start);
    let name = word.trim_matches(['“', '”', '„', '\'', '‘', '’', '`', '"']);
    if !is_ident(name) {
        return error.help(help);
    }
    let quoted = format!("\"{name}\"");
    let fix = cursor.edit(start, word.len(), quoted.as_str());
    error.help(format!("write `{quoted}`")).fix(fix)
}

/// Checks that the line has a type.
///
/// # Errors
///
/// Returns E4004 if it has none.
fn require_type(r: &Reader<'_>, head: Head, declared: Declared) -> Parsed<()> {
    if !matches!(declared, Declared::No) {
        return Ok(());
    }
    let message = format!("the type of N{} must be declared", head.id);
    let error = Diagnostic::error(r.cursor.span_of_line(head.start), message);
    Err(Box::new(
        error
            .code(Code(4004))
            .help("write its type last, as in `N0 input S0 T0`"),
    ))
}

fn write_input(w: &mut Writer<'_>, op: OpId, _: &Spelling) -> Result<(), Refusal> {
    let attrs = w.graph.attrs(op);
    w.word(if attrs.contains(&Attr::Bool(true)) {
        "param"
    } else {
        "input"
    });
    let name = attrs.iter().find_map(|attr| match attr {
        Attr::Str(name) => Some(*name),
        _ => None,
    });
    if let Some(refusal) = input::refusal(w.graph, op) {
        return Err(refusal);
    }
    w.name(name.ok_or("has no name")?);
    Ok(())
}

/// Reads `const.f32 1.5`, in the op's own dtype.
fn read_const(r: &mut Reader<'_>, def: &'static OpDef, head: Head, dtype: DType) -> Parsed<()> {
    r.cursor.blanks();
    let value = read_float(r, dtype)?;
    let declared = r.declared()?;
    r.define(head, def, &[], &[Attr::float(value)], declared);
    Ok(())
}

fn write_const_f32(w: &mut Writer<'_>, op: OpId, spelling: &Spelling) -> Result<(), Refusal> {
    w.word(spelling.kind);
    if let &[Attr::Float(bits)] = w.graph.attrs(op) {
        w.out().push(' ');
        write_float(w.out(), f64::from_bits(bits), DType::F32);
    }
    Ok(())
}

/// Reads `const.tensor [v,v] T0` or `const.tensor fill=v T0`.
fn read_const_tensor(r: &mut Reader<'_>, def: &'static OpDef, head: Head) -> Parsed<()> {
    r.cursor.blanks();
    let data = data(r)?;
    let declared = r.declared()?;
    require_type(r, head, declared)?;
    match declared {
        Declared::Known(ty) => {
            let mut bytes = Vec::new();
            let literal = literal(r, ty, data, head.id, &mut bytes)?;
            r.define(head, def, &[], &[Attr::Literal(&literal)], declared);
        }
        _ => {
            let none = Literal {
                dtype: DType::Bool,
                count: Some(0),
                bytes: &[],
            };
            let op = r.define(head, def, &[], &[Attr::Literal(&none)], declared);
            if let (Some(op), Declared::Forward(id, at)) = (op, declared) {
                let target = Target::Data(op, data);
                r.forward.push(ForwardReference { target, id, at });
            }
        }
    }
    Ok(())
}

/// Skips the elements and returns their offsets.
fn data(r: &mut Reader<'_>) -> Parsed<Data> {
    let start = r.cursor.at();
    if r.cursor.eat(b'[') {
        let first = r.cursor.at();
        r.cursor
            .skip_to(|byte| matches!(byte, b'[' | b']' | b'#' | b'\n'));
        let end = r.cursor.at();
        if r.cursor.eat(b']') {
            return Ok(Data::List(first, end));
        }
        if r.cursor.peek() == b'[' {
            let span = r.cursor.span_of(end, end + 1);
            let error = Diagnostic::error(span, "the elements of a constant are one flat list");
            return Err(Box::new(
                error.help("write them row by row, without inner brackets"),
            ));
        }
        return Err(Box::new(r.open_bracket(start)));
    }
    if r.cursor.ident() == "fill" && r.cursor.eat(b'=') {
        let first = r.cursor.at();
        r.cursor.item();
        return Ok(Data::Fill(first, r.cursor.at()));
    }
    let error = r
        .cursor
        .error_at(start, "expected the elements of a constant");
    Err(Box::new(error.help(
        "as in `const.tensor [1.0,2.0] T0` or `const.tensor fill=0.0 T0`",
    )))
}

/// Reads the elements of the constant `id`, of type `ty`, into `bytes`.
///
/// # Errors
///
/// Returns E1005 for a malformed element and E4005 for one outside the range of its dtype.
pub(super) fn literal<'b>(
    r: &Reader<'_>,
    ty: Ty,
    data: Data,
    id: u64,
    bytes: &'b mut Vec<u8>,
) -> Parsed<Literal<'b>> {
    let dtype = r.graph.types().get(ty).dtype;
    let (count, first, end) = match data {
        Data::Fill(first, end) => (None, first, end),
        Data::List(first, end)
            if r.cursor
                .slice(first, end)
                .trim_matches([' ', '\t'])
                .is_empty() =>
        {
            (Some(0), end, end)
        }
        Data::List(first, end) => (Some(1), first, end),
    };
    if count == Some(0) {
        return Ok(Literal {
            dtype,
            count,
            bytes: &[],
        });
    }
    let mut at = first;
    for item in r.cursor.slice(first, end).split(',') {
        let element = item.trim_matches([' ', '\t']);
        read_element(element, dtype, bytes).map_err(|problem| {
            let start = at + (item.len() - item.trim_start_matches([' ', '\t']).len());
            Box::new(bad_element(r, start, element, ty, id, problem))
        })?;
        at += item.len() + 1;
    }
    let count = count.map(|_| bytes.len() / dtype.size());
    Ok(Literal {
        dtype,
        count,
        bytes,
    })
}

#[cold]
fn bad_element(
    r: &Reader<'_>,
    start: usize,
    element: &str,
    ty: Ty,
    id: u64,
    problem: NumberError,
) -> Diagnostic {
    let ty = r.graph.types().get(ty);
    let span = match element.len() {
        0 => r.cursor.span_of(start.saturating_sub(1), start),
        len => r.cursor.span_of(start, start + len),
    };
    let (element, form) = (excerpt(element), element_form(ty.dtype));
    let (code, message) = match problem {
        NumberError::Malformed => (1005, format!("{element} is not an element of {}", ty.dtype)),
        NumberError::OutOfRange => (4005, format!("{element} does not fit {}", ty.dtype)),
    };
    Diagnostic::error(span, message)
        .code(Code(code))
        .context("id", format!("N{id}"))
        .context("type", ty.text(r.graph.symbols()))
        .context("literal", element)
        .help(format!("an element of {} is {form}", ty.dtype))
}

fn write_const_tensor(w: &mut Writer<'_>, op: OpId, spelling: &Spelling) -> Result<(), Refusal> {
    let &[Attr::Literal(literal)] = w.graph.attrs(op) else {
        return Err("has no data".to_owned());
    };
    w.word(spelling.kind);
    let out = w.out();
    let Literal {
        dtype,
        count,
        bytes,
    } = *literal;
    if count.is_none() {
        out.push_str(" fill=");
        write_element(out, dtype, bytes);
        return Ok(());
    }
    let elements: Vec<&[u8]> = bytes.chunks_exact(dtype.size()).collect();
    out.push(' ');
    node::write_list(out, &elements, |out, element| {
        write_element(out, dtype, element)
    });
    Ok(())
}

/// Reads `sum_all N0`: a reduction over all axes, none kept.
fn read_over_all(r: &mut Reader<'_>, def: &'static OpDef, head: Head) -> Parsed<()> {
    let mut operands = Operands::new();
    node::read_operands(r, def, head, &mut operands)?;
    let slots: Slots = def.attrs.iter().map(|_| None).collect();
    let declared = r.declared()?;
    node::finish(r, def, head, &operands, &slots, declared)
}

/// Writes `gather N0 N1 ax=0`, with the bounds mode of the indices if it is not the default.
fn write_gather(w: &mut Writer<'_>, op: OpId, spelling: &Spelling) -> Result<(), Refusal> {
    node::write_operands(w, op, spelling.kind);
    let (attrs, def) = (w.graph.attrs(op), w.graph.def(op));
    for (own, attr) in attrs.iter().zip(def.attrs) {
        if !matches!(own, Attr::Word(_)) || attr.default != Some(*own) {
            node::write_attr(w, attr.key, own);
        }
    }
    Ok(())
}

/// Writes `transpose N0` if all axes are reversed; any other permutation is written out.
fn write_transpose(w: &mut Writer<'_>, op: OpId, spelling: &Spelling) -> Result<(), Refusal> {
    if w.graph.attrs(op) == [Attr::Ints(&[])] {
        node::write_operands(w, op, spelling.kind);
        return Ok(());
    }
    node::write(w, op, spelling)
}

/// Reads `slice N0 0:4:1,2:8:2`, one range per axis.
fn read_slice(r: &mut Reader<'_>, def: &'static OpDef, head: Head) -> Parsed<()> {
    let mut operands = Operands::new();
    node::read_operands(r, def, head, &mut operands)?;
    let mut lists: [SmallVec<[i64; 6]>; 3] = Default::default();
    r.cursor.blanks();
    if !r.cursor.at_line_end() && r.cursor.peek() != b'T' {
        loop {
            let range = read_range(r)?;
            for (list, bound) in lists.iter_mut().zip(range) {
                list.push(bound);
            }
            if !r.cursor.eat(b',') {
                break;
            }
        }
    }
    let slots: Slots = lists
        .into_iter()
        .map(|list| Some(Value::Ints(list)))
        .collect();
    let declared = r.declared()?;
    node::finish(r, def, head, &operands, &slots, declared)
}

fn write_slice(w: &mut Writer<'_>, op: OpId, spelling: &Spelling) -> Result<(), Refusal> {
    let &[Attr::Ints(starts), Attr::Ints(ends), Attr::Ints(steps)] = w.graph.attrs(op) else {
        return Err("has no bounds".to_owned());
    };
    if starts.len() != ends.len() || starts.len() != steps.len() {
        return Err("has lists of different lengths".to_owned());
    }
    node::write_operands(w, op, spelling.kind);
    for (axis, ((&start, &end), &step)) in starts.iter().zip(ends).zip(steps).enumerate() {
        w.out().push(if axis == 0 { ' ' } else { ',' });
        write_range(w.out(), [start, end, step]);
    }
    Ok(())
}
