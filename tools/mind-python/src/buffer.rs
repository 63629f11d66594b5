//! Buffers of Python objects.
//!
//! pyo3's own buffer type rejects buffers without shape or strides, for example those of scalars and of `ctypes`.

use std::ffi::CStr;

use mind::DType;
use pyo3::buffer::ElementType;
use pyo3::ffi;
use pyo3::prelude::*;

/// The buffer of an object, which is released when this is dropped.
pub(crate) struct Held(Box<ffi::Py_buffer>);

// SAFETY: the memory of the buffer does not change while it is held, and it is released by a thread that is attached to
// the interpreter.
unsafe impl Send for Held {}
// SAFETY: a shared reference does not allow changes.
unsafe impl Sync for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: the buffer was filled by the object and is released once.
        Python::attach(|_| unsafe { ffi::PyBuffer_Release(&raw mut *self.0) });
    }
}

impl Held {
    /// Returns the buffer of `object`, of any layout.
    ///
    /// # Errors
    ///
    /// The exception that the object raises.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Held> {
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: the object is alive, and the view is not moved until it is released.
        let status =
            unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *view, ffi::PyBUF_FULL_RO) };
        match status {
            0 => Ok(Held(view)),
            _ => Err(PyErr::fetch(object.py())),
        }
    }

    /// Returns the format of the elements in the `struct` module.
    pub(crate) fn format(&self) -> &CStr {
        if self.0.format.is_null() {
            c"B"
        } else {
            // SAFETY: the text lives as long as the buffer is held.
            unsafe { CStr::from_ptr(self.0.format) }
        }
    }

    /// Returns the extents, outermost first.
    pub(crate) fn shape(&self) -> Vec<usize> {
        match (self.listed(self.0.shape), self.0.ndim) {
            (Some(shape), _) => shape.iter().map(|&extent| extent as usize).collect(),
            (None, 0) => Vec::new(),
            (None, _) => vec![(self.0.len / self.0.itemsize.max(1)) as usize],
        }
    }

    /// Returns the strides in bytes; `None` if the elements are dense and row-major.
    pub(crate) fn strides(&self) -> Option<Vec<isize>> {
        self.listed(self.0.strides).map(<[isize]>::to_vec)
    }

    /// Returns whether the buffer contains pointers to rows instead of rows.
    pub(crate) fn is_indirect(&self) -> bool {
        let offsets = self.listed(self.0.suboffsets);
        offsets.is_some_and(|offsets| offsets.iter().any(|&offset| offset >= 0))
    }

    fn listed(&self, list: *const isize) -> Option<&[isize]> {
        let rank = usize::try_from(self.0.ndim).ok()?;
        // SAFETY: a list that is not null has a number per dimension.
        (!list.is_null()).then(|| unsafe { std::slice::from_raw_parts(list, rank) })
    }

    /// Returns the address of the first element.
    pub(crate) fn start(&self) -> *const u8 {
        self.0.buf.cast()
    }

    /// Returns the dtype of the elements.
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
