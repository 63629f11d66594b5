//! Arithmetic and the texts of numbers.

use crate::ast::Binary;
use crate::error::{Error, Result};
use crate::value::Value;

/// A whole number, unless it has more than 64 bits.
///
/// # Errors
///
/// It has.
pub(crate) fn int(own: Option<i64>) -> Result<Value> {
    own.map(Value::Int)
        .ok_or_else(|| Error::new("the integer has more than 64 bits"))
}

fn by_zero(what: &str) -> Error {
    Error::new(format!("{what} by zero"))
}

/// An operator between two whole numbers.
///
/// # Errors
///
/// A division by zero, a result of more than 64 bits.
pub(crate) fn of_ints(operator: Binary, a: i64, b: i64) -> Result<Value> {
    match operator {
        Binary::Add => int(a.checked_add(b)),
        Binary::Sub => int(a.checked_sub(b)),
        Binary::Mul => int(a.checked_mul(b)),
        Binary::Div if b == 0 => Err(by_zero("division")),
        Binary::Div => Ok(Value::Float(quotient(a, b))),
        Binary::FloorDiv | Binary::Rem if b == 0 => Err(by_zero("integer division or modulo")),
        Binary::FloorDiv => int(floor_div(a, b)),
        Binary::Rem => {
            let rest = (i128::from(a)) % i128::from(b);
            let rest = match rest != 0 && (rest < 0) != (b < 0) {
                true => rest + i128::from(b),
                false => rest,
            };
            int(i64::try_from(rest).ok())
        }
        Binary::Pow => match u32::try_from(b) {
            Ok(exponent) => int(a.checked_pow(exponent)),
            Err(_) if b < 0 && a == 0 => {
                Err(Error::new("0.0 cannot be raised to a negative power"))
            }
            Err(_) if b < 0 => Ok(Value::Float((a as f64).powf(b as f64))),
            Err(_) => int(matches!(a, -1..=1).then(|| match a {
                -1 if b % 2 == 1 => -1,
                0 => 0,
                _ => 1,
            })),
        },
    }
}

/// The quotient of two whole numbers, rounded once.
fn quotient(a: i64, b: i64) -> f64 {
    const EXACT: u64 = 1 << 53;
    if a.unsigned_abs() <= EXACT && b.unsigned_abs() <= EXACT {
        return a as f64 / b as f64;
    }
    // Enough digits that neither the quotient nor its rounding loses any: 128 bits hold `a` by a power of two.
    let (n, d) = (u128::from(a.unsigned_abs()), u128::from(b.unsigned_abs()));
    let shift = 64;
    let (whole, rest) = ((n << shift) / d, (n << shift) % d);
    // A sticky bit below those that count decides between halves.
    let whole = whole | u128::from(rest != 0);
    let magnitude = whole as f64 / (shift as f64).exp2();
    if (a < 0) == (b < 0) {
        magnitude
    } else {
        -magnitude
    }
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let rest = a.checked_rem(b)?;
    Some(quotient - i64::from(rest != 0 && (rest < 0) != (b < 0)))
}

/// An operator between two numbers.
///
/// # Errors
///
/// Errors at a division by zero, and if a power is not a real number.
pub(crate) fn of_floats(operator: Binary, a: f64, b: f64) -> Result<Value> {
    Ok(Value::Float(match operator {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div if b == 0.0 => return Err(by_zero("float division")),
        Binary::Div => a / b,
        Binary::FloorDiv if b == 0.0 => return Err(by_zero("float floor division")),
        Binary::Rem if b == 0.0 => return Err(by_zero("float modulo")),
        Binary::FloorDiv => floor_quotient(a, b),
        Binary::Rem => modulo(a, b),
        Binary::Pow if a == 0.0 && b < 0.0 => {
            return Err(Error::new("0.0 cannot be raised to a negative power"));
        }
        Binary::Pow if a < 0.0 && b.fract() != 0.0 && b.is_finite() => {
            return Err(Error::new(
                "a power that is a complex number is not supported",
            ));
        }
        Binary::Pow => a.powf(b),
    }))
}

fn modulo(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest == 0.0 {
        return 0.0_f64.copysign(b);
    }
    if (rest < 0.0) != (b < 0.0) {
        rest + b
    } else {
        rest
    }
}

fn floor_quotient(a: f64, b: f64) -> f64 {
    let rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return 0.0_f64.copysign(a / b);
    }
    let floor = quotient.floor();
    if quotient - floor > 0.5 {
        floor + 1.0
    } else {
        floor
    }
}

/// `round(value, digits)` of Python: halves of the decimal expansion of the exact value to even.
pub(crate) fn round(value: f64, digits: i64) -> f64 {
    if !value.is_finite() || digits > 330 {
        return value;
    }
    match usize::try_from(digits) {
        Ok(digits) => format!("{value:.digits$}").parse().unwrap_or(value),
        Err(_) if digits < -330 => 0.0_f64.copysign(value),
        Err(_) => {
            let unit = 10.0_f64.powi(digits.unsigned_abs() as i32);
            let rounded = (value / unit).round_ties_even() * unit;
            if rounded == 0.0 {
                0.0_f64.copysign(value)
            } else {
                rounded
            }
        }
    }
}

/// `round(value, digits)` of a whole number.
pub(crate) fn round_int(value: i64, digits: i64) -> Option<i64> {
    if digits >= 0 {
        return Some(value);
    }
    let Some(unit) = 10_i128.checked_pow(digits.unsigned_abs().min(30) as u32) else {
        return Some(0);
    };
    let value = i128::from(value);
    let low = value.div_euclid(unit) * unit;
    let rest = value - low;
    let up = rest * 2 > unit || rest * 2 == unit && (low / unit) % 2 != 0;
    i64::try_from(if up { low + unit } else { low }).ok()
}

/// The whole number that `int(text, base)` of Python reads.
pub(crate) fn parse_int(text: &str, base: u32) -> Option<i64> {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (base, digits) = match (base, lower.get(..2)) {
        (0 | 16, Some("0x")) => (16, &lower[2..]),
        (0 | 8, Some("0o")) => (8, &lower[2..]),
        (0 | 2, Some("0b")) => (2, &lower[2..]),
        (0, _)
            if lower.len() > 1
                && lower.starts_with('0')
                && !lower.trim_matches(['0', '_']).is_empty() =>
        {
            return None;
        }
        (0, _) => (10, &*lower),
        (base, _) => (base, &*lower),
    };
    let digits = without_underscores(digits)?;
    i64::from_str_radix(&format!("{sign}{digits}"), base).ok()
}

/// The number that `float(text)` of Python reads.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    let word = lower.trim_start_matches(['+', '-']);
    if word.starts_with(|c: char| c.is_alphabetic()) && !matches!(word, "inf" | "infinity" | "nan")
    {
        return None;
    }
    if lower.len() - word.len() > 1 {
        return None;
    }
    without_underscores(&lower)?.parse().ok()
}

/// Digits without the underscores between them; `None` if one is not between digits.
fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        let is_digit = |own: Option<&u8>| own.is_some_and(u8::is_ascii_alphanumeric);
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        if bytes[at] == b'_' && !(is_digit(before) && is_digit(bytes.get(at + 1))) {
            return None;
        }
    }
    (!text.is_empty()).then(|| text.replace('_', ""))
}
