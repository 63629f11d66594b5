//! Tensors of a model: element types and row-major, little-endian bytes.

use mind_convert::Refusal;
use mind_ir::ValueId;
use mind_ir::attr::Literal;
use mind_ir::builder::Builder;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{DType, Dim, TensorType};
use prost::bytes::Bytes;

use crate::files::{Files, external, is_external};
use crate::proto::TensorProto;

/// The ONNX element types that core has, by number.
const ELEMENT_TYPES: &[(i32, DType)] = &[
    (1, DType::F32),
    (2, DType::U8),
    (3, DType::I8),
    (4, DType::U16),
    (5, DType::I16),
    (6, DType::I32),
    (7, DType::I64),
    (9, DType::Bool),
    (10, DType::F16),
    (11, DType::F64),
    (12, DType::U32),
    (13, DType::U64),
    (16, DType::BF16),
];

/// The names of the element types that core does not have.
const OTHER_TYPES: &[(i32, &str)] = &[
    (0, "undefined"),
    (8, "string"),
    (14, "complex64"),
    (15, "complex128"),
    (17, "float8e4m3fn"),
    (18, "float8e4m3fnuz"),
    (19, "float8e5m2"),
    (20, "float8e5m2fnuz"),
    (21, "uint4"),
    (22, "int4"),
    (23, "float4e2m1"),
    (24, "float8e8m0"),
    (25, "uint2"),
    (26, "int2"),
];

/// Returns the dtype of an element type.
///
/// # Errors
///
/// An element type that core does not have.
pub(crate) fn dtype(element: i64) -> Result<DType, Refusal> {
    let same = |number: i32| i64::from(number) == element;
    if let Some((_, dtype)) = ELEMENT_TYPES.iter().find(|(number, _)| same(*number)) {
        return Ok(*dtype);
    }
    let name = OTHER_TYPES.iter().find(|(number, _)| same(*number));
    let found = name.map_or_else(|| element.to_string(), |(_, name)| (*name).to_owned());
    let expected = ELEMENT_TYPES.iter().map(|(_, dtype)| dtype.to_string());
    let expected = expected.collect::<Vec<_>>().join(", ");
    Err(Refusal::dtype("the tensor".to_owned(), found, expected))
}

/// Returns the element type of a dtype.
pub(crate) fn element_type(dtype: DType) -> i32 {
    let mut types = ELEMENT_TYPES.iter();
    let own = types.find(|(_, own)| *own == dtype);
    own.expect("every dtype of core has an element type").0
}

/// A tensor with known elements, which are slices of the file where possible.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    pub dtype: DType,
    pub shape: Vec<usize>,
    /// The elements, row-major and little-endian.
    pub bytes: Bytes,
}

impl Constant {
    /// Returns the constant of `tensor`.
    pub fn of(tensor: &Tensor) -> Constant {
        Constant {
            dtype: tensor.dtype(),
            shape: tensor.shape().to_vec(),
            bytes: tensor.buffer().shared_bytes(),
        }
    }

    /// Returns the number of elements.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns the elements as a tensor.
    pub fn tensor(&self) -> Tensor {
        let elements = Buffer::from_shared(self.dtype, self.bytes.clone());
        Tensor::new(self.shape.clone(), elements)
    }

    /// Emits the constant, which shares the bytes.
    pub fn emit(&self, b: &mut Builder<'_>) -> ValueId {
        if self.count() <= 1 {
            return mind_core::constant(b, &self.tensor());
        }
        let dims = self.shape.iter().map(|&extent| Dim::Fixed(extent as i64));
        let ty = TensorType::new(self.dtype, dims);
        let ty = b.graph.intern_type(ty.view());
        b.graph.share(self.bytes.clone());
        let literal = Literal {
            dtype: self.dtype,
            count: Some(self.count()),
            bytes: &self.bytes,
        };
        mind_core::literal_constant(b, &literal, ty)
    }
}

/// Decodes an initialiser or an attribute.
///
/// # Errors
///
/// An element type that core does not have, a file that is not among `files`, a negative dimension, or a number of
/// elements that does not match the dimensions.
pub(crate) fn constant(proto: &TensorProto, files: &Files) -> Result<Constant, Refusal> {
    let dtype = dtype(i64::from(proto.data_type))?;
    let extents = proto.dims.iter().map(|&dim| usize::try_from(dim).ok());
    let shape: Option<Vec<usize>> = extents.collect();
    let Some(shape) = shape else {
        let found = format!("{:?}", proto.dims);
        return Err(Refusal::value("dims", found, "extents of 0 or more"));
    };
    let count = shape
        .iter()
        .try_fold(1usize, |n, &extent| n.checked_mul(extent));
    let wanted = count.and_then(|count| count.checked_mul(dtype.size()));
    let bytes = if is_external(proto) {
        external(proto, wanted.unwrap_or(usize::MAX) as u64, files)?
    } else if proto.raw_data.is_empty() {
        typed_bytes(proto, dtype).into()
    } else {
        proto.raw_data.clone()
    };
    if wanted != Some(bytes.len()) {
        let found = format!("{} bytes", bytes.len());
        let wanted = wanted.map_or_else(|| "more than 2^63".to_owned(), |own| own.to_string());
        let expected = format!("{wanted} for {dtype}{:?}", proto.dims);
        return Err(Refusal::elements(found, expected));
    }
    let wrong = bytes.iter().position(|&byte| byte > 1);
    if let Some(at) = wrong.filter(|_| dtype == DType::Bool) {
        let found = format!("{} as element {at}", bytes[at]);
        return Err(Refusal::elements(
            found,
            "0 or 1, because it is a truth value",
        ));
    }
    Ok(Constant {
        dtype,
        shape,
        bytes,
    })
}

/// Returns the bytes of elements that are stored in a repeated field. The element type decides which field that is, and
/// how narrow numbers are stored in it.
fn typed_bytes(proto: &TensorProto, dtype: DType) -> Vec<u8> {
    fn all<T: Copy, const N: usize>(list: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
        let mut all = Vec::with_capacity(list.len() * N);
        for &own in list {
            all.extend_from_slice(&bytes(own));
        }
        all
    }
    match dtype {
        DType::F32 => all(&proto.float_data, f32::to_le_bytes),
        DType::F64 => all(&proto.double_data, f64::to_le_bytes),
        DType::I64 => all(&proto.int64_data, i64::to_le_bytes),
        DType::U64 => all(&proto.uint64_data, u64::to_le_bytes),
        DType::U32 => all(&proto.uint64_data, |own| (own as u32).to_le_bytes()),
        DType::I32 => all(&proto.int32_data, i32::to_le_bytes),
        DType::I16 | DType::U16 | DType::F16 | DType::BF16 => {
            all(&proto.int32_data, |own| (own as u16).to_le_bytes())
        }
        DType::I8 | DType::U8 | DType::Bool => {
            all(&proto.int32_data, |own| (own as u8).to_le_bytes())
        }
    }
}
