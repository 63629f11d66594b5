//! Bitwise functions and shifts.

use crate::tensor::Element;

/// A type with bitwise functions: an integer or `bool`.
pub trait Bits: Element {
    /// Returns the bitwise and.
    fn and(self, rhs: Self) -> Self;
    /// Returns the bitwise or.
    fn or(self, rhs: Self) -> Self;
    /// Returns the bitwise exclusive or.
    fn xor(self, rhs: Self) -> Self;
    /// Returns the bitwise complement.
    fn not(self) -> Self;
}

/// An integer type.
pub trait Int: Bits {
    /// Shifts left by `amount`; 0 if `amount` is negative or at least the width.
    fn shift_left(self, amount: Self) -> Self;
    /// Shifts right by `amount`, arithmetically for signed types. If `amount` is negative or at least the width, all
    /// bits are shifted out: the result is 0, or -1 for a negative number.
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
