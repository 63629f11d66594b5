//! Buffers of Python objects.
//!
//! The type that pyo3 has for them refuses buffers without shape or strides, as those of scalars and of `ctypes` are.

use std::ffi::CStr;

use mind::DType;
use pyo3::buffer::ElementType;
use pyo3::ffi;
use pyo3::prelude::*;

/// The buffer of an object, which is kept until this is dropped.
pub(crate) struct Held(Box<ffi::Py_buffer>);

// SAFETY: what the buffer points to does not change while it is held, and it is released by a thread that is attached to
// the interpreter.
unsafe impl Send for Held {}
// SAFETY: nothing is changed through a shared reference.
unsafe impl Sync for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: the buffer was filled by the object and is released once.
        Python::attach(|_| unsafe { ffi::PyBuffer_Release(&raw mut *self.0) });
    }
}

impl Held {
    /// The buffer of `object`, of any layout.
    ///
    /// # Errors
    ///
    /// What the object raises.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Held> {
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: the object is alive, and the view stays where it is until it is released.
        let status =
            unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *view, ffi::PyBUF_FULL_RO) };
        match status {
            0 => Ok(Held(view)),
            _ => Err(PyErr::fetch(object.py())),
        }
    }

    /// What the `struct` module calls the elements.
    pub(crate) fn format(&self) -> &CStr {
        if self.0.format.is_null() {
            c"B"
        } else {
            // SAFETY: the text lives as long as the buffer is held.
            unsafe { CStr::from_ptr(self.0.format) }
        }
    }

    /// The extents, outermost first.
    pub(crate) fn shape(&self) -> Vec<usize> {
        match (self.listed(self.0.shape), self.0.ndim) {
            (Some(shape), _) => shape.iter().map(|&extent| extent as usize).collect(),
            (None, 0) => Vec::new(),
            (None, _) => vec![(self.0.len / self.0.itemsize.max(1)) as usize],
        }
    }

    /// From one element to the next along each axis, in bytes; `None` if they lie row by row.
    pub(crate) fn strides(&self) -> Option<Vec<isize>> {
        self.listed(self.0.strides).map(<[isize]>::to_vec)
    }

    /// Whether it holds pointers to rows, not rows.
    pub(crate) fn is_indirect(&self) -> bool {
        let offsets = self.listed(self.0.suboffsets);
        offsets.is_some_and(|offsets| offsets.iter().any(|&offset| offset >= 0))
    }

    fn listed(&self, list: *const isize) -> Option<&[isize]> {
        let rank = usize::try_from(self.0.ndim).ok()?;
        // SAFETY: the lists that there are have a number for each dimension.
        (!list.is_null()).then(|| unsafe { std::slice::from_raw_parts(list, rank) })
    }

    /// The first element.
    pub(crate) fn start(&self) -> *const u8 {
        self.0.buf.cast()
    }

    /// The dtype of the elements.
    pub(crate) fn dtype(&self) -> Option<DType> {
        let (format, size) = (self.format(), usize::try_from(self.0.itemsize).ok()?);
        let foreign = if cfg!(target_endian = "little") {
            b">!"
        } else {
            b"<<"
        };
        let order = format.to_bytes().first();
        if size > 1 && order.is_some_and(|order| foreign.contains(order)) {
            return None;
        }
        let own = match ElementType::from_format(format) {
            ElementType::Bool => DType::Bool,
            ElementType::Float { bytes: 2 } => DType::F16,
            ElementType::Float { bytes: 4 } => DType::F32,
            ElementType::Float { bytes: 8 } => DType::F64,
            ElementType::SignedInteger { bytes: 1 } => DType::I8,
            ElementType::SignedInteger { bytes: 2 } => DType::I16,
            ElementType::SignedInteger { bytes: 4 } => DType::I32,
            ElementType::SignedInteger { bytes: 8 } => DType::I64,
            ElementType::UnsignedInteger { bytes: 1 } => DType::U8,
            ElementType::UnsignedInteger { bytes: 2 } => DType::U16,
            ElementType::UnsignedInteger { bytes: 4 } => DType::U32,
            ElementType::UnsignedInteger { bytes: 8 } => DType::U64,
            _ => return None,
        };
        (own.size() == size).then_some(own)
    }
}
