//! Functions of bits and of integers.

use crate::tensor::Element;

/// What is made of bits: an integer or a truth value.
pub trait Bits: Element {
    /// The bits that are set in both.
    fn and(self, rhs: Self) -> Self;
    /// The bits that are set in either.
    fn or(self, rhs: Self) -> Self;
    /// The bits that differ.
    fn xor(self, rhs: Self) -> Self;
    /// Every bit flipped.
    fn not(self) -> Self;
}

/// An integer.
pub trait Int: Bits {
    /// `self` times a power of two, wrapping; 0 if the amount is negative or no less than the width.
    fn shift_left(self, amount: Self) -> Self;
    /// `self` divided by a power of two, rounded down; as for the width if the amount is negative or larger.
    fn shift_right(self, amount: Self) -> Self;
}

macro_rules! bits {
    ($($element:ty)*) => {$(
        impl Bits for $element {
            fn and(self, rhs: Self) -> Self {
                self & rhs
            }
            fn or(self, rhs: Self) -> Self {
                self | rhs
            }
            fn xor(self, rhs: Self) -> Self {
                self ^ rhs
            }
            fn not(self) -> Self {
                !self
            }
        }
    )*};
}

macro_rules! ints {
    ($($element:ty)*) => {$(
        impl Int for $element {
            fn shift_left(self, amount: Self) -> Self {
                let amount = u32::try_from(amount).ok();
                amount.and_then(|amount| self.checked_shl(amount)).unwrap_or(0)
            }
            fn shift_right(self, amount: Self) -> Self {
                let amount = u32::try_from(amount).ok();
                let shifted = amount.and_then(|amount| self.checked_shr(amount));
                shifted.unwrap_or((self >> (Self::BITS - 1)) >> 1)
            }
        }
    )*};
}

bits!(i8 i16 i32 i64 u8 u16 u32 u64 bool);
ints!(i8 i16 i32 i64 u8 u16 u32 u64);
