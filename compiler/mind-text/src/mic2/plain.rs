//! Lines in the form in which they are printed, read in one go.
//!
//! What has another form, or an error, is left to the general reader of such lines.

use mind_ir::types::{DType, Dim, Shape, TypeView};
use mind_ir::{Ty, ValueId};

use super::opcodes::{Opcode, Opcodes};
use super::reader::Reader;
use crate::scan::Cursor;

/// Reads plain lines as long as there are any. The cursor is at the end of a line, before and after.
pub(super) fn lines(r: &mut Reader<'_>, opcodes: &Opcodes) {
    let mut end = r.cursor;
    loop {
        let mut c = end;
        if !c.newline() || c.line() > r.limits.lines || r.values >= r.limits.nodes || r.broken {
            break;
        }
        let read = match (c.peek(), c.ahead(1)) {
            (b'T', b'0'..=b'9') => ty(&mut c, r),
            (letter @ (b'a' | b'p'), b' ') => input(&mut c, r, opcodes, letter == b'p'),
            (b'S' | b'O', _) => None,
            _ => node(&mut c, r, opcodes),
        };
        if read.is_none() {
            break;
        }
        end = c;
    }
    r.cursor = end;
}

/// `<opcode> <inputs>` of an op that has at most two inputs and no parameter.
#[inline]
fn node(c: &mut Cursor<'_>, r: &mut Reader<'_>, opcodes: &Opcodes) -> Option<()> {
    let start = c.at();
    let (&Opcode { def, plain, .. }, len) = opcodes.first_word(c.rest())?;
    let arity = plain?;
    c.go_to(start + len);
    let mut inputs = [ValueId::new(0); 2];
    for input in &mut inputs[..arity] {
        let id = next_uint(c).filter(|&id| id < r.values as u64)?;
        *input = ValueId::new(id as usize);
    }
    if c.peek() != b'\n' {
        return None;
    }
    r.push_at(def, &inputs[..arity], &[], c.span(start));
    r.values += 1;
    Some(())
}

/// `a <ident> T<i>` or `p <ident> T<i>`
#[inline]
fn input(c: &mut Cursor<'_>, r: &mut Reader<'_>, opcodes: &Opcodes, param: bool) -> Option<()> {
    let start = c.at();
    let op = opcodes.input?;
    c.go_to(start + 2);
    let name = c.ident();
    if name.is_empty() || !c.eat(b' ') || !c.eat(b'T') {
        return None;
    }
    let position = c.uint()?;
    let types = &r.graph.preamble.types;
    let ty = *types.get(usize::try_from(position).ok()?)?;
    if c.peek() != b'\n' || r.graph.symbols().len() >= r.limits.strings {
        return None;
    }
    let name = r.graph.intern(name);
    r.push_input(op, param, name, (position as u32, ty), c.span(start));
    r.values += 1;
    Some(())
}

/// `T<i> <dtype> <dim>...` with known extents.
#[inline]
fn ty(c: &mut Cursor<'_>, r: &mut Reader<'_>) -> Option<()> {
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
        shape.push(Dim::Fixed(next_uint(c)? as i64));
    }
    let ty: Ty = r.graph.intern_type(TypeView {
        dtype,
        shape: &shape,
    });
    r.declare_type(ty);
    Some(())
}

/// A blank and an integer.
#[inline]
fn next_uint(c: &mut Cursor<'_>) -> Option<u64> {
    if c.eat(b' ') { c.uint() } else { None }
}
