//! Results whose extents are data: checks the extents, then writes the elements.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use mind_ir::types::DType;

use crate::object::body::Body;
use crate::program::{Elements, Extents, Stop};

use super::element::{bits, copy, index, write as stored};
use super::sum;

pub(super) fn write(body: &mut Body<'_>, extents: &Extents, arrays: &[Value]) {
    let (given, result) = match *arrays {
        [given, result] | [_, given, result] => (given, result),
        _ => unreachable!("a checked step has two or three arrays"),
    };
    for (at, &extent) in extents.extents.iter().enumerate() {
        let own = body.moved(given, (at * extents.index.size()) as u64);
        let own = index(body, extents.index, own);
        let is_other = body.ins().icmp_imm(IntCC::NotEqual, own, extent as i64);
        body.stop_if(is_other, Stop::OTHER_EXTENTS);
    }
    match &extents.elements {
        Elements::Same { count, size } => {
            let wanted = extents.count();
            if *count == wanted {
                body.copy(result, arrays[0], (wanted * size) as u64);
            } else {
                let always = body.word(1);
                body.stop_if(always, Stop::OTHER_EXTENTS);
            }
        }
        Elements::Stretched { size, strides, .. } => {
            each(body, extents, |body, number, counters| {
                let from = sum(body, counters.iter().copied().zip(strides.iter().copied()));
                let from = body.scaled(arrays[0], from, *size as i64);
                let to = body.scaled(result, number, *size as i64);
                copy(body, *size, to, from);
            })
        }
        Elements::Indices { dtype, axis } => each(body, extents, |body, number, counters| {
            let to = body.scaled(result, number, dtype.size() as i64);
            let own = rounded(body, *dtype, counters[*axis]);
            stored(body, *dtype, to, own);
        }),
    }
}

/// Calls `write` for each element with its number and its index along each dimension.
fn each(
    body: &mut Body<'_>,
    extents: &Extents,
    write: impl FnOnce(&mut Body<'_>, Value, &[Value]),
) {
    if extents.count() == 0 {
        return;
    }
    let first = body.word(0);
    let number = body.variable(types::I64, first);
    let counters: Vec<Value> = extents
        .extents
        .iter()
        .map(|&extent| body.open_repeat(extent as u64))
        .collect();
    let at = body.get(number);
    write(body, at, &counters);
    let following = body.ins().iadd_imm(at, 1);
    body.set(number, following);
    body.close(counters.len());
}

/// Converts an index to the computation type of `dtype`, such that storing it rounds only once.
fn rounded(body: &mut Body<'_>, dtype: DType, at: Value) -> Value {
    match dtype {
        // An index too large for f16 becomes infinite there; smaller ones are exact in f32.
        DType::F16 | DType::F32 => body.ins().fcvt_from_sint(types::F32, at),
        DType::BF16 => {
            let exact = body.ins().fcvt_from_sint(types::F64, at);
            odd(body, exact)
        }
        DType::F64 => body.ins().fcvt_from_sint(types::F64, at),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::Bool => at,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => at,
    }
}

/// Rounds a number ≥ 0 to odd, because rounding that again to fewer bits is the same as rounding once.
fn odd(body: &mut Body<'_>, x: Value) -> Value {
    let near = body.ins().fdemote(types::F32, x);
    let back = body.ins().fpromote(types::F64, near);
    let word = bits(body, types::I32, near);
    let is_above = body.ins().fcmp(FloatCC::GreaterThan, back, x);
    let is_above = body.ins().uextend(types::I32, is_above);
    let below = body.ins().isub(word, is_above);
    let is_rounded = body.ins().fcmp(FloatCC::NotEqual, back, x);
    let is_rounded = body.ins().uextend(types::I32, is_rounded);
    let word = body.ins().bor(below, is_rounded);
    bits(body, types::F32, word)
}
