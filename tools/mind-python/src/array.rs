//! Result arrays: owned elements that Python reads and writes in place.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use mind::{Buffer, DType, Tensor};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyTuple};

use crate::dlpack;
use crate::nan;

/// An array of a result. It supports the buffer protocol, so `memoryview(array)` and `numpy.asarray(array)` share its
/// elements. Elements of bf16 are exported as 16-bit integers, because the protocol does not support bf16.
#[pyclass(frozen, module = "mind_opt")]
pub(crate) struct Array {
    /// The memory of `start`. It is not accessed by Rust code, because Python code may write to it at any time.
    _elements: Storage,
    start: Start,
    bytes: usize,
    dtype: DType,
    shape: Box<[isize]>,
    strides: Box<[isize]>,
}

/// The memory of elements.
enum Storage {
    Typed {
        _elements: Buffer,
    },
    /// Memory with sufficient alignment for elements of every dtype.
    Words {
        _memory: Vec<u64>,
    },
}

/// The address of the first element.
struct Start(*mut u8);

// SAFETY: the pointer is into memory that the array owns and that Rust code does not access; Python code accesses it by
// the rules of the buffer protocol.
unsafe impl Send for Start {}
// SAFETY: as above.
unsafe impl Sync for Start {}

impl Array {
    pub(crate) fn new(tensor: Tensor) -> Array {
        let (dtype, shape) = (tensor.dtype(), tensor.shape().to_vec());
        let mut elements = tensor.into_buffer();
        let (start, bytes) = (start(&mut elements), elements.as_bytes().len());
        let storage = Storage::Typed {
            _elements: elements,
        };
        Array::over(storage, (start, bytes), dtype, &shape)
    }

    /// Creates an array of the first `bytes` bytes of `memory`, which must have at least as many.
    pub(crate) fn of_words(
        mut memory: Vec<u64>,
        bytes: usize,
        dtype: DType,
        shape: &[usize],
    ) -> Array {
        let start = memory.as_mut_ptr().cast();
        Array::over(
            Storage::Words { _memory: memory },
            (start, bytes),
            dtype,
            shape,
        )
    }

    /// Canonicalises NaNs, so that the array can be returned as a result.
    pub(crate) fn computed(self) -> Array {
        // SAFETY: the elements are those of this array, which is not shared yet, and are aligned for their dtype.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.start.0, self.bytes) };
        nan::unify(self.dtype, bytes);
        self
    }

    fn over(
        elements: Storage,
        (start, bytes): (*mut u8, usize),
        dtype: DType,
        shape: &[usize],
    ) -> Array {
        let shape: Box<[isize]> = shape.iter().map(|&n| n as isize).collect();
        let mut strides = vec![dtype.size() as isize; shape.len()].into_boxed_slice();
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis].max(1);
        }
        Array {
            _elements: elements,
            start: Start(start),
            bytes,
            dtype,
            shape,
            strides,
        }
    }

    /// Returns the dtype of the elements.
    pub(crate) fn element(&self) -> DType {
        self.dtype
    }

    /// Returns the address of the first element.
    pub(crate) fn first(&self) -> *mut u8 {
        self.start.0
    }

    /// Returns the extents, outermost first.
    pub(crate) fn extents(&self) -> &[isize] {
        &self.shape
    }

    /// Returns the strides in bytes.
    pub(crate) fn steps(&self) -> &[isize] {
        &self.strides
    }

    pub(crate) fn is_bf16(&self) -> bool {
        self.dtype == DType::BF16
    }
}

fn start(elements: &mut Buffer) -> *mut u8 {
    match elements {
        Buffer::F16(own) => own.as_mut_ptr().cast(),
        Buffer::BF16(own) => own.as_mut_ptr().cast(),
        Buffer::F32(own) => own.as_mut_ptr().cast(),
        Buffer::F64(own) => own.as_mut_ptr().cast(),
        Buffer::I8(own) => own.as_mut_ptr().cast(),
        Buffer::I16(own) => own.as_mut_ptr().cast(),
        Buffer::I32(own) => own.as_mut_ptr().cast(),
        Buffer::I64(own) => own.as_mut_ptr().cast(),
        Buffer::U8(own) => own.as_mut_ptr(),
        Buffer::U16(own) => own.as_mut_ptr().cast(),
        Buffer::U32(own) => own.as_mut_ptr().cast(),
        Buffer::U64(own) => own.as_mut_ptr().cast(),
        Buffer::Bool(own) => own.as_mut_ptr().cast(),
    }
}

/// Returns the format character of a dtype in the `struct` module.
fn format(dtype: DType) -> &'static CStr {
    match dtype {
        DType::F16 => c"e",
        DType::BF16 | DType::U16 => c"H",
        DType::F32 => c"f",
        DType::F64 => c"d",
        DType::I8 => c"b",
        DType::I16 => c"h",
        DType::I32 => c"i",
        DType::I64 => c"q",
        DType::U8 => c"B",
        DType::U32 => c"I",
        DType::U64 => c"Q",
        DType::Bool => c"?",
    }
}

#[pymethods]
impl Array {
    /// The extents, outermost first.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.shape.iter())
    }

    /// The dtype of the elements, for example `f32` or `bf16`.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.dtype.name()
    }

    /// The elements as nested lists.
    fn tolist<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if slf.get().dtype == DType::BF16 {
            let message = "bf16 elements cannot be converted to Python numbers: `memoryview(array)` has their bits";
            return Err(PyBufferError::new_err(message));
        }
        PyMemoryView::from(slf.as_any())?.call_method0(intern!(py, "tolist"))
    }

    fn __len__(&self) -> PyResult<usize> {
        match self.shape.first() {
            Some(&extent) => Ok(extent as usize),
            None => Err(pyo3::exceptions::PyTypeError::new_err(
                "an array of rank 0 has no length",
            )),
        }
    }

    /// Returns the array as a DLPack capsule, for `from_dlpack` of other libraries, which share its elements.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<&Bound<'py, PyAny>>,
        dl_device: Option<(i64, i64)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // A capsule of version 0.8 is valid for every requested version, and a CPU has no streams.
        let _ = (stream, max_version);
        if dl_device.is_some_and(|device| device != slf.get().__dlpack_device__()) {
            return Err(PyBufferError::new_err("the array is on the CPU"));
        }
        if copy == Some(true) {
            return Err(PyBufferError::new_err("the array is shared, not copied"));
        }
        dlpack::capsule(slf)
    }

    /// Returns the DLPack device of the array, which is the CPU.
    fn __dlpack_device__(&self) -> (i64, i64) {
        (dlpack::CPU, 0)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let rebuild = py
            .import(intern!(py, "mind_opt._native"))?
            .getattr(intern!(py, "array"))?;
        let bytes = py.get_type::<PyBytes>().call1((slf,))?;
        let state = (slf.get().dtype.name(), slf.get().shape(py)?, bytes);
        Ok((rebuild, state.into_pyobject(py)?))
    }

    fn __repr__(&self) -> String {
        let extents: Vec<String> = self.shape.iter().map(isize::to_string).collect();
        format!("Array({}[{}])", self.dtype, extents.join(", "))
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no view is given"));
        }
        let own = slf.get();
        let asked = |flag: c_int| flags & flag == flag;
        if asked(ffi::PyBUF_F_CONTIGUOUS) && own.shape.len() > 1 {
            return Err(PyBufferError::new_err("the array is row-major"));
        }
        let optional = |flag: c_int, list: &[isize]| {
            if asked(flag) && !list.is_empty() {
                list.as_ptr().cast_mut()
            } else {
                ptr::null_mut()
            }
        };
        // SAFETY: the caller passes a view to fill. Shape, strides and elements live as long as the array, to which the
        // view has a reference; consumers of buffers do not write shape and strides.
        unsafe {
            (*view).buf = own.start.0.cast::<c_void>();
            (*view).len = own.bytes as isize;
            (*view).readonly = 0;
            (*view).itemsize = own.dtype.size() as isize;
            (*view).format = if asked(ffi::PyBUF_FORMAT) {
                format(own.dtype).as_ptr().cast_mut()
            } else {
                ptr::null_mut()
            };
            (*view).ndim = own.shape.len() as c_int;
            (*view).shape = optional(ffi::PyBUF_ND, &own.shape);
            (*view).strides = optional(ffi::PyBUF_STRIDES, &own.strides);
            (*view).suboffsets = ptr::null_mut();
            (*view).internal = ptr::null_mut();
            (*view).obj = slf.into_ptr();
        }
        Ok(())
    }
}

/// Returns a tensor as a Python array: a numpy array if numpy is installed, else an [`Array`]. For bf16 numpy needs the
/// package `ml_dtypes`.
pub(crate) fn given_out(py: Python<'_>, tensor: Tensor) -> PyResult<Bound<'_, PyAny>> {
    shown(py, Array::new(tensor))
}

/// As [`given_out`], for an array.
pub(crate) fn shown(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyAny>> {
    let dtype = array.dtype;
    let array = Bound::new(py, array)?.into_any();
    let Ok(numpy) = py.import(intern!(py, "numpy")) else {
        return Ok(array);
    };
    if dtype != DType::BF16 {
        return numpy.call_method1(intern!(py, "asarray"), (array,));
    }
    match py.import(intern!(py, "ml_dtypes")) {
        Ok(types) => {
            let bits = numpy.call_method1(intern!(py, "asarray"), (array,))?;
            let bf16 = types.getattr(intern!(py, "bfloat16"))?;
            bits.call_method1(intern!(py, "view"), (bf16,))
        }
        Err(_) => Ok(array),
    }
}

/// Returns the array of a pickle.
#[pyfunction]
pub(crate) fn array(dtype: &str, shape: Vec<usize>, bytes: &[u8]) -> PyResult<Array> {
    let known = DType::parse(dtype);
    let count = shape
        .iter()
        .try_fold(1usize, |all, &extent| all.checked_mul(extent));
    let wanted = known.and_then(|known| count?.checked_mul(known.size()));
    match known {
        Some(known) if wanted == Some(bytes.len()) => Ok(Array::new(Tensor::new(
            shape,
            Buffer::from_bytes(known, bytes),
        ))),
        _ => {
            let message = format!(
                "{} bytes do not match an array of {dtype}{shape:?}",
                bytes.len()
            );
            Err(pyo3::exceptions::PyValueError::new_err(message))
        }
    }
}
