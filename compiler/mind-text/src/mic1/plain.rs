//! Lines in the form in which they are printed, read in one go.
//!
//! Each function reads the whole line at the cursor. It reads nothing and returns false where the line
//! has another form or an error; the general reader of such lines then reads it from its start.

use mind_ir::attr::Attr;
use mind_ir::opdef::OpDef;
use mind_ir::types::{DType, Dim, Shape, TypeView};
use mind_ir::{Sym, Ty, ValueId};

use super::ids::Entry;
use super::kinds::{Kind, Kinds};
use super::reader::{Declared, Head, Reader};
use crate::scan::Cursor;

/// What the plain line of a kind holds.
#[derive(Clone, Copy)]
pub(super) enum Plain {
    /// Operands only, at most two.
    Operands(usize),
    /// The name of an input, with its role.
    Name {
        /// Whether it is a weight.
        param: bool,
        /// Which attribute the name is.
        attr: usize,
    },
    /// More than that.
    No,
}

impl Plain {
    /// The plain form of an op that is read as its table entry says.
    pub(super) fn of(def: &OpDef) -> Plain {
        match (def.attrs.len(), def.variadic, def.operands.len()) {
            (0, None, arity @ 0..=2) => Plain::Operands(arity),
            _ => Plain::No,
        }
    }

    /// The plain form of an input of this role.
    pub(super) const fn name(param: bool) -> Plain {
        Plain::Name { param, attr: 0 }
    }

    /// The same for the op `def`, whose attributes are two.
    pub(super) fn for_op(self, def: &OpDef) -> Plain {
        match (self, def.attr_index("name"), def.attrs.len()) {
            (Plain::Name { param, .. }, Some(attr), 2) => Plain::Name { param, attr },
            _ => Plain::No,
        }
    }
}

/// `N<id> <kind> <operands> [T<id>]` or `N<id> <kind> S<id> T<id>`.
#[inline]
pub(super) fn node(r: &mut Reader<'_>, kinds: &Kinds) -> bool {
    let mut c = r.cursor;
    let start = c.at();
    c.bump();
    let Some(id) = c.uint() else { return false };
    if !c.eat(b' ') || r.nodes.get(id).is_some() {
        return false;
    }
    let head = Head { id, start };
    let rest = c.rest();
    let Some(&Kind { def, plain, .. }) = kinds.get_prefix(rest, c.word().len()) else {
        return false;
    };
    match plain {
        Plain::Operands(arity) => {
            let mut operands = [ValueId::new(0); 2];
            for operand in &mut operands[..arity] {
                match reference(&mut c, b'N').map(|id| r.nodes.get(id)) {
                    Some(Some(Entry::Defined(index))) => *operand = ValueId::new(index),
                    _ => return false,
                }
            }
            let Some(declared) = declared(&mut c, r) else {
                return false;
            };
            r.cursor.go_to(c.at());
            r.define_at(head, def, &operands[..arity], &[], declared, c.span(start));
            true
        }
        Plain::Name { param, attr } => {
            let name = reference(&mut c, b'S').map(|id| r.strings.get(id));
            let declared = declared(&mut c, r);
            let (Some(Some(Entry::Defined(name))), Some(Declared::Known(ty))) = (name, declared)
            else {
                return false;
            };
            r.cursor.go_to(c.at());
            let mut attrs = [Attr::Bool(param); 2];
            attrs[attr] = Attr::Str(Sym::new(name));
            r.define_at(head, def, &[], &attrs, Declared::Known(ty), c.span(start));
            true
        }
        Plain::No => false,
    }
}

/// A blank and the id behind `letter`.
#[inline(always)]
fn reference(c: &mut Cursor<'_>, letter: u8) -> Option<u64> {
    if c.eat(b' ') && c.eat(letter) {
        c.uint()
    } else {
        None
    }
}

/// The type and the end of the line.
#[inline(always)]
fn declared(c: &mut Cursor<'_>, r: &Reader<'_>) -> Option<Declared> {
    let mut declared = Declared::No;
    if c.peek() == b' ' {
        let Entry::Defined(index) = r.types.get(reference(c, b'T')?)? else {
            return None;
        };
        declared = Declared::Known(Ty::new(index));
    }
    (c.peek() == b'\n').then_some(declared)
}

/// `T<id> <dtype>` or `T<id> [<dtype>;<dim>,<dim>...]` with known extents.
#[inline]
pub(super) fn ty(r: &mut Reader<'_>) -> bool {
    let mut c = r.cursor;
    let Some(id) = declaration(&mut c) else {
        return false;
    };
    let mut shape = Shape::new();
    let bracket = c.eat(b'[');
    let Some(dtype) = DType::parse(c.ident()) else {
        return false;
    };
    if bracket && !dims(&mut c, &mut shape, r.limits.dims) {
        return false;
    }
    if c.peek() != b'\n' || r.types.get(id).is_some() {
        return false;
    }
    r.cursor.go_to(c.at());
    let ty = r.graph.intern_type(TypeView {
        dtype,
        shape: &shape,
    });
    r.types.set(id, Entry::Defined(ty.index()));
    true
}

/// `;<dim>,<dim>]`
#[inline]
fn dims(c: &mut Cursor<'_>, shape: &mut Shape, limit: usize) -> bool {
    let mut separator = b';';
    while c.eat(separator) && shape.len() < limit {
        let Some(extent) = c.uint() else { return false };
        shape.push(Dim::Fixed(extent as i64));
        separator = b',';
    }
    separator == b',' && c.eat(b']')
}

/// `S<id> "<text>"`
#[inline]
pub(super) fn string(r: &mut Reader<'_>) -> bool {
    let mut c = r.cursor;
    let (Some(id), true) = (declaration(&mut c), c.eat(b'"')) else {
        return false;
    };
    let Some(text) = c.plain_until(b'"') else {
        return false;
    };
    if c.peek() != b'\n' || r.strings.get(id).is_some() || r.strings_full() {
        return false;
    }
    r.cursor.go_to(c.at());
    let sym = r.graph.intern(text);
    r.strings.set(id, Entry::Defined(sym.index()));
    true
}

/// The letter, the id and the blank at the start of a line.
#[inline]
fn declaration(c: &mut Cursor<'_>) -> Option<u64> {
    c.bump();
    let id = c.uint()?;
    c.eat(b' ').then_some(id)
}
