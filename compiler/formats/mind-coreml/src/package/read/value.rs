//! Decodes types and constants to the syntax tree.

use mind_diag::Span;
use mind_ir::interface::Classes;
use mind_ir::types::{Dim, Shape};
use mind_mil::Element;
use mind_text::Limits;

use super::error::{is_text, refused, shown};
use crate::mil::build::classify::classes;
use crate::mil::syntax::{self, Typed};
use crate::mil::types::Type;
use crate::mil::{MAX_NESTING, Parsed};
use crate::package::proto::{
    DimensionKind, ImmediateKind, ImmediateValue, ListValue, TensorKind, TensorType, TensorValue,
    Value, ValueKind, ValueType, ValueTypeKind,
};

/// Returns the type of the value called `name`.
///
/// # Errors
///
/// A type that values cannot have.
pub(super) fn ty(ty: Option<&ValueType>, name: &str, limits: &Limits, span: Span) -> Parsed<Type> {
    let wrong = |found: &str| {
        let message = format!("`{}` is {found}", shown(name));
        refused(span, 2001, message, "values are tensors and states")
    };
    match ty.and_then(|ty| ty.r#type.as_ref()) {
        Some(ValueTypeKind::TensorType(tensor)) => {
            let (element, shape) = tensor_type(tensor, limits).map_err(|found| wrong(&found))?;
            Ok(Type::Tensor { element, shape })
        }
        Some(ValueTypeKind::StateType(state)) => {
            let wrapped = state.wrapped_type.as_deref();
            let Some(ValueTypeKind::TensorType(tensor)) =
                wrapped.and_then(|wrapped| wrapped.r#type.as_ref())
            else {
                return Err(wrong("a state of no tensor"));
            };
            let (element, shape) = tensor_type(tensor, limits).map_err(|found| wrong(&found))?;
            Ok(Type::State { element, shape })
        }
        Some(ValueTypeKind::DictionaryType(_)) => Ok(Type::Foreign("dict")),
        Some(ValueTypeKind::ListType(_)) => Ok(Type::Foreign("list")),
        None => Err(wrong("a tuple or of no type")),
    }
}

/// Returns the element type and shape of a tensor, or a message about the error in them.
fn tensor_type(tensor: &TensorType, limits: &Limits) -> Result<(Element, Shape), String> {
    let element = Element::from_proto(tensor.data_type)
        .ok_or_else(|| format!("of data type {}", tensor.data_type))?;
    let (rank, found) = (tensor.rank, tensor.dimensions.len());
    if rank != found as i64 {
        return Err(format!("of rank {rank} with {found} dimensions"));
    }
    if found > limits.dims.min(MAX_NESTING) {
        return Err(format!("of {found} dimensions, more than {MAX_NESTING}"));
    }
    let dim = |dimension: Option<&DimensionKind>| match dimension {
        Some(DimensionKind::Constant(own)) => i64::try_from(own.size).ok().map(Dim::Fixed),
        Some(DimensionKind::Unknown(own)) if !own.variadic => Some(Dim::Dynamic),
        Some(DimensionKind::Unknown(_)) | None => None,
    };
    let dims = tensor.dimensions.iter();
    let shape: Option<Shape> = dims.map(|own| dim(own.dimension.as_ref())).collect();
    Ok((element, shape.ok_or("of an open rank or extent")?))
}

/// Returns the value called `name` with its type.
///
/// # Errors
///
/// A missing value, a type that values cannot have, or elements of another type or number.
pub(super) fn typed(value: &Value, name: &str, limits: &Limits, span: Span) -> Parsed<Typed> {
    let ty = ty(value.r#type.as_ref(), name, limits, span)?;
    let name = shown(name);
    let elements = || {
        let message = format!("the elements of `{name}` are not those of its type");
        let help = "there are as many as the type holds, in the field of its element type";
        refused(span, 4005, message, help)
    };
    let value = match &value.value {
        Some(ValueKind::BlobFileValue(file)) => {
            let offset = i64::try_from(file.offset).map_err(|_| {
                let message = format!("`{name}` begins at offset {} of a file", file.offset);
                refused(span, 4115, message, "an offset is less than 2^63")
            })?;
            let path = text(&file.file_name, span)?;
            syntax::Value::Blob { path, offset }
        }
        Some(ValueKind::ImmediateValue(own)) => match (&own.value, &ty) {
            (Some(ImmediateKind::Tensor(tensor)), Type::Tensor { element, shape }) => {
                if let (Element::String, [word]) = (*element, strings(tensor)) {
                    syntax::Value::Text(text(word, span)?)
                } else {
                    let (count, bytes) = numbers(tensor, *element, shape).ok_or_else(elements)?;
                    syntax::Value::Elements { count, bytes }
                }
            }
            (Some(ImmediateKind::List(list)), Type::Foreign("list")) => {
                syntax::Value::Classes(labels(list).ok_or_else(elements)?)
            }
            _ => return Err(elements()),
        },
        None => {
            let help = "a value is immediate, or a place in a weight file";
            return Err(refused(span, 4104, format!("`{name}` has no value"), help));
        }
    };
    Ok(Typed { ty, value, span })
}

/// Returns the labels in a list; `None` if they are not all words or all integers.
fn labels(list: &ListValue) -> Option<Classes> {
    let (mut words, mut numbers) = (Vec::new(), Vec::new());
    for value in &list.values {
        let Some(ValueKind::ImmediateValue(ImmediateValue {
            value: Some(ImmediateKind::Tensor(tensor)),
        })) = &value.value
        else {
            return None;
        };
        match tensor.value.as_ref()? {
            TensorKind::Strings(own) => words.push(own.values.first()?.clone()),
            TensorKind::LongInts(own) => numbers.push(*own.values.first()?),
            TensorKind::Ints(own) => numbers.push(i64::from(*own.values.first()?)),
            _ => return None,
        }
    }
    classes(words, numbers)
}

/// Returns a string, if text can represent it.
///
/// # Errors
///
/// E1004 for quotes, backslashes and control characters.
pub(super) fn text(word: &str, span: Span) -> Parsed<String> {
    if is_text(word) {
        return Ok(word.to_owned());
    }
    let message = format!(
        "`{}` holds a quote, a backslash or a control character",
        shown(word)
    );
    Err(refused(
        span,
        1004,
        message,
        "strings of MIL have no escapes",
    ))
}

/// Returns the strings of a tensor; an empty slice if it holds something else.
pub(super) fn strings(tensor: &TensorValue) -> &[String] {
    match &tensor.value {
        Some(TensorKind::Strings(own)) => &own.values,
        _ => &[],
    }
}

/// Returns the number of elements of a tensor of this type, and their bytes in native order; `None` if type or number
/// differ.
pub(super) fn numbers(
    tensor: &TensorValue,
    element: Element,
    shape: &[Dim],
) -> Option<(usize, Vec<u8>)> {
    let count = shape.iter().try_fold(1usize, |count, dim| {
        count.checked_mul(usize::try_from(dim.fixed()?).ok()?)
    })?;
    let bytes: Vec<u8> = match (tensor.value.as_ref()?, element) {
        (TensorKind::Floats(own), Element::Fp32) => own
            .values
            .iter()
            .flat_map(|own| own.to_ne_bytes())
            .collect(),
        (TensorKind::Doubles(own), Element::Fp64) => own
            .values
            .iter()
            .flat_map(|own| own.to_ne_bytes())
            .collect(),
        (TensorKind::Bools(own), Element::Bool) => {
            own.values.iter().map(|&own| u8::from(own)).collect()
        }
        (TensorKind::Ints(own), Element::Int16 | Element::Uint16 | Element::Int32) => {
            let (least, most) = element.range()?;
            let fits = |own: &i32| (least..=most).contains(&i128::from(*own));
            if !own.values.iter().all(fits) {
                return None;
            }
            let size = element.carrier().size();
            let values = own.values.iter();
            values
                .flat_map(|own| native(own.to_le_bytes(), size))
                .collect()
        }
        (TensorKind::LongInts(own), Element::Int64 | Element::Uint64) => own
            .values
            .iter()
            .flat_map(|own| own.to_ne_bytes())
            .collect(),
        (TensorKind::Bytes(own), element) => packed(element, count, &own.values)?,
        _ => return None,
    };
    (bytes.len() == count.checked_mul(element.carrier().size())?).then_some((count, bytes))
}

/// Returns the first `size` bytes of a little-endian number, in native order.
fn native<const SIZE: usize>(bytes: [u8; SIZE], size: usize) -> impl Iterator<Item = u8> {
    let at = move |index: usize| {
        if cfg!(target_endian = "big") {
            size - 1 - index
        } else {
            index
        }
    };
    (0..size).map(move |index| bytes[at(index)])
}

/// Returns elements that a message stores as little-endian bytes; those of fewer than 8 bits are packed from the lowest
/// bits.
fn packed(element: Element, count: usize, bytes: &[u8]) -> Option<Vec<u8>> {
    let bits = element.bits() as usize;
    if count.checked_mul(bits)?.div_ceil(8) != bytes.len() {
        return None;
    }
    let (size, is_signed) = match element {
        Element::Fp16 => (2, false),
        Element::Uint32 => (4, false),
        Element::Int8 | Element::Uint8 => (1, false),
        Element::Int4 => (0, true),
        Element::Uint1 | Element::Uint2 | Element::Uint3 | Element::Uint4 | Element::Uint6 => {
            (0, false)
        }
        Element::Bool
        | Element::String
        | Element::Fp32
        | Element::Fp64
        | Element::Bf16
        | Element::Int16
        | Element::Int32
        | Element::Int64
        | Element::Uint16
        | Element::Uint64 => return None,
    };
    if size > 0 {
        let elements = bytes.chunks_exact(size).flat_map(|own| {
            let mut wide = [0u8; 4];
            wide[..size].copy_from_slice(own);
            native(wide, size)
        });
        return Some(elements.collect());
    }
    let element = |at: usize| {
        let word = (0..bits).fold(0u8, |word, bit| {
            let place = at * bits + bit;
            word | (bytes[place / 8] >> (place % 8) & 1) << bit
        });
        let unused = 8 - bits;
        if is_signed {
            ((word << unused) as i8 >> unused) as u8
        } else {
            word
        }
    };
    Some((0..count).map(element).collect())
}
