//! Sort keys: unsigned integers with the order of the elements.
//!
//! -0 equals +0, all NaNs are equal and larger than every number, `false` is less than `true`. Sorting compares only
//! keys, so that it is compiled once for each width instead of once for each dtype.

use std::ops::{BitXor, Not};

use mind_ir::tensor::rust_types::{BF16, F16};
use mind_ir::tensor::{Element, Tensor};
use mind_ir::with_dtype;

/// An element type with a sort key.
pub trait Key: Element {
    /// The unsigned integer with the width of the element.
    type Key: Ord
        + Copy
        + Default
        + BitXor<Output = Self::Key>
        + Not<Output = Self::Key>
        + Into<u64>;

    /// Returns the sort key.
    fn key(self) -> Self::Key;
}

macro_rules! float_keys {
    ($($float:ident, $bits:ident;)*) => {$(
        impl Key for $float {
            type Key = $bits;

            #[inline]
            fn key(self) -> $bits {
                const SIGN: $bits = 1 << ($bits::BITS - 1);
                let bits = self.to_bits();
                let magnitude = bits & !SIGN;
                let key = if bits == magnitude { bits | SIGN } else { SIGN - magnitude };
                let is_nan = magnitude > $float::INFINITY.to_bits();
                if is_nan { $bits::MAX } else { key }
            }
        }
    )*};
}

float_keys! {
    F16, u16;
    BF16, u16;
    f32, u32;
    f64, u64;
}

macro_rules! signed_keys {
    ($($int:ident, $bits:ident;)*) => {$(
        impl Key for $int {
            type Key = $bits;

            #[inline]
            fn key(self) -> $bits {
                self as $bits ^ (1 << ($bits::BITS - 1))
            }
        }
    )*};
}

signed_keys! {
    i8, u8;
    i16, u16;
    i32, u32;
    i64, u64;
}

macro_rules! unsigned_keys {
    ($($element:ident, $bits:ident;)*) => {$(
        impl Key for $element {
            type Key = $bits;

            #[inline]
            fn key(self) -> $bits {
                self.into()
            }
        }
    )*};
}

unsigned_keys! {
    u8, u8;
    u16, u16;
    u32, u32;
    u64, u64;
    bool, u8;
}

/// Returns the sort keys of all elements of `tensor`.
pub(crate) fn keys(tensor: &Tensor) -> Vec<u64> {
    fn of<T: Key>(tensor: &Tensor) -> Vec<u64> {
        let elements = tensor.elements::<T>().iter();
        elements.map(|element| element.key().into()).collect()
    }
    with_dtype!(tensor.dtype(), T => of::<T>(tensor))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks elements in ascending order; each list holds elements that compare equal.
    fn check(classes: &[Tensor]) {
        let all: Vec<Vec<u64>> = classes.iter().map(keys).collect();
        for class in &all {
            assert!(class.iter().all(|key| *key == class[0]), "{classes:?}");
        }
        let largest = u64::MAX >> (64 - 8 * classes[0].dtype().size());
        for pair in all.windows(2) {
            assert!(pair[0][0] < pair[1][0], "{classes:?}: {all:?}");
            assert!(pair[1][0] <= largest, "{classes:?}: {all:?}");
        }
    }

    macro_rules! floats {
        ($($float:ident, $bits:ident;)*) => {$({
            let number = |bits: $bits| $float::from_bits(bits);
            let infinity = $float::INFINITY.to_bits();
            let sign = 1 << ($bits::BITS - 1);
            let classes = [
                vec![number(sign | infinity)],
                vec![number(sign | (infinity - 1))],
                vec![number(sign | 1)],
                vec![number(0), number(sign)],
                vec![number(1)],
                vec![number(infinity - 1)],
                vec![number(infinity)],
                [infinity + 1, $bits::MAX, sign | (infinity + 1), $bits::MAX >> 1].map(number).to_vec(),
            ];
            check(&classes.map(|class| Tensor::of(vec![class.len()], class)));
        })*};
    }

    macro_rules! integers {
        ($($int:ident)*) => {$({
            let mut all = vec![$int::MIN, $int::MIN + 1, 0, 1, $int::MAX / 2, $int::MAX - 1, $int::MAX];
            all.sort();
            all.dedup();
            let classes: Vec<Tensor> = all.iter().map(|&x| Tensor::scalar(x)).collect();
            check(&classes);
        })*};
    }

    #[test]
    fn keys_are_in_the_order_of_elements() {
        floats! { F16, u16; BF16, u16; f32, u32; f64, u64; }
        integers! { i8 i16 i32 i64 u8 u16 u32 u64 }
        check(&[Tensor::scalar(false), Tensor::scalar(true)]);
    }
}
