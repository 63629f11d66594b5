//! More common dtypes.

use mind_ir::attr::{Attr, Literal};
use mind_ir::tensor::rust_types::{BF16, F16};
use mind_ir::tensor::{Buffer, FloatNum, Num, Tensor};
use mind_ir::types::DType;
use mind_ir::{Graph, OpId, ValueId, with_num};

use super::edit::{Edit, edit};
use super::shapes::{forget_types, leaves};

/// Dtypes that may replace each other, the most common first.
const FAMILIES: [&[DType]; 2] = [
    &[DType::F32, DType::F64, DType::F16, DType::BF16],
    &[
        DType::I32,
        DType::I64,
        DType::I16,
        DType::I8,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
    ],
];

/// Returns the number of more common dtypes in the family of a dtype.
pub(crate) fn rarity(dtype: DType) -> usize {
    let place = |family: &&[DType]| family.iter().position(|own| *own == dtype);
    FAMILIES.iter().find_map(place).unwrap_or(0)
}

/// Proposes a more common dtype for all inputs and constants of a dtype.
pub(crate) fn simplify(g: &Graph) -> Vec<Edit> {
    let mut edits = Vec::new();
    for family in FAMILIES {
        for (rarity, &from) in family.iter().enumerate().skip(1) {
            if leaves(g).any(|(_, value)| dtype(g, value) == Some(from)) {
                let targets = family[..rarity].iter();
                edits.extend(targets.map(|&to| edit(move |g| everywhere(g, from, to))));
            }
        }
    }
    edits
}

fn dtype(g: &Graph, value: ValueId) -> Option<DType> {
    let ty = g.declared(value).or(g.type_id(value))?;
    Some(g.types().get(ty).dtype)
}

fn everywhere(g: &mut Graph, from: DType, to: DType) {
    for (op, value) in leaves(g).collect::<Vec<_>>() {
        let Some(ty) = g.declared(value).or(g.type_id(value)) else {
            continue;
        };
        let mut ty = g.types().get(ty).to_owned();
        if ty.dtype == from {
            ty.dtype = to;
            let ty = g.intern_type(ty.view());
            g.declare(value, ty);
            convert_literals(g, op, to);
        }
    }
    forget_types(g);
}

fn convert_literals(g: &mut Graph, op: OpId, to: DType) {
    for index in 0..g.attrs(op).len() {
        let Attr::Literal(literal) = g.attr(op, index) else {
            continue;
        };
        let bytes = converted(literal.dtype, literal.bytes, to);
        let converted = Literal {
            dtype: to,
            count: literal.count,
            bytes: &bytes,
        };
        g.set_attr(op, index, Attr::Literal(&converted));
    }
}

/// Converts elements to another dtype of their family, with rounding or wrapping.
fn converted(from: DType, bytes: &[u8], to: DType) -> Vec<u8> {
    let elements = Buffer::from_bytes(from, bytes);
    let mut converted = Vec::with_capacity(elements.len() * to.size());
    with_num!(from, From => {
        for element in Tensor::new(vec![elements.len()], elements).elements::<From>() {
            push(element.to_f64(), element.to_i128(), to, &mut converted);
        }
    }, else return bytes.to_vec());
    converted
}

fn push(real: f64, whole: Option<i128>, to: DType, bytes: &mut Vec<u8>) {
    let whole = whole.unwrap_or(0);
    match to {
        DType::F32 => bytes.extend((real as f32).to_ne_bytes()),
        DType::F64 => bytes.extend(real.to_ne_bytes()),
        DType::I32 => bytes.extend((whole as i32).to_ne_bytes()),
        DType::I64 => bytes.extend((whole as i64).to_ne_bytes()),
        DType::I16 => bytes.extend((whole as i16).to_ne_bytes()),
        DType::I8 => bytes.extend((whole as i8).to_ne_bytes()),
        DType::U8 => bytes.extend((whole as u8).to_ne_bytes()),
        DType::U16 => bytes.extend((whole as u16).to_ne_bytes()),
        DType::U32 => bytes.extend((whole as u32).to_ne_bytes()),
        DType::U64 => bytes.extend((whole as u64).to_ne_bytes()),
        DType::F16 => bytes.extend(<F16 as FloatNum>::from_f64(real).to_ne_bytes()),
        DType::BF16 => bytes.extend(<BF16 as FloatNum>::from_f64(real).to_ne_bytes()),
        DType::Bool => bytes.push(u8::from(whole != 0)),
    }
}
