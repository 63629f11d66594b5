//! Tensors of other libraries through DLPack.
//!
//! Source: the header `dlpack.h`, version 0.8, whose structures every later version also exports under the capsule name
//! `dltensor`.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use mind::DType;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;

use crate::array::Array;

/// DLPack's device type of the CPU.
pub(crate) const CPU: i64 = 1;

const NAME: &std::ffi::CStr = c"dltensor";
const USED: &std::ffi::CStr = c"used_dltensor";

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: [c_int; 2],
    ndim: c_int,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct DlManagedTensor {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut DlManagedTensor)>,
}

/// A tensor of an [`Array`] that another library uses.
struct Exported {
    managed: DlManagedTensor,
    shape: Box<[i64]>,
    strides: Box<[i64]>,
    _owner: Py<Array>,
}

/// Returns the type code and the number of bits of a dtype.
fn code(dtype: DType) -> (u8, u8) {
    let code = match dtype {
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => 0,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => 1,
        DType::F16 | DType::F32 | DType::F64 => 2,
        DType::BF16 => 4,
        DType::Bool => 6,
    };
    (code, 8 * dtype.size() as u8)
}

/// Returns the capsule of an array, which shares its elements.
///
/// # Errors
///
/// Out of memory.
pub(crate) fn capsule<'py>(array: &Bound<'py, Array>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let own = array.get();
    let (code, bits) = code(own.element());
    let size = own.element().size() as i64;
    let tensor = DlTensor {
        data: own.first().cast(),
        device: [CPU as c_int, 0],
        ndim: own.extents().len() as c_int,
        code,
        bits,
        lanes: 1,
        shape: std::ptr::null_mut(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    };
    let mut exported = Box::new(Exported {
        managed: DlManagedTensor {
            tensor,
            context: std::ptr::null_mut(),
            deleter: Some(release),
        },
        shape: own.extents().iter().map(|&own| own as i64).collect(),
        strides: own.steps().iter().map(|&own| own as i64 / size).collect(),
        _owner: array.clone().unbind(),
    });
    exported.managed.tensor.shape = exported.shape.as_mut_ptr();
    exported.managed.tensor.strides = exported.strides.as_mut_ptr();
    let exported = Box::into_raw(exported);
    // SAFETY: the box is not moved until `release` frees it, which is called once by the consumer of the tensor, or
    // else by the destructor of the capsule.
    unsafe {
        (*exported).managed.context = exported.cast();
        let managed = &raw mut (*exported).managed;
        let capsule = ffi::PyCapsule_New(managed.cast(), NAME.as_ptr(), Some(forget));
        Bound::from_owned_ptr_or_err(py, capsule).inspect_err(|_| drop(Box::from_raw(exported)))
    }
}

/// Frees an [`Exported`].
unsafe extern "C" fn release(managed: *mut DlManagedTensor) {
    // After the interpreter has exited, the array no longer exists.
    let _ = Python::try_attach(|_| {
        // SAFETY: the context is the box, and this is called once.
        unsafe { drop(Box::from_raw((*managed).context.cast::<Exported>())) };
    });
}

/// Frees the tensor of a capsule that was not consumed.
unsafe extern "C" fn forget(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this with the capsule that is freed; the capsule of a consumed tensor has another
    // name.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) != 0 {
            release(ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast());
        }
    }
}

/// A tensor of another library, which is released when this is dropped.
pub(crate) struct Managed(NonNull<DlManagedTensor>);

// SAFETY: the tensor is owned, and the library's deleter may be called by any thread.
unsafe impl Send for Managed {}
// SAFETY: a shared reference does not allow changes.
unsafe impl Sync for Managed {}

impl Drop for Managed {
    fn drop(&mut self) {
        // SAFETY: the pointer is that of a capsule that was marked as used, so this is its only owner.
        unsafe {
            if let Some(deleter) = self.0.as_ref().deleter {
                deleter(self.0.as_ptr());
            }
        }
    }
}

impl Managed {
    /// Takes ownership of the tensor that `object` exports.
    ///
    /// # Errors
    ///
    /// The exception that the library raises; the tensor is not on the CPU.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Managed> {
        let py = object.py();
        let device = object.call_method0(intern!(py, "__dlpack_device__"))?;
        let (device, _): (i64, i64) = device.extract()?;
        if device != CPU {
            let message = format!("it is on device {device} of DLPack, expected {CPU}, the CPU");
            return Err(PyBufferError::new_err(message));
        }
        let capsule = object.call_method0(intern!(py, "__dlpack__"))?;
        // SAFETY: the object is alive, and the calls check that it is a capsule of this name. Renaming it transfers the
        // ownership.
        unsafe {
            let tensor = ffi::PyCapsule_GetPointer(capsule.as_ptr(), NAME.as_ptr());
            let Some(tensor) = NonNull::new(tensor.cast::<DlManagedTensor>()) else {
                return Err(PyErr::fetch(py));
            };
            if ffi::PyCapsule_SetName(capsule.as_ptr(), USED.as_ptr()) != 0 {
                return Err(PyErr::fetch(py));
            }
            Ok(Managed(tensor))
        }
    }

    fn tensor(&self) -> &DlTensor {
        // SAFETY: the tensor lives until this is dropped.
        unsafe { &self.0.as_ref().tensor }
    }

    /// Returns the dtype of the elements.
    pub(crate) fn dtype(&self) -> Option<DType> {
        let own = self.tensor();
        match (own.code, own.bits, own.lanes) {
            (0, 8, 1) => Some(DType::I8),
            (0, 16, 1) => Some(DType::I16),
            (0, 32, 1) => Some(DType::I32),
            (0, 64, 1) => Some(DType::I64),
            (1, 8, 1) => Some(DType::U8),
            (1, 16, 1) => Some(DType::U16),
            (1, 32, 1) => Some(DType::U32),
            (1, 64, 1) => Some(DType::U64),
            (2, 16, 1) => Some(DType::F16),
            (2, 32, 1) => Some(DType::F32),
            (2, 64, 1) => Some(DType::F64),
            (4, 16, 1) => Some(DType::BF16),
            (6, 8, 1) => Some(DType::Bool),
            _ => None,
        }
    }

    /// Returns a description of the element type, for messages.
    pub(crate) fn format(&self) -> String {
        let own = self.tensor();
        format!(
            "DLPack code {}, {} bits, {} lanes",
            own.code, own.bits, own.lanes
        )
    }

    /// Returns the extents, outermost first.
    pub(crate) fn shape(&self) -> Vec<usize> {
        let own = self.tensor();
        self.listed(own.shape)
            .iter()
            .map(|&extent| extent as usize)
            .collect()
    }

    /// Returns the strides in elements; `None` if the elements are dense and row-major.
    pub(crate) fn strides(&self) -> Option<Vec<isize>> {
        let own = self.tensor();
        let listed = (!own.strides.is_null()).then(|| self.listed(own.strides));
        listed.map(|strides| strides.iter().map(|&stride| stride as isize).collect())
    }

    fn listed(&self, list: *const i64) -> &[i64] {
        match usize::try_from(self.tensor().ndim) {
            // SAFETY: shape and strides have a number per dimension.
            Ok(rank) if rank > 0 => unsafe { std::slice::from_raw_parts(list, rank) },
            _ => &[],
        }
    }

    /// Returns the address of the first element.
    pub(crate) fn start(&self) -> *const u8 {
        let own = self.tensor();
        own.data.cast::<u8>().wrapping_add(own.byte_offset as usize)
    }
}
