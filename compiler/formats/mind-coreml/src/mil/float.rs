//! Hexadecimal floats of C99, for example `0x1.8p-3`.

use mind_ir::types::DType;

/// A binary float format: bits of the mantissa without the leading one, exponent bias and exponent bits.
#[derive(Clone, Copy)]
struct Binary {
    mantissa: u32,
    bias: i32,
    exponents: u32,
}

fn binary(dtype: DType) -> Binary {
    let format = dtype.float_format().expect("a float dtype");
    Binary {
        mantissa: format.mantissa,
        bias: format.bias(),
        exponents: format.exponent,
    }
}

/// Returns the bits of the hexadecimal number `text`, rounded once to nearest even.
///
/// The exponent may be left out. Returns `None` if the text is not a hexadecimal float.
pub(super) fn parse_hex(text: &str, dtype: DType) -> Option<u64> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    let digits = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))?;
    let (digits, exponent) = match digits.split_once(['p', 'P']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (mut significand, mut sticky, mut dropped) = (0u64, false, 0i64);
    for digit in whole.chars().chain(fraction.chars()) {
        let digit = u64::from(digit.to_digit(16)?);
        match significand >> 60 {
            0 => significand = significand << 4 | digit,
            _ => {
                sticky |= digit != 0;
                dropped += 1;
            }
        }
    }
    let scale = i64::from(exponent) + 4 * (dropped - fraction.len() as i64);
    Some(round(negative, significand, sticky, scale, binary(dtype)))
}

/// Returns the bits of `significand * 2^scale`, rounded to nearest even; `sticky` is set if nonzero digits were cut
/// off.
fn round(negative: bool, significand: u64, sticky: bool, scale: i64, format: Binary) -> u64 {
    let sign = u64::from(negative) << (format.mantissa + format.exponents);
    if significand == 0 {
        return sign;
    }
    let width = 64 - i64::from(significand.leading_zeros());
    let least = 1 - i64::from(format.bias);
    let exponent = (scale + width - 1).clamp(-100_000, 100_000);
    // The weight of the last mantissa bit that is kept.
    let last = exponent.max(least) - i64::from(format.mantissa);
    let shift = last - scale.clamp(-200_000, 200_000);
    let kept = match shift {
        ..=0 => u128::from(significand) << (-shift).min(63),
        1..=100 => {
            let wide = u128::from(significand);
            let (kept, rest) = (wide >> shift, wide & ((1 << shift) - 1));
            let half = 1u128 << (shift - 1);
            let up = rest > half || rest == half && (sticky || kept & 1 == 1);
            kept + u128::from(up)
        }
        _ => 0,
    };
    let infinity = ((1u64 << format.exponents) - 1) << format.mantissa;
    // The exponent field excludes the leading one, which the addition below carries into it, as it does a carry of the
    // rounding.
    let field = (exponent.max(least) - least) as u64;
    let bits = if field >= (1 << format.exponents) {
        infinity
    } else {
        ((field << format.mantissa) + kept as u64).min(infinity)
    };
    sign | bits
}

/// Writes a number with as few mantissa digits as represent it: `0x1.8p-3`, `-inf`, `nan`.
pub(super) fn write_hex(out: &mut String, bits: u64, dtype: DType) {
    use std::fmt::Write;
    let format = binary(dtype);
    let mantissa = bits & ((1 << format.mantissa) - 1);
    let exponent = (bits >> format.mantissa) & ((1 << format.exponents) - 1);
    if exponent == (1 << format.exponents) - 1 && mantissa != 0 {
        return out.push_str("nan");
    }
    if bits >> (format.mantissa + format.exponents) & 1 == 1 {
        out.push('-');
    }
    if exponent == (1 << format.exponents) - 1 {
        return out.push_str("inf");
    }
    if exponent == 0 && mantissa == 0 {
        return out.push_str("0x0p+0");
    }
    let (mut exponent, mut mantissa) = (exponent as i32 - format.bias, mantissa);
    if exponent == -format.bias {
        // Subnormal: the mantissa is normalised.
        let up = mantissa.leading_zeros() - (63 - format.mantissa);
        mantissa = (mantissa << up) & ((1 << format.mantissa) - 1);
        exponent = 1 - format.bias - up as i32;
    }
    let digits = format.mantissa.div_ceil(4);
    let mantissa = mantissa << (4 * digits - format.mantissa);
    out.push_str("0x1");
    if mantissa != 0 {
        let text = format!("{mantissa:0width$x}", width = digits as usize);
        out.push('.');
        out.push_str(text.trim_end_matches('0'));
    }
    // Writing to a string cannot fail.
    let _ = write!(out, "p{exponent:+}");
}

#[cfg(test)]
mod tests {
    use mind_ir::random::Rng;

    use super::*;

    fn text(bits: u64, dtype: DType) -> String {
        let mut out = String::new();
        write_hex(&mut out, bits, dtype);
        out
    }

    #[test]
    fn published_numbers() {
        let halves = [
            (0x3c00, "0x1p+0"),
            (0x0001, "0x1p-24"),
            (0x001f, "0x1.fp-20"),
            (0x03ff, "0x1.ff8p-15"),
            (0x0400, "0x1p-14"),
            (0x3555, "0x1.554p-2"),
            (0x7bff, "0x1.ffcp+15"),
            (0xfc00, "-inf"),
            (0x0000, "0x0p+0"),
            (0x8000, "-0x0p+0"),
        ];
        for (bits, expected) in halves {
            assert_eq!(text(bits, DType::F16), expected);
        }
        assert_eq!(
            text(u64::from(0.1f32.to_bits()), DType::F32),
            "0x1.99999ap-4"
        );
        assert_eq!(text(1, DType::F32), "0x1p-149");
    }

    #[test]
    fn every_half_reads_back() {
        for bits in 0..=u64::from(u16::MAX) {
            let written = text(bits, DType::F16);
            if !written.ends_with("inf") && written != "nan" {
                assert_eq!(parse_hex(&written, DType::F16), Some(bits), "{written}");
            }
        }
    }

    #[test]
    fn singles_and_doubles_read_back() {
        let mut rng = Rng::new(1);
        for _ in 0..20_000 {
            let bits = rng.bits();
            for (dtype, bits) in [(DType::F32, bits >> 32), (DType::F64, bits)] {
                let written = text(bits, dtype);
                if !written.ends_with("inf") && written != "nan" {
                    assert_eq!(parse_hex(&written, dtype), Some(bits), "{written}");
                }
            }
        }
    }

    #[test]
    fn ties_go_to_even_and_excess_to_infinity() {
        let half = |text: &str| parse_hex(text, DType::F16);
        assert_eq!(half("0x1.002p+0"), Some(0x3c00));
        assert_eq!(half("0x1.0020000000001p+0"), Some(0x3c01));
        assert_eq!(half("0x1.006p+0"), Some(0x3c02));
        assert_eq!(half("0x1.ffep+15"), Some(0x7c00));
        assert_eq!(half("0x1p-25"), Some(0));
        assert_eq!(half("0x1.8p-25"), Some(1));
        assert_eq!(half("0x1p+99999999"), Some(0x7c00));
        assert_eq!(half("0x1.1000000000000p-20"), half("0x1.1p-20"));
        assert_eq!(half("0x"), None);
        assert_eq!(half("0xzp+0"), None);
    }
}
