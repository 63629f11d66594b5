//! Numbers as text: integers, floats and the elements of constants.

use half::{bf16, f16};
use mind_ir::tensor::FloatNum;
use mind_ir::types::{DType, DTypeClass, NarrowFloat};
use mind_ir::with_float;
use thiserror::Error;

/// Why a text is not a number of its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum NumberError {
    /// Malformed, or an integer outside `i64` if no dtype is required: E1005.
    #[error("malformed number")]
    Malformed,
    /// A finite number outside the range of its dtype: E4005.
    #[error("number out of range")]
    OutOfRange,
}

/// Parses an integer: digits after an optional `-`. Returns `None` for any other form and for values outside `i64`.
pub fn parse_int(text: &str) -> Option<i64> {
    if text.starts_with('+') {
        return None;
    }
    text.parse().ok()
}

/// Appends `value` in decimal.
pub fn write_int(out: &mut String, value: i64) {
    if value < 0 {
        out.push('-');
    }
    write_uint(out, value.unsigned_abs());
}

/// Appends `value` in decimal.
pub fn write_uint(out: &mut String, mut value: u64) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(&digits[at..]).expect("digits are ASCII"));
}

/// Appends the shortest decimal that parses to `value` in `dtype`, always with `.` or `e`; or `nan`, `inf`, `-inf`.
///
/// `value` is representable in `dtype`, which is a float type. The sign of -0 is kept; the payload of a NaN is lost.
pub fn write_float(out: &mut String, value: f64, dtype: DType) {
    if value.is_nan() {
        out.push_str("nan");
        return;
    }
    if value.is_infinite() {
        out.push_str(if value > 0.0 { "inf" } else { "-inf" });
        return;
    }
    let text = match dtype.narrow_float() {
        Some(NarrowFloat::F16 | NarrowFloat::BF16) => format!("{:?}", shortest(value, dtype)),
        None if dtype == DType::F32 => format!("{:?}", value as f32),
        None => format!("{value:?}"),
    };
    out.push_str(&text);
}

/// Returns the number with the fewest decimal digits that rounds to `value` in a 16-bit `dtype`.
fn shortest(value: f64, dtype: DType) -> f64 {
    let candidates = (0..5).filter_map(|digits| format!("{value:.digits$e}").parse::<f64>().ok());
    let same = |candidate: &f64| round(*candidate, dtype).to_bits() == value.to_bits();
    candidates.into_iter().find(same).unwrap_or(value)
}

/// Rounds `value` to the float type `dtype`; returns it as an `f64`.
fn round(value: f64, dtype: DType) -> f64 {
    fn of<T: FloatNum>(value: f64) -> f64 {
        T::from_f64(value).to_f64()
    }
    with_float!(dtype, T => of::<T>(value), else value)
}

/// Returns the value of `text` in the float type `dtype`, rounded to nearest even.
///
/// Accepts digits with an optional `-`, fraction and exponent, and `nan`, `inf`, `-inf`. For `f16` and `bf16` the value
/// is rounded twice, because it is parsed as an `f64` first; this differs from a single rounding only for a literal of
/// more than 17 digits close to the midpoint of two values.
///
/// # Errors
///
/// Returns `Malformed` for any other form and `OutOfRange` for a finite literal that overflows `dtype`.
pub fn parse_float(text: &str, dtype: DType) -> Result<f64, NumberError> {
    match text {
        "nan" => return Ok(f64::NAN),
        "inf" => return Ok(f64::INFINITY),
        "-inf" => return Ok(f64::NEG_INFINITY),
        _ => {}
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Err(NumberError::Malformed);
    }
    let malformed = |_| NumberError::Malformed;
    let value = match dtype {
        DType::F32 => f64::from(text.parse::<f32>().map_err(malformed)?),
        DType::F16 | DType::BF16 | DType::F64 => round(text.parse().map_err(malformed)?, dtype),
        DType::I8
        | DType::I16
        | DType::I32
        | DType::I64
        | DType::U8
        | DType::U16
        | DType::U32
        | DType::U64
        | DType::Bool => return Err(NumberError::Malformed),
    };
    if value.is_infinite() {
        Err(NumberError::OutOfRange)
    } else {
        Ok(value)
    }
}

/// Parses one element of `dtype` and appends its bytes in native order.
///
/// # Errors
///
/// Returns `Malformed` if `text` is not an element of such a type and `OutOfRange` if `dtype` cannot represent it;
/// `bytes` is then unchanged.
pub fn read_element(text: &str, dtype: DType, bytes: &mut Vec<u8>) -> Result<(), NumberError> {
    match dtype {
        DType::F16 => {
            bytes.extend(<f16 as FloatNum>::from_f64(parse_float(text, dtype)?).to_ne_bytes())
        }
        DType::BF16 => {
            bytes.extend(<bf16 as FloatNum>::from_f64(parse_float(text, dtype)?).to_ne_bytes())
        }
        DType::F32 => bytes.extend((parse_float(text, dtype)? as f32).to_ne_bytes()),
        DType::F64 => bytes.extend(parse_float(text, dtype)?.to_ne_bytes()),
        DType::I8 => bytes.extend(integer::<i8>(text)?.to_ne_bytes()),
        DType::I16 => bytes.extend(integer::<i16>(text)?.to_ne_bytes()),
        DType::I32 => bytes.extend(integer::<i32>(text)?.to_ne_bytes()),
        DType::I64 => bytes.extend(integer::<i64>(text)?.to_ne_bytes()),
        DType::U8 => bytes.extend(integer::<u8>(text)?.to_ne_bytes()),
        DType::U16 => bytes.extend(integer::<u16>(text)?.to_ne_bytes()),
        DType::U32 => bytes.extend(integer::<u32>(text)?.to_ne_bytes()),
        DType::U64 => bytes.extend(integer::<u64>(text)?.to_ne_bytes()),
        DType::Bool => bytes.push(match text {
            "true" => 1,
            "false" => 0,
            _ => return Err(NumberError::Malformed),
        }),
    }
    Ok(())
}

fn integer<T: TryFrom<i128>>(text: &str) -> Result<T, NumberError> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(NumberError::Malformed);
    }
    let value: i128 = text.parse().map_err(|_| NumberError::OutOfRange)?;
    T::try_from(value).map_err(|_| NumberError::OutOfRange)
}

/// Appends the element of `dtype` whose bytes, in native order, are `bytes`.
///
/// Panics if `bytes` is not one element long.
pub fn write_element(out: &mut String, dtype: DType, bytes: &[u8]) {
    match dtype {
        DType::F16 => write_float(out, f16::from_ne_bytes(element(bytes)).to_f64(), dtype),
        DType::BF16 => write_float(out, bf16::from_ne_bytes(element(bytes)).to_f64(), dtype),
        DType::F32 => write_float(out, f64::from(f32::from_ne_bytes(element(bytes))), dtype),
        DType::F64 => write_float(out, f64::from_ne_bytes(element(bytes)), dtype),
        DType::I8 => write_int(out, i8::from_ne_bytes(element(bytes)).into()),
        DType::I16 => write_int(out, i16::from_ne_bytes(element(bytes)).into()),
        DType::I32 => write_int(out, i32::from_ne_bytes(element(bytes)).into()),
        DType::I64 => write_int(out, i64::from_ne_bytes(element(bytes))),
        DType::U8 => write_uint(out, u8::from_ne_bytes(element(bytes)).into()),
        DType::U16 => write_uint(out, u16::from_ne_bytes(element(bytes)).into()),
        DType::U32 => write_uint(out, u32::from_ne_bytes(element(bytes)).into()),
        DType::U64 => write_uint(out, u64::from_ne_bytes(element(bytes))),
        DType::Bool => out.push_str(if element::<1>(bytes) == [0] {
            "false"
        } else {
            "true"
        }),
    }
}

fn element<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("the bytes of one element")
}

/// Returns a description of an element of `dtype`, for messages.
pub fn element_form(dtype: DType) -> &'static str {
    match dtype.class() {
        DTypeClass::Float => "a number such as 1.5, or nan, inf, -inf",
        DTypeClass::Signed | DTypeClass::Unsigned => "an integer",
        DTypeClass::Bool => "true or false",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i64) -> String {
        let mut out = String::new();
        write_int(&mut out, value);
        out
    }

    fn float(value: f64, dtype: DType) -> String {
        let mut out = String::new();
        write_float(&mut out, value, dtype);
        out
    }

    fn element_text(text: &str, dtype: DType) -> Result<String, NumberError> {
        let (mut bytes, mut out) = (Vec::new(), String::new());
        read_element(text, dtype, &mut bytes)?;
        assert_eq!(bytes.len(), dtype.size());
        write_element(&mut out, dtype, &bytes);
        Ok(out)
    }

    #[test]
    fn integers_have_digits_and_a_minus_at_most() {
        assert_eq!(parse_int("-007"), Some(-7));
        assert_eq!(parse_int("9223372036854775807"), Some(i64::MAX));
        for text in [
            "",
            "-",
            "+1",
            "1.0",
            "0x1",
            " 1",
            "1_0",
            "9223372036854775808",
        ] {
            assert_eq!(parse_int(text), None, "{text:?}");
        }
    }

    #[test]
    fn written_integers_read_back() {
        for value in [0, 7, -7, 10, 99, 100, 12345, i64::MAX, i64::MIN] {
            assert_eq!(int(value), value.to_string());
        }
    }

    #[test]
    fn floats_always_show_that_they_are_floats() {
        let cases = [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1e16, "1e16"),
            (1e-7, "1e-7"),
            (f64::NAN, "nan"),
            (-f64::NAN, "nan"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, text) in cases {
            assert_eq!(float(value, DType::F64), text);
        }
        assert_eq!(float(f64::from(0.1f32), DType::F32), "0.1");
        assert_eq!(float(f64::from(f32::MAX), DType::F32), "3.4028235e38");
    }

    #[test]
    fn every_half_float_reads_back_from_at_most_five_digits() {
        for bits in 0..=u16::MAX {
            let values = [
                (f16::from_bits(bits).to_f64(), DType::F16),
                (bf16::from_bits(bits).to_f64(), DType::BF16),
            ];
            for (value, dtype) in values {
                let text = float(value, dtype);
                let back = parse_float(&text, dtype).unwrap();
                assert!(
                    back.to_bits() == value.to_bits() || value.is_nan(),
                    "{text} is not {value:?}"
                );
                let digits = text
                    .split('e')
                    .next()
                    .unwrap_or_default()
                    .trim_matches(['-', '0', '.']);
                let digits = digits.replace('.', "");
                assert!(digits.trim_end_matches('0').len() <= 5, "{text}");
            }
        }
    }

    #[test]
    fn half_floats_are_short() {
        assert_eq!(float(f16::from_f64(0.1).to_f64(), DType::F16), "0.1");
        assert_eq!(float(f16::MAX.to_f64(), DType::F16), "65500.0");
        assert_eq!(float(bf16::from_f64(3.0e38).to_f64(), DType::BF16), "3e38");
    }

    #[test]
    fn float_forms() {
        let read = |text| parse_float(text, DType::F64);
        assert_eq!(read("-1.5e+3"), Ok(-1500.0));
        assert_eq!(read("7"), Ok(7.0));
        assert_eq!(read("1."), Ok(1.0));
        assert!(read("nan").unwrap().is_nan());
        for text in [
            "", "-", ".", "+1", "infinity", "NaN", "-nan", "1e", "e5", "1.0f", "0x1p3",
        ] {
            assert_eq!(read(text), Err(NumberError::Malformed), "{text:?}");
        }
    }

    #[test]
    fn finite_literals_that_overflow_are_out_of_range() {
        let cases = [
            ("1e999", DType::F64),
            ("1e39", DType::F32),
            ("65520", DType::F16),
            ("1e39", DType::BF16),
        ];
        for (text, dtype) in cases {
            assert_eq!(
                parse_float(text, dtype),
                Err(NumberError::OutOfRange),
                "{text} {dtype}"
            );
        }
        assert_eq!(parse_float("65519", DType::F16), Ok(65504.0));
    }

    #[test]
    fn extreme_elements_of_every_integer_type() {
        let cases = [
            (DType::I8, "-128", "128"),
            (DType::I16, "32767", "-32769"),
            (DType::I32, "-2147483648", "2147483648"),
            (DType::I64, "-9223372036854775808", "9223372036854775808"),
            (DType::U8, "255", "-1"),
            (DType::U16, "65535", "65536"),
            (DType::U32, "4294967295", "4294967296"),
            (DType::U64, "18446744073709551615", "18446744073709551616"),
        ];
        for (dtype, inside, outside) in cases {
            assert_eq!(element_text(inside, dtype), Ok(inside.to_owned()));
            assert_eq!(element_text(outside, dtype), Err(NumberError::OutOfRange));
            assert_eq!(
                element_text(&"9".repeat(60), dtype),
                Err(NumberError::OutOfRange)
            );
            assert_eq!(element_text("1.0", dtype), Err(NumberError::Malformed));
        }
        assert_eq!(element_text("true", DType::Bool), Ok("true".to_owned()));
        assert_eq!(element_text("1", DType::Bool), Err(NumberError::Malformed));
    }

    #[test]
    fn elements_of_every_float_type_read_back() {
        for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            for text in ["0.1", "-0.0", "nan", "-inf", "1.5", "1e-5"] {
                assert_eq!(element_text(text, dtype), Ok(text.to_owned()), "{dtype}");
            }
        }
    }
}
