//! Encodes types and constants as messages.

use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, TypeView};
use mind_mil::Element;
use mind_mil::call::{floats, integers};

use crate::blob::Writer;
use crate::package::proto::{
    BlobFileValue, Bools, Bytes, ConstantDimension, Dimension, DimensionKind, Doubles, Floats,
    ImmediateKind, ImmediateValue, Ints, LongInts, Strings, TensorKind, TensorType, TensorValue,
    UnknownDimension, Value, ValueKind, ValueType, ValueTypeKind,
};

/// The path of the weight file in a package.
pub(crate) const WEIGHTS: &str = "@model_path/weights/weight.bin";

/// The minimum number of elements of a constant in the weight file.
const LARGE: usize = 10;

/// Returns the message for the type of `element` in `shape`.
pub(crate) fn tensor_type(element: Element, shape: &[Dim]) -> ValueType {
    let dimension = |dim: &Dim| Dimension {
        dimension: Some(match dim.fixed() {
            Some(extent) => DimensionKind::Constant(ConstantDimension {
                size: extent.max(0) as u64,
            }),
            None => DimensionKind::Unknown(UnknownDimension { variadic: false }),
        }),
    };
    let ty = TensorType {
        data_type: element.proto(),
        rank: shape.len() as i64,
        dimensions: shape.iter().map(dimension).collect(),
    };
    ValueType {
        r#type: Some(ValueTypeKind::TensorType(ty)),
    }
}

/// Returns the message for a string.
pub(crate) fn text(word: &str) -> Value {
    let strings = Strings {
        values: vec![word.to_owned()],
    };
    immediate(
        tensor_type(Element::String, &[]),
        TensorKind::Strings(strings),
    )
}

fn immediate(ty: ValueType, kind: TensorKind) -> Value {
    let tensor = TensorValue { value: Some(kind) };
    let value = ImmediateValue {
        value: Some(ImmediateKind::Tensor(tensor)),
    };
    Value {
        r#type: Some(ty),
        value: Some(ValueKind::ImmediateValue(value)),
    }
}

/// Returns the message for a constant. A large one goes to the weight file, if there is one, the others into the
/// message.
pub(crate) fn constant(
    tensor: &Tensor,
    element: Element,
    ty: TypeView<'_>,
    specification: i32,
    weights: Option<&mut Writer>,
) -> Value {
    let message = tensor_type(element, ty.shape);
    let integers_too = matches!(
        element,
        Element::Int16 | Element::Uint16 | Element::Int32 | Element::Uint32
    );
    let filed = matches!(
        element,
        Element::Fp16 | Element::Fp32 | Element::Int8 | Element::Uint8
    ) || specification >= 9 && integers_too;
    if let Some(weights) = weights.filter(|_| filed && tensor.count() >= LARGE) {
        let data = little_endian(tensor);
        if let Some(offset) = weights.push(element, &data, 8 * data.len() as u64) {
            let file = BlobFileValue {
                file_name: WEIGHTS.to_owned(),
                offset,
            };
            return Value {
                r#type: Some(message),
                value: Some(ValueKind::BlobFileValue(file)),
            };
        }
    }
    immediate(message, kind(tensor, element))
}

fn kind(tensor: &Tensor, element: Element) -> TensorKind {
    match element {
        Element::Fp32 => {
            let values = floats(tensor)
                .into_iter()
                .map(|value| value as f32)
                .collect();
            TensorKind::Floats(Floats { values })
        }
        Element::Fp64 => TensorKind::Doubles(Doubles {
            values: floats(tensor),
        }),
        Element::Bool => {
            let values = integers(tensor).into_iter().map(|flag| flag != 0).collect();
            TensorKind::Bools(Bools { values })
        }
        Element::Int16 | Element::Uint16 | Element::Int32 => {
            let values = integers(tensor)
                .into_iter()
                .map(|value| value as i32)
                .collect();
            TensorKind::Ints(Ints { values })
        }
        Element::Int64 | Element::Uint64 => TensorKind::LongInts(LongInts {
            values: integers(tensor),
        }),
        element if element.bits() < 8 => TensorKind::Bytes(Bytes {
            values: packed(tensor, element),
        }),
        _ => TensorKind::Bytes(Bytes {
            values: little_endian(tensor),
        }),
    }
}

/// Returns elements of fewer than 8 bits packed into bytes, lowest bits first.
fn packed(tensor: &Tensor, element: Element) -> Vec<u8> {
    let bits = element.bits() as usize;
    let mut bytes = vec![0u8; (tensor.count() * bits).div_ceil(8)];
    for (at, value) in integers(tensor).into_iter().enumerate() {
        for bit in 0..bits {
            let place = at * bits + bit;
            bytes[place / 8] |= ((value >> bit & 1) as u8) << (place % 8);
        }
    }
    bytes
}

/// Returns the bytes of the elements in little-endian order.
fn little_endian(tensor: &Tensor) -> Vec<u8> {
    let mut bytes = tensor.buffer().to_bytes();
    if cfg!(target_endian = "big") {
        bytes
            .chunks_mut(tensor.dtype().size())
            .for_each(<[u8]>::reverse);
    }
    bytes
}
