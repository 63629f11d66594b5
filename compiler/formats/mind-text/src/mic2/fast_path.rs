//! Fast path for lines in canonical form.
//!
//! All other lines, including those with errors, are left to the general reader.

use mind_ir::ValueId;
use mind_ir::types::TypeView;

use super::opcodes::{Opcode, Opcodes};
use super::reader::Reader;
use crate::line::{Extents, Line, read_lines};

/// Reads lines in canonical form until another line follows; does nothing after an error. The cursor is at the end of a
/// line, before and after.
pub(super) fn lines(r: &mut Reader<'_>, opcodes: &Opcodes) {
    if r.broken {
        return;
    }
    r.cursor = read_lines(r.cursor, r.limits.lines, |line| {
        match (line.peek()?, line.second()?) {
            (b'T', b'0'..=b'9') => ty(line, r),
            (letter @ (b'a' | b'p'), b' ') => input(line, r, opcodes, letter == b'p'),
            (b'S' | b'O', _) => None,
            _ => node(line, r, opcodes),
        }
    });
}

/// Reads `<opcode> <inputs>` of an op with at most two inputs and no parameters.
#[inline(always)]
fn node(line: &mut Line<'_>, r: &mut Reader<'_>, opcodes: &Opcodes) -> Option<()> {
    let start = line.at();
    let (&Opcode { def, plain, .. }, len) = opcodes.first_word(line.rest()?)?;
    let arity = plain?;
    line.skip(len);
    let mut inputs = [ValueId::new(0); 2];
    for input in &mut inputs[..arity] {
        line.eat(b' ')?;
        let id = line.uint().filter(|&id| id < r.values as u64)?;
        *input = ValueId::new(id as usize);
    }
    if !line.ends() || r.values >= r.limits.nodes {
        return None;
    }
    r.push_at(
        def,
        &inputs[..arity],
        &[],
        r.cursor.span_of(start, line.at()),
    );
    r.values += 1;
    Some(())
}

/// Reads `a <ident> T<i>` or `p <ident> T<i>`.
#[inline(always)]
fn input(line: &mut Line<'_>, r: &mut Reader<'_>, opcodes: &Opcodes, param: bool) -> Option<()> {
    let start = line.at();
    let op = opcodes.input?;
    line.skip(2);
    let name = line.ident()?;
    let position = line.id(b'T')?;
    let types = &r.graph.preamble.types;
    let ty = *types.get(usize::try_from(position).ok()?)?;
    let full = r.graph.symbols().len() >= r.limits.strings || r.values >= r.limits.nodes;
    if !line.ends() || full {
        return None;
    }
    let name = r.graph.intern(name);
    let span = r.cursor.span_of(start, line.at());
    r.push_input(op, param, name, (position as u32, ty), span);
    r.values += 1;
    Some(())
}

/// Reads `T<i> <dtype> <dim>...` with known extents.
#[inline(always)]
fn ty(line: &mut Line<'_>, r: &mut Reader<'_>) -> Option<()> {
    line.skip(1);
    let position = line.uint()?;
    if position != r.graph.preamble.types.len() as u64 {
        return None;
    }
    line.eat(b' ')?;
    let dtype = line.dtype()?;
    let mut extents = Extents::new();
    while !line.ends() {
        line.extent(b' ', &mut extents)?;
    }
    let shape = extents.shape(r.limits.dims)?;
    let ty = r.graph.intern_type(TypeView { dtype, shape });
    r.declare_type(ty);
    Some(())
}
