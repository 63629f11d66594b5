//! Copy-on-write storage for the elements of tensors.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use bytemuck::NoUninit;
use bytes::Bytes;
use half::{bf16, f16};

/// The size in bytes from which copies share memory, because copying less is cheaper than counting references.
pub(crate) const SHARED_FROM: usize = 1 << 10;

/// Elements of one type, in order. Copies share many elements until one of them is changed.
#[derive(Clone)]
pub struct Elements<T: Plain>(Store<T>);

/// A plain-data element type.
pub trait Plain: NoUninit + Send + Sync + 'static {
    /// Returns the elements in the memory of `bytes`; `None` if the memory is not aligned for the type, ends within an
    /// element, or may have bytes that are invalid for the type, as for `bool`.
    fn view(bytes: &[u8]) -> Option<&[Self]>;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Plain for $number {
            fn view(bytes: &[u8]) -> Option<&[$number]> {
                bytemuck::try_cast_slice(bytes).ok()
            }
        }
    )*};
}

numbers!(f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64);

impl Plain for bool {
    fn view(_: &[u8]) -> Option<&[bool]> {
        None
    }
}

#[derive(Clone)]
enum Store<T> {
    /// Few elements.
    Own(Vec<T>),
    /// Many elements.
    Counted(Arc<Vec<T>>),
    /// Elements in the memory of bytes, for example of a literal.
    Bytes(Bytes),
}

impl<T: Plain> Elements<T> {
    /// Returns the elements in the memory of `bytes` in native order; `None` as for [`Plain::view`].
    pub fn in_bytes(bytes: Bytes) -> Option<Elements<T>> {
        T::view(&bytes)?;
        Some(Elements(Store::Bytes(bytes)))
    }

    /// Returns bytes that share the memory of the elements; `None` for few elements, which are not shared.
    pub fn shared_bytes(&self) -> Option<Bytes> {
        match &self.0 {
            Store::Own(_) => None,
            Store::Counted(elements) => Some(Bytes::from_owner(Owner(Arc::clone(elements)))),
            Store::Bytes(bytes) => Some(bytes.clone()),
        }
    }
}

/// An owner of elements, for [`Bytes`].
struct Owner<T>(Arc<Vec<T>>);

impl<T: NoUninit> AsRef<[u8]> for Owner<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::must_cast_slice(self.0.as_slice())
    }
}

impl<T: Plain> From<Vec<T>> for Elements<T> {
    fn from(elements: Vec<T>) -> Elements<T> {
        Elements(if size_of_val(elements.as_slice()) < SHARED_FROM {
            Store::Own(elements)
        } else {
            Store::Counted(Arc::new(elements))
        })
    }
}

impl<T: Plain> Deref for Elements<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Store::Own(elements) => elements,
            Store::Counted(elements) => elements,
            Store::Bytes(bytes) => T::view(bytes).expect("they were elements when they came"),
        }
    }
}

/// Shared elements are copied before they are changed.
impl<T: Plain> DerefMut for Elements<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        if let Store::Bytes(_) = self.0 {
            self.0 = Store::Own(self.to_vec());
        }
        match &mut self.0 {
            Store::Own(elements) => elements,
            Store::Counted(elements) => Arc::make_mut(elements).as_mut_slice(),
            Store::Bytes(_) => unreachable!("they were copied"),
        }
    }
}

impl<T: Plain + fmt::Debug> fmt::Debug for Elements<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many() -> Elements<u32> {
        (0..1000).collect::<Vec<u32>>().into()
    }

    #[test]
    fn copies_of_many_elements_share_them_until_one_is_changed() {
        let first = many();
        let mut second = first.clone();
        assert_eq!(first.as_ptr(), second.as_ptr());
        second[0] = 7;
        assert_eq!((first[0], second[0]), (0, 7));
        assert_eq!(first[1..], second[1..]);
        // A sole owner changes its elements in place.
        let place = second.as_ptr();
        second[1] = 8;
        assert_eq!(second.as_ptr(), place);
    }

    #[test]
    fn bytes_and_elements_are_the_same_memory() {
        let elements = many();
        let bytes = elements.shared_bytes().expect("they are many");
        assert_eq!(bytes.as_ptr(), elements.as_ptr().cast());
        let mut again: Elements<u32> = Elements::in_bytes(bytes).expect("they are aligned");
        assert_eq!(again.as_ptr(), elements.as_ptr());
        again[0] = 7;
        assert_eq!((elements[0], again[0]), (0, 7));
        assert!(Elements::from(vec![1u8]).shared_bytes().is_none());
    }

    #[test]
    fn bytes_that_are_no_elements_are_refused() {
        let bytes = many().shared_bytes().expect("they are many");
        assert!(Elements::<u32>::in_bytes(bytes.slice(1..5)).is_none());
        assert!(Elements::<u32>::in_bytes(bytes.slice(..6)).is_none());
        assert!(Elements::<u32>::in_bytes(bytes.slice(4..8)).is_some());
        // Not every byte is a valid `bool`.
        assert!(Elements::<bool>::in_bytes(bytes.slice(8..9)).is_none());
        assert!(Elements::<bool>::in_bytes(bytes.slice(4..5)).is_none());
    }
}
