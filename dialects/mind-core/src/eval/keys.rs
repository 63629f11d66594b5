//! The order of elements, as that of unsigned integers.
//!
//! -0 equals +0, all NaNs are equal and above everything, `false` is below `true`. Sorting looks at keys alone, so that it is
//! compiled once rather than for each dtype.

use mind_ir::tensor::rust_types::{BF16, F16};
use mind_ir::tensor::{Element, Tensor};
use mind_ir::types::DType;
use mind_ir::with_dtype;

/// An element whose order is that of its key.
pub(crate) trait Key: Element {
    /// A number below 2 to the power of the dtype's bits.
    fn key(self) -> u64;
}

macro_rules! float_keys {
    ($($float:ident, $bits:ident;)*) => {$(
        impl Key for $float {
            fn key(self) -> u64 {
                const SIGN: $bits = 1 << ($bits::BITS - 1);
                let bits = self.to_bits();
                let key = if self.is_nan() {
                    $bits::MAX
                } else if bits == SIGN {
                    SIGN
                } else if bits & SIGN == 0 {
                    bits | SIGN
                } else {
                    !bits
                };
                key.into()
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
            fn key(self) -> u64 {
                (self as $bits ^ (1 << ($bits::BITS - 1))).into()
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
    ($($element:ident)*) => {$(
        impl Key for $element {
            fn key(self) -> u64 {
                self.into()
            }
        }
    )*};
}

unsigned_keys! { u8 u16 u32 u64 bool }

/// Elements at equal distances in a tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The place of the first one.
    pub start: usize,
    /// From one to the next, at least 1.
    pub step: usize,
    /// How many there are.
    pub count: usize,
}

/// The keys of a row of `tensor`, in its order.
///
/// # Panics
///
/// If the row is not in the tensor.
pub(crate) fn keys(tensor: &Tensor, row: Row) -> Vec<u64> {
    fn of<T: Key>(tensor: &Tensor, row: Row) -> Vec<u64> {
        let elements = &tensor.elements::<T>()[row.start..];
        let elements = elements.iter().step_by(row.step).take(row.count);
        elements.map(|element| element.key()).collect()
    }
    with_dtype!(tensor.dtype(), T => of::<T>(tensor, row))
}

/// Which elements of a row come first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranking {
    /// How many are wanted, no more than there are.
    pub kept: usize,
    /// Whether the largest come first.
    pub descending: bool,
}

impl Ranking {
    /// The places of the first `kept` of the elements with these keys, of `dtype`; of equal elements the first comes first.
    pub fn places(self, dtype: DType, keys: &[u64]) -> Vec<usize> {
        let largest = u64::MAX >> (64 - 8 * dtype.size());
        let flip = if self.descending { largest } else { 0 };
        let narrow = largest <= u64::from(u32::MAX) && u32::try_from(keys.len()).is_ok();
        let keys = keys.iter().map(|key| key ^ flip);
        if narrow {
            let keyed = keys.zip(0u64..).map(|(key, at)| key << 32 | at);
            let first = first(keyed.collect(), self.kept);
            first.map(|keyed| keyed as u32 as usize).collect()
        } else {
            let keyed = keys.zip(0u128..);
            let keyed = keyed.map(|(key, at)| u128::from(key) << 64 | at);
            let first = first(keyed.collect(), self.kept);
            first.map(|keyed| keyed as u64 as usize).collect()
        }
    }
}

/// The `kept` smallest in order: keys with the place of each below them.
fn first<T: Ord>(mut keyed: Vec<T>, kept: usize) -> impl Iterator<Item = T> {
    if kept < keyed.len() {
        keyed.select_nth_unstable(kept);
        keyed.truncate(kept);
    }
    keyed.sort_unstable();
    keyed.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements in ascending order, equal ones in one list.
    fn check(classes: &[Tensor]) {
        let all: Vec<Vec<u64>> = (classes.iter())
            .map(|class| {
                let row = Row {
                    start: 0,
                    step: 1,
                    count: class.count(),
                };
                keys(class, row)
            })
            .collect();
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

    #[test]
    fn rows_may_begin_anywhere_and_have_steps() {
        let tensor = Tensor::of(vec![7], vec![6u8, 5, 4, 3, 2, 1, 0]);
        let row = |start, step, count| keys(&tensor, Row { start, step, count });
        assert_eq!(row(1, 3, 2), [5, 2]);
        assert_eq!(row(7, 1, 0), [0; 0]);
    }

    #[test]
    fn equal_elements_stay_in_order_and_the_first_are_kept() {
        let cases: [(DType, [u64; 5]); 2] = [
            (DType::U8, [255, 0, 255, 7, 0]),
            (DType::U64, [u64::MAX, 0, u64::MAX, 7, 0]),
        ];
        for (dtype, keys) in cases {
            for kept in 0..=5 {
                let places = |descending| Ranking { kept, descending }.places(dtype, &keys);
                assert_eq!(places(false), [1, 4, 3, 0, 2][..kept], "{dtype}");
                assert_eq!(places(true), [0, 2, 3, 1, 4][..kept], "{dtype}");
            }
            let none = Ranking {
                kept: 0,
                descending: true,
            };
            assert_eq!(none.places(dtype, &[]), [0; 0]);
        }
    }

    #[test]
    fn few_and_many_are_the_first_of_all() {
        // Numbers up and down, each several times.
        let up: Vec<u64> = (0..300).map(|at| at * 7 % 97).collect();
        let down: Vec<u64> = (0..300).map(|at| (300 - at) / 4).collect();
        for keys in [up, down] {
            for dtype in [DType::F32, DType::F64] {
                for descending in [false, true] {
                    let places = |kept| Ranking { kept, descending }.places(dtype, &keys);
                    let mut all: Vec<usize> = (0..300).collect();
                    all.sort_by_key(|&at| match descending {
                        false => keys[at],
                        true => u64::MAX - keys[at],
                    });
                    for kept in [1, 2, 63, 64, 65, 299, 300] {
                        assert_eq!(places(kept), all[..kept], "{dtype} {descending} {kept}");
                    }
                }
            }
        }
    }
}
