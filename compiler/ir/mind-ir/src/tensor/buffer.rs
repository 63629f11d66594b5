//! Buffers of elements of one dtype, and dispatch over dtypes.

use bytes::Bytes;
use half::{bf16, f16};

use super::elements::{Elements, Plain};
use crate::types::DType;

/// A Rust type that represents the elements of a dtype.
pub trait Element: Plain + PartialEq + std::fmt::Debug {
    /// The dtype.
    const DTYPE: DType;
    /// Zero, or `false`.
    const ZERO: Self;

    /// Returns the elements as a buffer.
    fn wrap(elements: Vec<Self>) -> Buffer;
    /// Returns the elements of a buffer; `None` if it has another dtype.
    fn peek(buffer: &Buffer) -> Option<&[Self]>;
    /// Copies the elements out of bytes in native order.
    ///
    /// # Panics
    ///
    /// If the bytes end within an element.
    fn read(bytes: &[u8]) -> Vec<Self>;
    /// Returns the elements in the memory of `bytes`, as [`Elements::in_bytes`] does.
    fn in_bytes(bytes: Bytes) -> Option<Buffer>;
    /// Compares bits, except that all NaNs are equal.
    fn same_bits(self, other: Self) -> bool;
}

macro_rules! buffers {
    ($($name:ident($element:ty, $zero:expr, |$a:ident, $b:ident| $same:expr);)*) => {
        /// Elements of one dtype, in order. Copies of a buffer share them; see [`Elements`].
        #[derive(Clone, Debug)]
        pub enum Buffer {
            $(#[doc = concat!("Elements of dtype ", stringify!($name), ".")] $name(Elements<$element>),)*
        }

        $(
            impl Element for $element {
                const DTYPE: DType = DType::$name;
                const ZERO: Self = $zero;

                fn wrap(elements: Vec<Self>) -> Buffer {
                    Buffer::$name(elements.into())
                }

                fn peek(buffer: &Buffer) -> Option<&[Self]> {
                    match buffer {
                        Buffer::$name(elements) => Some(elements),
                        _ => None,
                    }
                }

                fn read(bytes: &[u8]) -> Vec<Self> {
                    NativeBytes::take(bytes)
                }

                fn in_bytes(bytes: Bytes) -> Option<Buffer> {
                    Elements::in_bytes(bytes).map(Buffer::$name)
                }

                fn same_bits(self, other: Self) -> bool {
                    let ($a, $b) = (self, other);
                    $same
                }
            }
        )*

        /// Runs `$body` with `$elements` bound to the typed elements of a [`Buffer`].
        #[macro_export]
        macro_rules! with_buffer {
            ($buffer:expr, |$elements:ident| $body:expr) => {
                match $buffer { $($crate::tensor::Buffer::$name($elements) => $body,)* }
            };
        }

        /// Runs `$body` with the type name `$element` bound to the Rust type of a dtype.
        #[macro_export]
        macro_rules! with_dtype {
            ($dtype:expr, $T:ident => $body:expr) => {
                match $dtype { $($crate::types::DType::$name => {
                    type $T = $crate::tensor::rust_types::$name;
                    $body
                })* }
            };
        }

        /// The Rust type of each dtype, under the dtype's name.
        pub mod rust_types {
            use super::*;
            $(#[doc = concat!("Elements of dtype ", stringify!($name), ".")] pub type $name = $element;)*
        }
    };
}

buffers! {
    F16(f16, f16::ZERO, |a, b| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan());
    BF16(bf16, bf16::ZERO, |a, b| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan());
    F32(f32, 0.0, |a, b| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan());
    F64(f64, 0.0, |a, b| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan());
    I8(i8, 0, |a, b| a == b);
    I16(i16, 0, |a, b| a == b);
    I32(i32, 0, |a, b| a == b);
    I64(i64, 0, |a, b| a == b);
    U8(u8, 0, |a, b| a == b);
    U16(u16, 0, |a, b| a == b);
    U32(u32, 0, |a, b| a == b);
    U64(u64, 0, |a, b| a == b);
    Bool(bool, false, |a, b| a == b);
}

/// Conversion from bytes in native order.
trait NativeBytes: Sized {
    fn take(bytes: &[u8]) -> Vec<Self>;
}

macro_rules! native_bytes {
    ($($element:ty),*) => {$(
        impl NativeBytes for $element {
            fn take(bytes: &[u8]) -> Vec<Self> {
                let (all, broken) = bytes.as_chunks();
                assert!(broken.is_empty(), "bytes of whole elements");
                all.iter().map(|&bytes| Self::from_ne_bytes(bytes)).collect()
            }
        }
    )*};
}

native_bytes!(f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64);

impl NativeBytes for bool {
    fn take(bytes: &[u8]) -> Vec<bool> {
        bytes.iter().map(|&byte| byte != 0).collect()
    }
}

impl Buffer {
    /// Returns the element type.
    pub fn dtype(&self) -> DType {
        fn of<T: Element>(_: &[T]) -> DType {
            T::DTYPE
        }
        with_buffer!(self, |elements| of(elements))
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        with_buffer!(self, |elements| elements.len())
    }

    /// Whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `count` zeros of `dtype`.
    pub fn zeros(dtype: DType, count: usize) -> Buffer {
        with_dtype!(dtype, T => T::wrap(vec![T::ZERO; count]))
    }

    /// Whether both have the same dtype, length and bits. All NaNs are equal.
    pub fn same_bits(&self, other: &Buffer) -> bool {
        fn same<T: Element>(a: &[T], b: &Buffer) -> bool {
            let Some(b) = T::peek(b) else { return false };
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.same_bits(*y))
        }
        with_buffer!(self, |elements| same(elements, other))
    }

    /// Returns the memory of the elements as bytes in native order.
    pub fn as_bytes(&self) -> &[u8] {
        with_buffer!(self, |elements| bytemuck::must_cast_slice(&elements[..]))
    }

    /// Copies the elements to bytes in native order.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    /// Copies the elements out of `bytes` in native order.
    ///
    /// # Panics
    ///
    /// If the bytes end within an element.
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Buffer {
        with_dtype!(dtype, T => T::wrap(T::read(bytes)))
    }

    /// Returns the elements in `bytes` in native order. They are copied only if the memory cannot be shared, for
    /// example because it is not aligned for `dtype`.
    ///
    /// # Panics
    ///
    /// If the bytes end within an element.
    pub fn from_shared(dtype: DType, bytes: Bytes) -> Buffer {
        let shared = Buffer::in_bytes(dtype, bytes.clone());
        shared.unwrap_or_else(|| Buffer::from_bytes(dtype, &bytes))
    }

    /// Returns the elements in the memory of `bytes`, which are in native order; `None` if the memory cannot hold
    /// elements of `dtype`, for example because it is not aligned.
    pub fn in_bytes(dtype: DType, bytes: Bytes) -> Option<Buffer> {
        with_dtype!(dtype, T => T::in_bytes(bytes))
    }

    /// Returns all elements as bytes in native order. The memory is shared if there are many.
    pub fn shared_bytes(&self) -> Bytes {
        let shared = with_buffer!(self, |elements| elements.shared_bytes());
        shared.unwrap_or_else(|| Bytes::copy_from_slice(self.as_bytes()))
    }

    /// Returns the first element, repeated `count` times.
    ///
    /// # Panics
    ///
    /// If the buffer is empty.
    pub fn splat(&self, count: usize) -> Buffer {
        fn repeat<T: Element>(elements: &[T], count: usize) -> Buffer {
            T::wrap(vec![elements[0]; count])
        }
        with_buffer!(self, |elements| repeat(elements, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_for_every_dtype() {
        for &dtype in DType::ALL {
            let zeros = Buffer::zeros(dtype, 3);
            assert_eq!(zeros.to_bytes().len(), 3 * dtype.size());
            assert!(Buffer::from_bytes(dtype, &zeros.to_bytes()).same_bits(&zeros));
        }
        let values = Buffer::F32(vec![1.5, -0.0, f32::INFINITY].into());
        assert!(Buffer::from_bytes(DType::F32, &values.to_bytes()).same_bits(&values));
        // Bytes do not have to be aligned.
        let bytes = [&[7][..], values.as_bytes()].concat();
        assert!(Buffer::from_bytes(DType::F32, &bytes[1..]).same_bits(&values));
        let truths = Buffer::from_bytes(DType::Bool, &[0, 1, 2]);
        assert!(truths.same_bits(&Buffer::Bool(vec![false, true, true].into())));
    }

    #[test]
    #[should_panic(expected = "bytes of whole elements")]
    fn a_broken_last_element_is_refused() {
        let _ = Buffer::from_bytes(DType::I16, &[1, 2, 3]);
    }

    #[test]
    fn zeros_of_both_signs_differ_and_nans_agree() {
        assert!(!0.0f32.same_bits(-0.0));
        assert!(f32::NAN.same_bits(f32::from_bits(0xffc0_0001)));
    }
}
