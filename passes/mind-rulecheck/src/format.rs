//! Bit layouts of float formats.

use mind_ir::tensor::{Buffer, FloatNum};
use mind_ir::types::DType;
use mind_ir::{with_dtype, with_float};

/// A binary float format: the widths of its fraction and exponent in bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloatFormat {
    pub(crate) fraction: u32,
    pub(crate) exponent: u32,
}

impl FloatFormat {
    /// Returns the format of a float dtype; `None` for other dtypes.
    pub(crate) fn of(dtype: DType) -> Option<FloatFormat> {
        let format = dtype.float_format()?;
        Some(FloatFormat {
            fraction: format.mantissa,
            exponent: format.exponent,
        })
    }

    /// Returns the exponent field of infinities and NaN.
    pub(crate) fn top(self) -> u64 {
        (1 << self.exponent) - 1
    }

    /// Returns the exponent field of 1.
    pub(crate) fn bias(self) -> u64 {
        self.top() / 2
    }

    /// Returns the bits of a float with these fields.
    pub(crate) fn bits(self, negative: bool, exponent: u64, fraction: u64) -> u64 {
        let sign = u64::from(negative) << (self.fraction + self.exponent);
        sign | exponent << self.fraction | fraction & ((1 << self.fraction) - 1)
    }

    /// Returns half the distance from 1 to the next float, which is the relative error of one rounding.
    pub(crate) fn rounding(self) -> f64 {
        0.5 / (1u64 << self.fraction) as f64
    }

    /// Returns the smallest positive normal number.
    pub(crate) fn least_normal(self) -> f64 {
        2f64.powi(1 - self.bias() as i32)
    }
}

/// Returns elements of `dtype` with these bits, which are the low ones of each word.
pub(crate) fn from_bits(dtype: DType, bits: &[u64]) -> Buffer {
    let mut bytes = Vec::with_capacity(bits.len() * dtype.size());
    for &bits in bits {
        match dtype.size() {
            1 if dtype == DType::Bool => bytes.push(bits as u8 & 1),
            1 => bytes.push(bits as u8),
            2 => bytes.extend((bits as u16).to_ne_bytes()),
            4 => bytes.extend((bits as u32).to_ne_bytes()),
            _ => bytes.extend(bits.to_ne_bytes()),
        }
    }
    Buffer::from_bytes(dtype, &bytes)
}

/// Returns the bits of the number of `dtype` nearest to `value`; integers are truncated.
pub(crate) fn bits_of(dtype: DType, value: f64) -> u64 {
    fn float<T: FloatNum>(value: f64) -> Vec<u8> {
        T::wrap(vec![T::from_f64(value)]).to_bytes()
    }
    let bytes = with_float!(dtype, T => float::<T>(value), else return value as i128 as u64);
    match bytes[..] {
        [a, b] => u64::from(u16::from_ne_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_ne_bytes([a, b, c, d])),
        _ => bytes
            .first_chunk()
            .map_or(0, |bytes| u64::from_ne_bytes(*bytes)),
    }
}

/// Returns every element as an `f64`: exact for floats, rounded for large integers, 0 or 1 for booleans.
pub(crate) fn to_f64(buffer: &Buffer) -> Vec<f64> {
    fn all<T: ToF64>(buffer: &Buffer) -> Vec<f64> {
        let elements = T::peek(buffer).unwrap_or_default();
        elements.iter().map(|&element| element.to_f64()).collect()
    }
    with_dtype!(buffer.dtype(), T => all::<T>(buffer))
}

trait ToF64: mind_ir::tensor::Element {
    fn to_f64(self) -> f64;
}

macro_rules! to_f64 {
    ($($element:ty),*) => {$(
        impl ToF64 for $element {
            fn to_f64(self) -> f64 {
                mind_ir::tensor::Num::to_f64(self)
            }
        }
    )*};
}

to_f64!(
    mind_ir::tensor::rust_types::F16,
    mind_ir::tensor::rust_types::BF16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64
);

impl ToF64 for bool {
    fn to_f64(self) -> f64 {
        f64::from(u8::from(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_fields_agree_in_every_format() {
        for &dtype in DType::ALL {
            let Some(format) = FloatFormat::of(dtype) else {
                continue;
            };
            let one = format.bits(false, format.bias(), 0);
            assert_eq!(bits_of(dtype, 1.0), one);
            assert_eq!(to_f64(&from_bits(dtype, &[one])), [1.0]);
            let infinite = format.bits(true, format.top(), 0);
            assert_eq!(to_f64(&from_bits(dtype, &[infinite])), [f64::NEG_INFINITY]);
            let least = format.bits(false, 1, 0);
            assert_eq!(to_f64(&from_bits(dtype, &[least])), [format.least_normal()]);
        }
        assert_eq!(
            to_f64(&from_bits(DType::I8, &[bits_of(DType::I8, -1.0)])),
            [-1.0]
        );
    }
}
