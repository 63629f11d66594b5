//! Integers of any size.

use std::cmp::Ordering;

/// The digits that one integer may have, in any radix: the time of its operations grows with their square.
pub const MAX_DIGITS: usize = 10_000;

/// The limbs that [`MAX_DIGITS`] digits of the largest radix can fill.
const MAX_LIMBS: usize = MAX_DIGITS / 8;

/// An integer of at most about [`MAX_DIGITS`] digits: sign and magnitude.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integer {
    /// Never set for zero.
    negative: bool,
    /// Least significant first, the last one not zero.
    limbs: Vec<u32>,
}

/// What two integers are combined by.
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
    /// The operation a function name stands for.
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

    /// The result, unless it divides by zero or is too large.
    pub fn apply(self, left: &Integer, right: &Integer) -> Option<Integer> {
        let result = match self {
            Operation::Add => left.add(right),
            Operation::Subtract => left.add(&right.negated()),
            Operation::Multiply => left.multiply(right),
            Operation::Divide => left.divide(right)?,
            Operation::Min => left.min(right).clone(),
            Operation::Max => left.max(right).clone(),
        };
        (result.limbs.len() <= MAX_LIMBS).then_some(result)
    }
}

impl From<u64> for Integer {
    fn from(value: u64) -> Integer {
        Integer::new(false, vec![value as u32, (value >> 32) as u32])
    }
}

impl Integer {
    fn new(negative: bool, mut limbs: Vec<u32>) -> Integer {
        let used = limbs
            .iter()
            .rposition(|&limb| limb != 0)
            .map_or(0, |last| last + 1);
        limbs.truncate(used);
        Integer {
            negative: negative && used > 0,
            limbs,
        }
    }

    /// Reads digits of `radix`, which is at most 16; none are zero, too many or others no integer.
    pub fn from_digits(digits: &[u8], radix: u32) -> Option<Integer> {
        let significant = digits
            .iter()
            .position(|&digit| digit != b'0')
            .map_or(&[][..], |first| &digits[first..]);
        if significant.len() > MAX_DIGITS {
            return None;
        }
        let mut limbs = Vec::new();
        for &digit in significant {
            let mut carry = u64::from(char::from(digit).to_digit(radix)?);
            for limb in &mut limbs {
                carry += u64::from(*limb) * u64::from(radix);
                *limb = carry as u32;
                carry >>= 32;
            }
            if carry > 0 {
                limbs.push(carry as u32);
            }
        }
        Some(Integer::new(false, limbs))
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Its opposite.
    pub fn negated(&self) -> Integer {
        Integer::new(!self.negative, self.limbs.clone())
    }

    /// The digits of its absolute value, in lower case.
    pub fn digits(&self, radix: u32) -> String {
        let mut limbs = self.limbs.clone();
        let mut digits = Vec::new();
        while limbs.last().is_some() {
            let digit = divide_by_small(&mut limbs, radix);
            digits.extend(char::from_digit(digit, radix));
        }
        if digits.is_empty() {
            digits.push('0');
        }
        digits.iter().rev().collect()
    }

    fn add(&self, other: &Integer) -> Integer {
        if self.negative == other.negative {
            return Integer::new(self.negative, add_magnitudes(&self.limbs, &other.limbs));
        }
        match compare_magnitudes(&self.limbs, &other.limbs) {
            Ordering::Less => Integer::new(
                other.negative,
                subtract_magnitudes(&other.limbs, &self.limbs),
            ),
            _ => Integer::new(
                self.negative,
                subtract_magnitudes(&self.limbs, &other.limbs),
            ),
        }
    }

    fn multiply(&self, other: &Integer) -> Integer {
        let mut product = vec![0u32; self.limbs.len() + other.limbs.len()];
        for (i, &a) in self.limbs.iter().enumerate() {
            let mut carry = 0;
            for (j, &b) in other.limbs.iter().enumerate() {
                carry += u64::from(product[i + j]) + u64::from(a) * u64::from(b);
                product[i + j] = carry as u32;
                carry >>= 32;
            }
            product[i + other.limbs.len()] = carry as u32;
        }
        Integer::new(self.negative != other.negative, product)
    }

    /// The quotient, rounded towards zero.
    fn divide(&self, other: &Integer) -> Option<Integer> {
        let negative = self.negative != other.negative;
        match other.limbs.as_slice() {
            [] => None,
            &[small] => {
                let mut quotient = self.limbs.clone();
                divide_by_small(&mut quotient, small);
                Some(Integer::new(negative, quotient))
            }
            divisor => Some(Integer::new(
                negative,
                divide_magnitudes(&self.limbs, divisor),
            )),
        }
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Integer) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Integer {
    fn cmp(&self, other: &Integer) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => compare_magnitudes(&self.limbs, &other.limbs),
            (true, true) => compare_magnitudes(&other.limbs, &self.limbs),
            (negative, _) => {
                if negative {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        }
    }
}

fn compare_magnitudes(a: &[u32], b: &[u32]) -> Ordering {
    a.len()
        .cmp(&b.len())
        .then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

fn add_magnitudes(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut sum = Vec::with_capacity(a.len().max(b.len()) + 1);
    let mut carry = 0;
    for i in 0..a.len().max(b.len()) {
        carry +=
            u64::from(a.get(i).copied().unwrap_or(0)) + u64::from(b.get(i).copied().unwrap_or(0));
        sum.push(carry as u32);
        carry >>= 32;
    }
    sum.push(carry as u32);
    sum
}

/// `a - b`, where `a` is at least `b`.
fn subtract_magnitudes(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut borrow = false;
    let limbs = a.iter().enumerate().map(|(i, &limb)| {
        let (difference, below) = limb.overflowing_sub(b.get(i).copied().unwrap_or(0));
        let (difference, below_again) = difference.overflowing_sub(u32::from(borrow));
        borrow = below || below_again;
        difference
    });
    limbs.collect()
}

/// Divides in place, keeping the last limb not zero, and returns the remainder.
fn divide_by_small(limbs: &mut Vec<u32>, divisor: u32) -> u32 {
    let mut remainder = 0u64;
    for limb in limbs.iter_mut().rev() {
        let dividend = remainder << 32 | u64::from(*limb);
        *limb = (dividend / u64::from(divisor)) as u32;
        remainder = dividend % u64::from(divisor);
    }
    while limbs.last() == Some(&0) {
        limbs.pop();
    }
    remainder as u32
}

/// `a / b` bit by bit, which is quick enough for the sizes allowed.
fn divide_magnitudes(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut quotient = vec![0; a.len()];
    let mut remainder = Integer::new(false, Vec::new());
    for bit in (0..a.len() * 32).rev() {
        let incoming = a[bit / 32] >> (bit % 32) & 1;
        let doubled = add_magnitudes(&remainder.limbs, &remainder.limbs);
        remainder = Integer::new(false, add_magnitudes(&doubled, &[incoming]));
        if compare_magnitudes(&remainder.limbs, b) != Ordering::Less {
            remainder = Integer::new(false, subtract_magnitudes(&remainder.limbs, b));
            quotient[bit / 32] |= 1 << (bit % 32);
        }
    }
    quotient
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(text: &str) -> Integer {
        match text.strip_prefix('-') {
            Some(digits) => integer(digits).negated(),
            None => Integer::from_digits(text.as_bytes(), 10).expect("digits"),
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
            integer("340282366920938463463374607431768211456").digits(16),
            format!("1{}", "0".repeat(32))
        );
        assert_eq!(
            integer("12345678901234567890123").digits(10),
            "12345678901234567890123"
        );
        assert_eq!(integer("0").digits(10), "0");
        assert_eq!(Integer::from_digits(b"00fF", 16), Some(integer("255")));
        assert_eq!(Integer::from_digits(b"12x", 10), None);
    }

    #[test]
    fn what_has_no_result() {
        assert_eq!(Operation::Divide.apply(&integer("1"), &integer("0")), None);
        let large = integer(&"9".repeat(MAX_DIGITS));
        assert_eq!(Operation::Multiply.apply(&large, &large), None);
        assert_eq!(Integer::from_digits(&[b'1'; MAX_DIGITS + 1], 10), None);
    }
}
