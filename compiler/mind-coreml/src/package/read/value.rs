//! Constants as MIL text.

use half::f16;
use mind_mil::Element;

use super::error::{UnpackError, shown};
use super::words::{Words, Written};
use crate::package::proto::{
    DictionaryValue, DimensionKind, ImmediateKind, TensorKind, TensorValue, Value, ValueKind,
    ValueTypeKind,
};

/// A value with its type, `int32(-1)`; `place` is what has it.
///
/// # Errors
///
/// No value, a type that values do not have, elements of another type or number.
pub(super) fn typed(words: &mut Words, place: &str, value: &Value) -> Written {
    let missing = |what| UnpackError::Missing {
        place: format!("`{}`", shown(place)),
        what,
    };
    words.ty(place, value.r#type.as_ref())?;
    words.push("(");
    match value.value.as_ref().ok_or_else(|| missing("value"))? {
        ValueKind::BlobFileValue(file) => {
            let [string, offset] = if words.scalars {
                ["string", "uint64"]
            } else {
                ["tensor<string, []>", "tensor<uint64, []>"]
            };
            words.show(format_args!("BLOBFILE(path = {string}("));
            words.quoted(place, &file.file_name)?;
            words.show(format_args!("), offset = {offset}({}))", file.offset));
        }
        ValueKind::ImmediateValue(own) => match &own.value {
            Some(ImmediateKind::Tensor(tensor)) => elements(words, place, value, tensor)?,
            Some(ImmediateKind::Dictionary(pairs)) => dictionary(words, place, pairs)?,
            None => return Err(missing("tensor")),
        },
    }
    words.push(")");
    Ok(())
}

fn dictionary(words: &mut Words, place: &str, pairs: &DictionaryValue) -> Written {
    words.push("{");
    words.list(&pairs.values, |words, pair| {
        words.push("{");
        for (at, own) in [&pair.key, &pair.value].into_iter().enumerate() {
            words.push(if at == 0 { "" } else { ", " });
            let own = own.as_ref().ok_or_else(|| UnpackError::Missing {
                place: format!("`{}`", shown(place)),
                what: "key or entry",
            })?;
            entry(words, place, own)?;
        }
        words.push("}");
        Ok(())
    })?;
    words.push("}");
    Ok(())
}

/// A value whose type stands in that of the dictionary around it.
fn entry(words: &mut Words, place: &str, value: &Value) -> Written {
    match &value.value {
        Some(ValueKind::ImmediateValue(own)) => match &own.value {
            Some(ImmediateKind::Tensor(tensor)) => elements(words, place, value, tensor),
            Some(ImmediateKind::Dictionary(pairs)) => dictionary(words, place, pairs),
            None => Ok(()),
        },
        _ => Err(UnpackError::Elements {
            place: format!("`{}`", shown(place)),
        }),
    }
}

/// The element type of a value, and how many elements its shape has.
fn counted(value: &Value) -> Option<(Element, usize, bool)> {
    let ValueTypeKind::TensorType(tensor) = value.r#type.as_ref()?.r#type.as_ref()? else {
        return None;
    };
    let mut count = 1usize;
    for dimension in &tensor.dimensions {
        let DimensionKind::Constant(own) = dimension.dimension.as_ref()? else {
            return None;
        };
        count = count.checked_mul(usize::try_from(own.size).ok()?)?;
    }
    let element = Element::from_proto(tensor.data_type)?;
    Some((element, count, tensor.dimensions.is_empty()))
}

/// Elements as a flat list; the one of a scalar by itself.
fn elements(words: &mut Words, place: &str, value: &Value, tensor: &TensorValue) -> Written {
    let wrong = || UnpackError::Elements {
        place: format!("`{}`", shown(place)),
    };
    let (element, count, is_scalar) = counted(value).ok_or_else(wrong)?;
    words.push(if is_scalar { "" } else { "[" });
    let found = match tensor.value.as_ref().ok_or_else(wrong)? {
        TensorKind::Strings(own) if element == Element::String => {
            words.list(&own.values, |words, word| words.quoted(place, word))?;
            own.values.len()
        }
        TensorKind::Floats(own) if element == Element::Fp32 => numbers(words, &own.values),
        TensorKind::Doubles(own) if element == Element::Fp64 => numbers(words, &own.values),
        TensorKind::Bools(own) if element == Element::Bool => shown_all(words, &own.values),
        TensorKind::Ints(own)
            if matches!(element, Element::Int16 | Element::Uint16 | Element::Int32) =>
        {
            shown_all(words, &own.values)
        }
        TensorKind::LongInts(own) if element == Element::Int64 => shown_all(words, &own.values),
        TensorKind::LongInts(own) if element == Element::Uint64 => {
            shown_all(words, own.values.iter().map(|&value| value as u64))
        }
        TensorKind::Bytes(own) => packed(words, element, count, &own.values).ok_or_else(wrong)?,
        _ => return Err(wrong()),
    };
    if found != count {
        return Err(wrong());
    }
    words.push(if is_scalar { "" } else { "]" });
    Ok(())
}

fn shown_all<T: std::fmt::Display>(words: &mut Words, items: impl IntoIterator<Item = T>) -> usize {
    let mut count = 0;
    for item in items {
        words.push(if count == 0 { "" } else { ", " });
        words.show(item);
        count += 1;
    }
    count
}

/// Floats in decimals that read back to the same bits.
fn numbers<T: Copy + Into<f64>>(words: &mut Words, items: &[T]) -> usize {
    shown_all(words, items.iter().map(|&item| Number(item.into())))
}

/// A float as text has it: never with a sign on NaN.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_nan() {
            f.write_str("nan")
        } else {
            write!(f, "{:e}", self.0)
        }
    }
}

/// Elements that a message keeps as bytes, least first; those of fewer than 8 bits from the lowest bits on.
fn packed(words: &mut Words, element: Element, count: usize, bytes: &[u8]) -> Option<usize> {
    let bits = element.bits() as usize;
    if bits == 0 || count.checked_mul(bits)?.div_ceil(8) != bytes.len() {
        return None;
    }
    let word = |at: usize| {
        (0..bits.min(64)).fold(0u64, |word, bit| {
            let place = at * bits + bit;
            word | u64::from(bytes[place / 8] >> (place % 8) & 1) << bit
        })
    };
    let signed = |at: usize| (word(at) << (64 - bits)) as i64 >> (64 - bits);
    let all = 0..count;
    Some(match element {
        Element::Fp16 => shown_all(
            words,
            all.map(|at| Number(f16::from_bits(word(at) as u16).to_f64())),
        ),
        Element::Int4 | Element::Int8 => shown_all(words, all.map(signed)),
        Element::Uint1
        | Element::Uint2
        | Element::Uint3
        | Element::Uint4
        | Element::Uint6
        | Element::Uint8
        | Element::Uint32 => shown_all(words, all.map(word)),
        _ => return None,
    })
}
