//! Bits and text of single elements.

use std::fmt;

use mind_ir::tensor::{Element, Tensor, rust_types};
use mind_ir::types::DType;
use mind_ir::{with_buffer, with_dtype};

/// An element type with access to its bits.
pub(crate) trait Raw: Element {
    /// Returns the bits, in the low bits of the result.
    fn raw(self) -> u64;
    /// Returns the element with the low bits of `raw`.
    fn from_raw(raw: u64) -> Self;
    /// Whether it is a NaN.
    fn is_nan(self) -> bool;
}

macro_rules! raw_floats {
    ($($element:ty: $bits:ty),*) => {$(
        impl Raw for $element {
            fn raw(self) -> u64 {
                u64::from(self.to_bits())
            }
            fn from_raw(raw: u64) -> Self {
                <$element>::from_bits(raw as $bits)
            }
            fn is_nan(self) -> bool {
                <$element>::is_nan(self)
            }
        }
    )*};
}

raw_floats!(rust_types::F16: u16, rust_types::BF16: u16, f32: u32, f64: u64);

macro_rules! raw_integers {
    ($($element:ty: $bits:ty),*) => {$(
        impl Raw for $element {
            fn raw(self) -> u64 {
                u64::from(self as $bits)
            }
            fn from_raw(raw: u64) -> Self {
                raw as $element
            }
            fn is_nan(self) -> bool {
                false
            }
        }
    )*};
}

raw_integers!(i8: u8, i16: u16, i32: u32, i64: u64, u8: u8, u16: u16, u32: u32, u64: u64);

impl Raw for bool {
    fn raw(self) -> u64 {
        u64::from(self)
    }
    fn from_raw(raw: u64) -> bool {
        raw & 1 == 1
    }
    fn is_nan(self) -> bool {
        false
    }
}

/// An element of a tensor.
///
/// Its text is that of the text formats: the shortest decimal that is parsed to the same element, for floats with `.`
/// or `e`, or `nan`, `inf` or `-inf`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scalar {
    dtype: DType,
    raw: u64,
}

impl Scalar {
    /// Returns the element at `index` in row-major order.
    ///
    /// # Panics
    ///
    /// If `index` is out of range.
    pub fn at(tensor: &Tensor, index: usize) -> Scalar {
        let raw = with_buffer!(tensor.buffer(), |elements| elements[index].raw());
        Scalar {
            dtype: tensor.dtype(),
            raw,
        }
    }

    /// Returns the element type.
    pub fn dtype(self) -> DType {
        self.dtype
    }

    /// Returns the bits, in the low bits of the result.
    pub fn bits(self) -> u64 {
        self.raw
    }

    /// Whether it is a finite number; false for booleans.
    pub fn is_finite(self) -> bool {
        match self.dtype.float_format() {
            Some(format) => {
                let largest = (1 << format.exponent) - 1;
                self.raw >> format.mantissa & largest != largest
            }
            None => self.dtype.is_int(),
        }
    }

    /// Whether both have the same dtype and bits. All NaNs of a dtype are equal.
    pub fn same_bits(self, other: Scalar) -> bool {
        fn nan<T: Raw>(raw: u64) -> bool {
            T::from_raw(raw).is_nan()
        }
        let nan = |scalar: Scalar| with_dtype!(scalar.dtype, T => nan::<T>(scalar.raw));
        self == other || self.dtype == other.dtype && nan(self) && nan(other)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let raw = self.raw;
        match self.dtype {
            DType::F16 => {
                let value = rust_types::F16::from_raw(raw);
                shortest(f, value.to_f32(), |text| {
                    rust_types::F16::from_f32(text) == value
                })
            }
            DType::BF16 => {
                let value = rust_types::BF16::from_raw(raw);
                shortest(f, value.to_f32(), |text| {
                    rust_types::BF16::from_f32(text) == value
                })
            }
            DType::F32 => float(f, f64::from(f32::from_raw(raw)), &f32::from_raw(raw)),
            DType::F64 => float(f, f64::from_raw(raw), &f64::from_raw(raw)),
            DType::I8 => write!(f, "{}", i8::from_raw(raw)),
            DType::I16 => write!(f, "{}", i16::from_raw(raw)),
            DType::I32 => write!(f, "{}", i32::from_raw(raw)),
            DType::I64 => write!(f, "{}", i64::from_raw(raw)),
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => write!(f, "{raw}"),
            DType::Bool => write!(f, "{}", raw == 1),
        }
    }
}

/// Writes a float whose `Debug` text is the shortest that is parsed to the same value.
fn float(f: &mut fmt::Formatter<'_>, value: f64, shortest: &dyn fmt::Debug) -> fmt::Result {
    match value {
        value if value.is_nan() => f.write_str("nan"),
        value if value.is_infinite() => f.write_str(if value > 0.0 { "inf" } else { "-inf" }),
        _ => write!(f, "{shortest:?}"),
    }
}

/// Writes `value` with the fewest digits that `reads_back` accepts. 9 digits are always enough.
fn shortest(
    f: &mut fmt::Formatter<'_>,
    value: f32,
    reads_back: impl Fn(f32) -> bool,
) -> fmt::Result {
    let texts = (0..8).map(|digits| format!("{value:.digits$e}"));
    let mut read = texts.filter_map(|text| text.parse::<f32>().ok());
    let rounded = read.find(|&text| reads_back(text)).unwrap_or(value);
    float(f, f64::from(value), &rounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<T: Element>(value: T) -> String {
        Scalar::at(&Tensor::scalar(value), 0).to_string()
    }

    #[test]
    fn text_is_the_shortest_that_reads_back() {
        assert_eq!(text(rust_types::F16::from_f32(0.1)), "0.1");
        assert_eq!(text(rust_types::F16::from_bits(1)), "6e-8");
        assert_eq!(text(rust_types::BF16::from_f32(1.2345678)), "1.234");
        assert_eq!(text(rust_types::F16::NEG_INFINITY), "-inf");
        assert_eq!(text(-0.0f32), "-0.0");
        assert_eq!(text(1e-40f32), "1e-40");
        assert_eq!(text(f64::NAN), "nan");
        assert_eq!(text(-3i8), "-3");
        assert_eq!(text(u64::MAX), "18446744073709551615");
        assert_eq!(text(true), "true");
    }

    #[test]
    fn every_half_reads_back_from_its_text() {
        for bits in 0..=u16::MAX {
            let value = rust_types::F16::from_bits(bits);
            if value.is_finite() {
                let read: f32 = text(value).parse().unwrap();
                assert_eq!(rust_types::F16::from_f32(read).to_bits(), bits);
            }
        }
    }
}
