//! Simpler constants.

use mind_ir::attr::{Attr, Literal};
use mind_ir::opdef::Trait;
use mind_ir::types::DType;
use mind_ir::{Graph, OpId};

use super::edit::{Edit, edit};

/// The maximal number of elements of a constant that is simplified element by element.
const SINGLE: usize = 64;

/// Proposes splats for constants, 0 or 1 for their elements, and 0, 1 or whole numbers for numbers.
pub(crate) fn simplify(g: &Graph) -> Vec<Edit> {
    let mut edits = Vec::new();
    for op in g.walk().filter(|&op| g.def(op).has(Trait::Constant)) {
        for (index, attr) in g.attrs(op).iter().enumerate() {
            match *attr {
                Attr::Literal(literal) => literals(op, index, literal, &mut edits),
                Attr::Int(value) => {
                    let simpler = [0, 1, value / 2].map(Attr::Int);
                    edits.extend(simpler.map(|simpler| set(op, index, simpler)));
                }
                Attr::Float(bits) => {
                    let simpler = [0.0, 1.0, f64::from_bits(bits).trunc()].map(Attr::float);
                    edits.extend(simpler.map(|simpler| set(op, index, simpler)));
                }
                _ => {}
            }
        }
    }
    edits
}

fn set(op: OpId, index: usize, attr: Attr<'static>) -> Edit {
    edit(move |g| g.set_attr(op, index, attr))
}

fn literals(op: OpId, index: usize, literal: &Literal<'_>, edits: &mut Vec<Edit>) {
    let dtype = literal.dtype;
    let numbers = [zero(dtype), one(dtype)];
    let first = literal.bytes.get(..dtype.size()).map(<[u8]>::to_vec);
    for splat in numbers.iter().cloned().chain(first) {
        edits.push(edit(move |g| {
            let splat = Literal {
                dtype,
                count: None,
                bytes: &splat,
            };
            g.set_attr(op, index, Attr::Literal(&splat));
        }));
    }
    let (Some(count @ 2..=SINGLE), whole) = (literal.count, literal.bytes) else {
        return;
    };
    for (at, number) in (0..count).flat_map(|at| numbers.iter().map(move |number| (at, number))) {
        let mut bytes = whole.to_vec();
        let Some(element) = bytes.get_mut(at * dtype.size()..(at + 1) * dtype.size()) else {
            continue;
        };
        element.copy_from_slice(number);
        edits.push(edit(move |g| {
            let simpler = Literal {
                dtype,
                count: Some(count),
                bytes: &bytes,
            };
            g.set_attr(op, index, Attr::Literal(&simpler));
        }));
    }
}

fn zero(dtype: DType) -> Vec<u8> {
    vec![0; dtype.size()]
}

/// Returns 1 in native byte order.
fn one(dtype: DType) -> Vec<u8> {
    match dtype {
        DType::F16 => 0x3c00u16.to_ne_bytes().to_vec(),
        DType::BF16 => 0x3f80u16.to_ne_bytes().to_vec(),
        DType::F32 => 1.0f32.to_ne_bytes().to_vec(),
        DType::F64 => 1.0f64.to_ne_bytes().to_vec(),
        DType::I8 | DType::U8 | DType::Bool => vec![1],
        DType::I16 | DType::U16 => 1u16.to_ne_bytes().to_vec(),
        DType::I32 | DType::U32 => 1u32.to_ne_bytes().to_vec(),
        DType::I64 | DType::U64 => 1u64.to_ne_bytes().to_vec(),
    }
}
