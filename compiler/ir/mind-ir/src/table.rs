//! The growable tables of a graph. All of them share one allocation until one grows beyond its part.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Memory for the first rows of several tables.
///
/// Tables from [`Slab::table`] point into it, so the owner of the tables must keep the slab until they are dropped.
pub(crate) struct Slab {
    /// From `Box::into_raw`.
    memory: NonNull<[MaybeUninit<Unit>]>,
    used: usize,
}

/// The unit of a slab. Its alignment suits every row type.
type Unit = u128;

// SAFETY: a slab owns its memory, which only tables read and write.
unsafe impl Send for Slab {}
// SAFETY: no method takes a shared slab.
unsafe impl Sync for Slab {}

impl Slab {
    /// Returns a slab of `units`, the sum of [`Slab::units`] of its tables.
    pub(crate) fn new(units: usize) -> Slab {
        let memory = Box::into_raw(Box::new_uninit_slice(units));
        Slab {
            memory: NonNull::new(memory).expect("a box is not null"),
            used: 0,
        }
    }

    /// Returns the units that a table of `capacity` rows takes.
    ///
    /// # Panics
    ///
    /// If the size in bytes overflows.
    pub(crate) const fn units<T: Copy>(capacity: usize) -> usize {
        const { assert!(align_of::<T>() <= align_of::<Unit>()) };
        match capacity.checked_mul(size_of::<T>()) {
            Some(bytes) => bytes.div_ceil(size_of::<Unit>()),
            None => panic!("capacity overflow"),
        }
    }

    /// Returns a table with room for `capacity` rows.
    ///
    /// # Panics
    ///
    /// If the slab does not have enough units left.
    pub(crate) fn table<T: Copy>(&mut self, capacity: usize) -> Table<T> {
        let start = self.used;
        self.used += Slab::units::<T>(capacity);
        assert!(self.used <= self.memory.len(), "the slab has room");
        // SAFETY: `start` is within the memory, and no other table gets the units between it and `used`.
        let first = unsafe { self.memory.cast::<Unit>().add(start) };
        Table {
            first: first.cast(),
            len: 0,
            capacity,
            owned: false,
        }
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        // SAFETY: the memory is from `Box::into_raw` in `new`.
        drop(unsafe { Box::from_raw(self.memory.as_ptr()) });
    }
}

/// A growable table of rows without a destructor. It has an allocation of its own once it has outgrown its part of a
/// slab.
pub(crate) struct Table<T: Copy> {
    /// `capacity` rows, of which `len` are initialised.
    first: NonNull<T>,
    len: usize,
    capacity: usize,
    /// Whether the rows are the allocation of a `Vec` of this capacity.
    owned: bool,
}

// SAFETY: a table owns its rows, like a `Vec`.
unsafe impl<T: Copy + Send> Send for Table<T> {}
// SAFETY: a shared table only reads its rows, like a `Vec`.
unsafe impl<T: Copy + Sync> Sync for Table<T> {}

impl<T: Copy> Table<T> {
    /// Appends a row.
    #[inline]
    pub(crate) fn push(&mut self, row: T) {
        if self.len == self.capacity {
            self.reserve(1);
        }
        // SAFETY: there is room for more rows than `len`.
        unsafe { self.first.add(self.len).write(row) };
        self.len += 1;
    }

    /// Appends rows.
    #[inline]
    pub(crate) fn extend(&mut self, rows: &[T]) {
        if self.capacity - self.len < rows.len() {
            self.reserve(rows.len());
        }
        // SAFETY: there is room for `rows` after the `len` rows, and they do not overlap, because the table is borrowed
        // mutably.
        unsafe {
            let end = self.first.add(self.len).as_ptr();
            std::ptr::copy_nonoverlapping(rows.as_ptr(), end, rows.len());
        }
        self.len += rows.len();
    }

    /// Reserves room for `more` rows.
    #[cold]
    pub(crate) fn reserve(&mut self, more: usize) {
        if self.capacity - self.len >= more {
            return;
        }
        let mut rows = match self.take() {
            Some(rows) => rows,
            None => {
                let mut rows = Vec::with_capacity((self.len + more).max(self.len * 2));
                rows.extend_from_slice(self);
                rows
            }
        };
        rows.reserve(more);
        *self = Table::from(rows);
    }

    /// Returns the table's own allocation, if it has one, and leaves the table empty.
    fn take(&mut self) -> Option<Vec<T>> {
        if !self.owned {
            return None;
        }
        // SAFETY: the rows are the allocation of a `Vec` of this length and capacity, which the table no longer uses.
        let rows = unsafe { Vec::from_raw_parts(self.first.as_ptr(), self.len, self.capacity) };
        (self.len, self.capacity, self.owned) = (0, 0, false);
        Some(rows)
    }
}

impl<T: Copy> From<Vec<T>> for Table<T> {
    fn from(rows: Vec<T>) -> Table<T> {
        let mut rows = ManuallyDrop::new(rows);
        Table {
            first: NonNull::new(rows.as_mut_ptr()).expect("a vector's pointer is not null"),
            len: rows.len(),
            capacity: rows.capacity(),
            owned: true,
        }
    }
}

impl<T: Copy> Default for Table<T> {
    fn default() -> Table<T> {
        Table::from(Vec::new())
    }
}

impl<T: Copy> Clone for Table<T> {
    fn clone(&self) -> Table<T> {
        Table::from(self.to_vec())
    }
}

impl<T: Copy> Drop for Table<T> {
    #[inline]
    fn drop(&mut self) {
        if self.owned {
            self.take();
        }
    }
}

impl<T: Copy> Deref for Table<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `len` rows are initialised.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl<T: Copy> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: `len` rows are initialised, and the table is borrowed mutably for as long as they are.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }
}

/// A growable text in a table.
#[derive(Clone, Default)]
pub(crate) struct Text {
    /// Valid UTF-8.
    bytes: Table<u8>,
}

impl Text {
    /// Returns an empty text that is stored in an empty table.
    pub(crate) fn new(bytes: Table<u8>) -> Text {
        assert!(bytes.is_empty(), "a text begins empty");
        Text { bytes }
    }

    /// Appends `more`.
    #[inline]
    pub(crate) fn push(&mut self, more: &str) {
        self.bytes.extend(more.as_bytes());
    }
}

impl Deref for Text {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        // SAFETY: the table was empty at first, and only `str`s are appended.
        unsafe { std::str::from_utf8_unchecked(&self.bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_one_slab_grow_apart() {
        let units = Slab::units::<u32>(3) + Slab::units::<u64>(5);
        let mut slab = Slab::new(units);
        let (mut small, mut large) = (slab.table::<u32>(3), slab.table::<u64>(5));
        for row in 0..1000 {
            small.push(row);
            large.push(u64::from(row) << 32);
        }
        small.extend(&[1000, 1001]);
        assert!((0..1002).all(|row| small[row as usize] == row));
        assert!((0..1000).all(|row| large[row as usize] == (row as u64) << 32));
        let copy = small.clone();
        small[0] = 7;
        assert_eq!((copy[0], copy.len()), (0, 1002));
    }

    #[test]
    fn an_empty_slab_makes_tables_too() {
        let mut table = Slab::new(0).table::<u64>(0);
        assert!(table.is_empty());
        table.push(3);
        assert_eq!(*table, [3]);
    }
}
