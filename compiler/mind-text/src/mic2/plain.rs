//! Lines in the form in which they are printed, read in one go.
//!
//! Each function reads the whole line at the cursor. It reads nothing and returns false where the line
//! has another form or an error; the general reader of such lines then reads it from its start.

use mind_ir::types::{DType, Dim, Shape, TypeView};
use mind_ir::{Ty, ValueId};

use super::opcodes::{Opcode, Opcodes};
use super::reader::Reader;
use crate::scan::Cursor;

/// `<opcode> <inputs>` of an op that has at most two inputs and no parameter.
#[inline]
pub(super) fn node(r: &mut Reader<'_>, opcodes: &Opcodes) -> bool {
    let mut c = r.cursor;
    let (start, rest) = (c.at(), c.rest());
    let Some(&Opcode {
        def,
        plain: Some(arity),
        ..
    }) = opcodes.get_prefix(rest, c.word().len())
    else {
        return false;
    };
    let mut inputs = [ValueId::new(0); 2];
    for input in &mut inputs[..arity] {
        match next_uint(&mut c) {
            Some(id) if id < r.values as u64 => *input = ValueId::new(id as usize),
            _ => return false,
        }
    }
    if c.peek() != b'\n' {
        return false;
    }
    r.cursor.go_to(c.at());
    r.push_at(def, &inputs[..arity], &[], c.span(start));
    true
}

/// The letter, the name and the type of `a <ident> T<i>`.
#[inline]
pub(super) fn input<'t>(r: &mut Reader<'t>) -> Option<(&'t str, u32, Ty)> {
    let mut c = r.cursor;
    c.bump();
    if !c.eat(b' ') {
        return None;
    }
    let name = c.ident();
    if name.is_empty() || !c.eat(b' ') || !c.eat(b'T') {
        return None;
    }
    let position = c.uint()?;
    let ty = *r
        .graph
        .preamble
        .types
        .get(usize::try_from(position).ok()?)?;
    if c.peek() != b'\n' {
        return None;
    }
    r.cursor.go_to(c.at());
    Some((name, position as u32, ty))
}

/// The type of `T<i> <dtype> <dim>...` with known extents.
#[inline]
pub(super) fn ty(r: &mut Reader<'_>) -> Option<Ty> {
    let mut c = r.cursor;
    c.bump();
    if c.uint() != Some(r.graph.preamble.types.len() as u64) || !c.eat(b' ') {
        return None;
    }
    let dtype = DType::parse(c.ident())?;
    let mut shape = Shape::new();
    while c.peek() != b'\n' {
        if shape.len() == r.limits.dims {
            return None;
        }
        shape.push(Dim::Fixed(next_uint(&mut c)? as i64));
    }
    r.cursor.go_to(c.at());
    Some(r.graph.intern_type(TypeView {
        dtype,
        shape: &shape,
    }))
}

/// A blank and an integer.
#[inline]
fn next_uint(c: &mut Cursor<'_>) -> Option<u64> {
    if c.eat(b' ') { c.uint() } else { None }
}
