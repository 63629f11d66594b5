//! Fast path for lines in canonical form.
//!
//! All other lines, including those with errors, are left to the general reader.

use mind_ir::types::TypeView;
use mind_ir::{Sym, Ty, ValueId};

use super::form::Plain;
use super::ids::{Entry, Ids};
use super::kinds::{NodeKind, NodeKinds};
use super::reader::Reader;
use crate::input;
use crate::line::{Extents, Line, read_lines};

/// Reads lines in canonical form until another line follows. The cursor is at the end of a line, before and after.
pub(super) fn lines(r: &mut Reader<'_>, kinds: &NodeKinds) {
    r.cursor = read_lines(r.cursor, r.limits.lines, |line| match line.peek()? {
        b'N' => node(line, r, kinds),
        b'T' => ty(line, r),
        b'S' => string(line, r),
        _ => None,
    });
}

/// Reads `N<id> <kind> <operands> [T<id>]` or `N<id> <kind> S<id> T<id>`.
#[inline(always)]
fn node(line: &mut Line<'_>, r: &mut Reader<'_>, kinds: &NodeKinds) -> Option<()> {
    let start = line.at();
    let id = new_id(line, &r.nodes)?;
    if r.node_lines >= r.limits.nodes {
        return None;
    }
    let (&NodeKind { def, plain, .. }, len) = kinds.first_word(line.rest()?)?;
    line.skip(len);
    match plain {
        Plain::Operands(arity) => {
            let mut operands = [ValueId::new(0); 2];
            for operand in &mut operands[..arity] {
                *operand = ValueId::new(known(line, b'N', &r.nodes)?);
            }
            let ty = if line.ends() {
                None
            } else {
                Some(ty_of(line, r)?)
            };
            let span = r.cursor.span_of(start, line.at());
            r.append(id, def, &operands[..arity], &[], ty, span);
        }
        Plain::Name { param } => {
            let name = Sym::new(known(line, b'S', &r.strings)?);
            let attrs = input::attrs(def, name, param);
            let ty = ty_of(line, r)?;
            let span = r.cursor.span_of(start, line.at());
            r.append(id, def, &[], &attrs, Some(ty), span);
        }
        Plain::No => return None,
    }
    r.node_lines += 1;
    Some(())
}

/// Reads a blank, a type and the end of the line.
#[inline(always)]
fn ty_of(line: &mut Line<'_>, r: &Reader<'_>) -> Option<Ty> {
    let index = known(line, b'T', &r.types)?;
    line.ends().then(|| Ty::new(index))
}

/// Reads `T<id> <dtype>` or `T<id> [<dtype>;<dim>,<dim>...]` with known extents.
#[inline(always)]
fn ty(line: &mut Line<'_>, r: &mut Reader<'_>) -> Option<()> {
    let id = new_id(line, &r.types)?;
    let mut extents = Extents::new();
    let bracket = line.eat(b'[').is_some();
    let dtype = line.dtype()?;
    if bracket {
        line.extent(b';', &mut extents)?;
        while line.eat(b']').is_none() {
            line.extent(b',', &mut extents)?;
        }
    }
    if !line.ends() {
        return None;
    }
    let shape = extents.shape(r.limits.dims)?;
    let ty = r.graph.intern_type(TypeView { dtype, shape });
    r.types.set(id, Entry::Defined(ty.index()));
    Some(())
}

/// Reads `S<id> "<text>"`.
#[inline(always)]
fn string(line: &mut Line<'_>, r: &mut Reader<'_>) -> Option<()> {
    let id = new_id(line, &r.strings)?;
    line.eat(b'"')?;
    let text = line.until(b'"')?;
    if !line.ends() || r.graph.symbols().len() >= r.limits.strings {
        return None;
    }
    let sym = r.graph.intern(text);
    r.strings.set(id, Entry::Defined(sym.index()));
    Some(())
}

/// Reads the letter and the id at the start of a line, and the blank after them. Returns `None` if the id is already
/// defined.
#[inline(always)]
fn new_id(line: &mut Line<'_>, ids: &Ids) -> Option<u64> {
    line.skip(1);
    let id = line.uint()?;
    line.eat(b' ')?;
    ids.get(id).is_none().then_some(id)
}

/// Reads a blank, `letter` and an id; returns the index of the entity with that id.
#[inline(always)]
fn known(line: &mut Line<'_>, letter: u8, ids: &Ids) -> Option<usize> {
    match ids.get(line.id(letter)?) {
        Some(Entry::Defined(index)) => Some(index),
        _ => None,
    }
}
