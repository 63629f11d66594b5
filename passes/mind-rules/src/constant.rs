//! Compile-time constants.

use mind_ir::attr::Attr;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::opdef::Trait;
use mind_ir::tensor::{Buffer, FloatNum, Tensor};
use mind_ir::types::DType;
use mind_ir::{Graph, OpId, Ty, with_float};

use crate::expr::Number;

/// Maximum size, in bytes, of a constant that a rule creates in a module.
pub const LIKE_LIMIT: u64 = 1 << 20;

/// A constant, stored as one element if it is a splat.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its type, in the scratch graph's table.
    pub ty: Ty,
    /// Whether `data` is a single element of rank 0 that is repeated at every position.
    pub splat: bool,
    /// The elements.
    pub data: Tensor,
}

impl Constant {
    /// Returns a splat of `element`, which has rank 0.
    pub fn splat(ty: Ty, element: Tensor) -> Constant {
        Constant {
            ty,
            splat: true,
            data: element,
        }
    }

    /// Returns the constant with the elements of `tensor`; a splat if all elements have the same bits.
    pub fn of(ty: Ty, tensor: Tensor) -> Constant {
        let bytes = tensor.buffer().as_bytes();
        let size = tensor.dtype().size();
        let same = !bytes.is_empty() && bytes.chunks(size).all(|each| each == &bytes[..size]);
        if same {
            let element = Buffer::from_bytes(tensor.dtype(), &bytes[..size]);
            return Constant::splat(ty, Tensor::new(Vec::new(), element));
        }
        Constant {
            ty,
            splat: false,
            data: tensor,
        }
    }
}

/// Returns the constant that `op` defines, of type `ty`; `None` if it is not a constant, or if it is neither a splat
/// nor at most `limit` bytes.
pub fn constant_of(g: &Graph, op: OpId, ty: Ty, limit: u64) -> Option<Constant> {
    let def = g.def(op);
    if !def.has(Trait::Constant) || !g.operands(op).is_empty() {
        return None;
    }
    // An empty constant is not reported because it has no element; all empty constants of a type are equal.
    g.ty(g.result(op)).count().filter(|&count| count > 0)?;
    if let [Attr::Literal(literal)] = g.attrs(op) {
        if literal.bytes.len() as u64 > limit {
            return None;
        }
        if literal.is_splat() {
            let element = Buffer::from_bytes(literal.dtype, literal.bytes);
            return Some(Constant::splat(ty, Tensor::new(Vec::new(), element)));
        }
    }
    let dims = DimEnv::default();
    let results = (def.eval?)(op, &EvalCx::fold(g, &dims, limit), &[]).ok()?;
    let [tensor]: [Tensor; 1] = results.into_inner().ok()?;
    Some(Constant::of(ty, tensor))
}

/// Returns `number` as a scalar of `dtype`; `None` if the dtype cannot represent it exactly.
pub fn element(dtype: DType, number: Number) -> Option<Tensor> {
    fn float<T: FloatNum>(number: Number) -> Option<Buffer> {
        let value = T::from_f64(number.to_f64());
        let exact = value.to_f64().to_bits() == number.to_f64().to_bits();
        exact.then(|| T::wrap(vec![value]))
    }
    let Number::Int(int) = number else {
        let buffer = with_float!(dtype, T => float::<T>(number), else None)?;
        return Some(Tensor::new(Vec::new(), buffer));
    };
    let buffer = match dtype {
        DType::I8 => Buffer::I8(vec![int.try_into().ok()?].into()),
        DType::I16 => Buffer::I16(vec![int.try_into().ok()?].into()),
        DType::I32 => Buffer::I32(vec![int.try_into().ok()?].into()),
        DType::I64 => Buffer::I64(vec![int].into()),
        DType::U8 => Buffer::U8(vec![int.try_into().ok()?].into()),
        DType::U16 => Buffer::U16(vec![int.try_into().ok()?].into()),
        DType::U32 => Buffer::U32(vec![int.try_into().ok()?].into()),
        DType::U64 => Buffer::U64(vec![int.try_into().ok()?].into()),
        DType::Bool => Buffer::Bool(
            vec![match int {
                0 => false,
                1 => true,
                _ => return None,
            }]
            .into(),
        ),
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            with_float!(dtype, T => float::<T>(number), else None)?
        }
    };
    Some(Tensor::new(Vec::new(), buffer))
}
