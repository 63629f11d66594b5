//! Arbitrary-precision integers.

use num_bigint::{BigInt, BigUint};

/// The maximal number of digits of an integer in any radix, because the time of operations is quadratic in it.
pub const MAX_DIGITS: usize = 10_000;

/// The maximal number of bits of [`MAX_DIGITS`] digits in the largest radix.
const MAX_BITS: u64 = 4 * MAX_DIGITS as u64;

/// An integer of at most [`MAX_BITS`] bits.
pub type Integer = BigInt;

/// A binary operation on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `+`, `add`
    Add,
    /// `-`, `sub`
    Subtract,
    /// `mul`
    Multiply,
    /// `div`, towards zero
    Divide,
    /// `min`
    Min,
    /// `max`
    Max,
}

impl Operation {
    /// Returns the operation with this function name.
    pub fn by_name(name: &str) -> Option<Operation> {
        Some(match name {
            "add" => Operation::Add,
            "sub" => Operation::Subtract,
            "mul" => Operation::Multiply,
            "div" => Operation::Divide,
            "min" => Operation::Min,
            "max" => Operation::Max,
            _ => return None,
        })
    }

    /// Returns the result; `None` for a division by zero or a result that is too large.
    pub fn apply(self, left: &Integer, right: &Integer) -> Option<Integer> {
        let result = match self {
            Operation::Add => left + right,
            Operation::Subtract => left - right,
            Operation::Multiply => left * right,
            Operation::Divide => left.checked_div(right)?,
            Operation::Min => left.min(right).clone(),
            Operation::Max => left.max(right).clone(),
        };
        (result.bits() <= MAX_BITS).then_some(result)
    }
}

/// Parses digits of `radix`, which is at most 16. Returns `None` for invalid or too many digits.
pub fn from_digits(digits: &[u8], radix: u32) -> Option<Integer> {
    let significant = digits.iter().skip_while(|&&digit| digit == b'0');
    let value = |&digit: &u8| Some(char::from(digit).to_digit(radix)? as u8);
    let values: Vec<u8> = significant.map(value).collect::<Option<_>>()?;
    if values.len() > MAX_DIGITS {
        return None;
    }
    BigUint::from_radix_be(&values, radix).map(Integer::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(text: &str) -> Integer {
        match text.strip_prefix('-') {
            Some(digits) => -integer(digits),
            None => from_digits(text.as_bytes(), 10).expect("digits"),
        }
    }

    fn check(operation: Operation, left: &str, right: &str, expected: &str) {
        let result = operation
            .apply(&integer(left), &integer(right))
            .expect("defined");
        assert_eq!(result, integer(expected), "{operation:?} {left} {right}");
    }

    #[test]
    fn arithmetic_beyond_words() {
        check(
            Operation::Add,
            "18446744073709551615",
            "1",
            "18446744073709551616",
        );
        check(
            Operation::Subtract,
            "0",
            "18446744073709551616",
            "-18446744073709551616",
        );
        check(
            Operation::Subtract,
            "18446744073709551616",
            "18446744073709551616",
            "0",
        );
        check(
            Operation::Multiply,
            "-4294967296",
            "4294967297",
            "-18446744078004518912",
        );
        check(
            Operation::Divide,
            "340282366920938463463374607431768211456",
            "18446744073709551616",
            "18446744073709551616",
        );
        check(Operation::Divide, "-7", "2", "-3");
        check(
            Operation::Divide,
            "36893488147419103231",
            "18446744073709551616",
            "1",
        );
        check(Operation::Min, "-5", "-4", "-5");
        check(Operation::Max, "-5", "4", "4");
    }

    #[test]
    fn digits_round_trip() {
        assert_eq!(
            integer("340282366920938463463374607431768211456").to_str_radix(16),
            format!("1{}", "0".repeat(32))
        );
        assert_eq!(
            integer("12345678901234567890123").to_string(),
            "12345678901234567890123"
        );
        assert_eq!(integer("0").to_string(), "0");
        assert_eq!(from_digits(b"00fF", 16), Some(integer("255")));
        assert_eq!(from_digits(b"12x", 10), None);
    }

    #[test]
    fn what_has_no_result() {
        assert_eq!(Operation::Divide.apply(&integer("1"), &integer("0")), None);
        let large = integer(&"9".repeat(MAX_DIGITS));
        assert_eq!(Operation::Multiply.apply(&large, &large), None);
        assert_eq!(from_digits(&[b'1'; MAX_DIGITS + 1], 10), None);
    }
}
