//! Lines in the form in which they are printed, read in one go.
//!
//! What has another form, or an error, is left to the general reader of such lines.

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
    /// The name of an input.
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

/// Reads plain lines as long as there are any. The cursor is at the end of a line, before and after.
pub(super) fn lines(r: &mut Reader<'_>, kinds: &Kinds) {
    r.poisoned = false;
    let mut end = r.cursor;
    loop {
        let mut c = end;
        if !c.newline() || c.line() > r.limits.lines {
            break;
        }
        let read = match c.peek() {
            b'N' if r.node_lines < r.limits.nodes => node(&mut c, r, kinds),
            b'T' => ty(&mut c, r),
            b'S' => string(&mut c, r),
            _ => None,
        };
        if read.is_none() {
            break;
        }
        end = c;
    }
    r.cursor = end;
}

/// `N<id> <kind> <operands> [T<id>]` or `N<id> <kind> S<id> T<id>`
#[inline]
fn node(c: &mut Cursor<'_>, r: &mut Reader<'_>, kinds: &Kinds) -> Option<()> {
    let start = c.at();
    let id = declaration(c)?;
    if r.nodes.get(id).is_some() {
        return None;
    }
    let head = Head { id, start };
    let (&Kind { def, plain, .. }, len) = kinds.first_word(c.rest())?;
    c.go_to(c.at() + len);
    match plain {
        Plain::Operands(arity) => {
            let mut operands = [ValueId::new(0); 2];
            for operand in &mut operands[..arity] {
                let Entry::Defined(index) = r.nodes.get(reference(c, b'N')?)? else {
                    return None;
                };
                *operand = ValueId::new(index);
            }
            let declared = declared(c, r)?;
            r.define_at(head, def, &operands[..arity], &[], declared, c.span(start));
        }
        Plain::Name { param, attr } => {
            let Entry::Defined(name) = r.strings.get(reference(c, b'S')?)? else {
                return None;
            };
            let declared @ Declared::Known(_) = declared(c, r)? else {
                return None;
            };
            let mut attrs = [Attr::Bool(param); 2];
            attrs[attr] = Attr::Str(Sym::new(name));
            r.define_at(head, def, &[], &attrs, declared, c.span(start));
        }
        Plain::No => return None,
    }
    r.node_lines += 1;
    Some(())
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
fn ty(c: &mut Cursor<'_>, r: &mut Reader<'_>) -> Option<()> {
    let id = declaration(c)?;
    let mut shape = Shape::new();
    let bracket = c.eat(b'[');
    let dtype = DType::parse(c.ident())?;
    if bracket {
        dims(c, &mut shape, r.limits.dims)?;
    }
    if c.peek() != b'\n' || r.types.get(id).is_some() {
        return None;
    }
    let ty = r.graph.intern_type(TypeView {
        dtype,
        shape: &shape,
    });
    r.types.set(id, Entry::Defined(ty.index()));
    Some(())
}

/// `;<dim>,<dim>]`
#[inline]
fn dims(c: &mut Cursor<'_>, shape: &mut Shape, limit: usize) -> Option<()> {
    let mut separator = b';';
    while c.eat(separator) && shape.len() < limit {
        shape.push(Dim::Fixed(c.uint()? as i64));
        separator = b',';
    }
    (separator == b',' && c.eat(b']')).then_some(())
}

/// `S<id> "<text>"`
#[inline]
fn string(c: &mut Cursor<'_>, r: &mut Reader<'_>) -> Option<()> {
    let id = declaration(c)?;
    if !c.eat(b'"') {
        return None;
    }
    let text = c.plain_until(b'"')?;
    let full = r.graph.symbols().len() >= r.limits.strings;
    if c.peek() != b'\n' || r.strings.get(id).is_some() || full {
        return None;
    }
    let sym = r.graph.intern(text);
    r.strings.set(id, Entry::Defined(sym.index()));
    Some(())
}

/// The letter, the id and the blank at the start of a line.
#[inline(always)]
fn declaration(c: &mut Cursor<'_>) -> Option<u64> {
    c.bump();
    let id = c.uint()?;
    c.eat(b' ').then_some(id)
}
