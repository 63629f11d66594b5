//! Arrays that come in: whatever has the buffer protocol, read where it is if its layout allows that.

use mind::{Buffer, DType, Tensor, View};
use pyo3::buffer::{ElementType, PyUntypedBuffer};
use pyo3::intern;
use pyo3::prelude::*;

use crate::array::Array;
use crate::errors::error;

/// An array of the caller's.
pub(crate) struct Given {
    elements: Elements,
    shape: Vec<usize>,
    dtype: DType,
}

enum Elements {
    /// The caller's memory, which the buffer keeps.
    There(PyUntypedBuffer),
    /// Elements that were copied: from another layout, or truth values that are neither 0 nor 1.
    Copied(Vec<u8>),
}

impl Given {
    /// The array `object`, which is for the input or weight `name`.
    ///
    /// # Errors
    ///
    /// An object without buffer, elements that no dtype has, a memory that is closed.
    pub(crate) fn new(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Given> {
        let py = object.py();
        let (buffer, bf16) = buffer(name, object)?;
        let dtype = match dtype(&buffer) {
            Some(DType::U16) if bf16 => DType::BF16,
            Some(dtype) => dtype,
            None => {
                let format = buffer.format().to_string_lossy();
                let message = format!("`{name}`: no dtype has elements of format `{format}`");
                let help = "elements are in native byte order: bool, or integers and floats of 8 to 64 bits";
                return Err(error(py, "ArrayError", &message, Some(help)));
            }
        };
        let shape = buffer.shape().to_vec();
        let whole = buffer.item_count() == 0 || buffer.is_c_contiguous();
        let elements = match whole && buffer.suboffsets().is_none() {
            true => Elements::There(buffer),
            false => Elements::Copied(gathered(name, &buffer, py)?),
        };
        let mut own = Given {
            elements,
            shape,
            dtype,
        };
        if dtype == DType::Bool && own.bytes().iter().any(|&byte| byte > 1) {
            let bytes = own.bytes().iter().map(|&byte| u8::from(byte != 0));
            own.elements = Elements::Copied(bytes.collect());
        }
        Ok(own)
    }

    fn bytes(&self) -> &[u8] {
        match &self.elements {
            Elements::Copied(bytes) => bytes,
            Elements::There(buffer) if buffer.len_bytes() == 0 => &[],
            // SAFETY: the buffer is held, contiguous and not empty, so its memory stays where it is. That nothing writes
            // it during a call is what every user of buffers asks of the caller.
            Elements::There(buffer) => unsafe {
                std::slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.len_bytes())
            },
        }
    }

    /// The array for an executable.
    pub(crate) fn view(&self) -> View<'_> {
        View::from_bytes(self.dtype, &self.shape, self.bytes())
    }

    /// A copy of the array.
    pub(crate) fn tensor(&self) -> Tensor {
        Tensor::new(
            self.shape.clone(),
            Buffer::from_bytes(self.dtype, self.bytes()),
        )
    }
}

/// The buffer of an object, and whether its 16-bit integers are bits of bf16.
fn buffer(name: &str, object: &Bound<'_, PyAny>) -> PyResult<(PyUntypedBuffer, bool)> {
    let py = object.py();
    if let Ok(array) = object.cast::<Array>() {
        return Ok((PyUntypedBuffer::get(object)?, array.get().is_bf16()));
    }
    // Arrays of numpy with elements of `ml_dtypes` have no buffer, but a view of their bits has.
    let dtype = object.getattr_opt(intern!(py, "dtype"))?;
    let dtype = dtype.map(|dtype| dtype.getattr_opt(intern!(py, "name")));
    if let Some(dtype) = dtype.transpose()?.flatten()
        && dtype
            .extract::<String>()
            .is_ok_and(|name| name == "bfloat16")
    {
        let bits = object.call_method1(intern!(py, "view"), ("uint16",))?;
        return Ok((PyUntypedBuffer::get(&bits)?, true));
    }
    match PyUntypedBuffer::get(object) {
        Ok(buffer) => Ok((buffer, false)),
        Err(_) if object.hasattr(intern!(py, "__dlpack__"))? => from_dlpack(name, object),
        Err(why) => {
            let kind = object.get_type().name()?;
            let why = why.value(py).to_string();
            let message = format!("`{name}`: this {kind} is no array: {why}");
            let help =
                "pass an object with the buffer protocol, as `numpy.asarray(...)` or `array.array`";
            Err(error(py, "ArrayError", &message, Some(help)))
        }
    }
}

/// The buffer of a tensor of another library, through numpy.
fn from_dlpack(name: &str, object: &Bound<'_, PyAny>) -> PyResult<(PyUntypedBuffer, bool)> {
    let py = object.py();
    let refused = |why: String| {
        let kind = object.get_type().name();
        let kind = kind.map_or_else(|_| "object".to_owned(), |kind| kind.to_string());
        let message = format!("`{name}`: this {kind} is not taken: {why}");
        let help =
            "tensors are those of the CPU that need no gradient; numpy reads them, and has no bf16";
        error(py, "ArrayError", &message, Some(help))
    };
    let numpy = py
        .import(intern!(py, "numpy"))
        .map_err(|why| refused(why.to_string()))?;
    let array = numpy.call_method1(intern!(py, "from_dlpack"), (object,));
    let array = array.map_err(|why| refused(why.value(py).to_string()))?;
    Ok((PyUntypedBuffer::get(&array)?, false))
}

/// The dtype of the elements of a buffer.
fn dtype(buffer: &PyUntypedBuffer) -> Option<DType> {
    let format = buffer.format().to_bytes();
    let foreign = if cfg!(target_endian = "little") {
        b">!"
    } else {
        b"<<"
    };
    if buffer.item_size() > 1 && format.first().is_some_and(|order| foreign.contains(order)) {
        return None;
    }
    let own = match ElementType::from_format(buffer.format()) {
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
    (own.size() == buffer.item_size()).then_some(own)
}

/// The elements of a buffer of another layout, row-major.
fn gathered(name: &str, buffer: &PyUntypedBuffer, py: Python<'_>) -> PyResult<Vec<u8>> {
    let size = buffer.item_size();
    let (shape, strides) = (buffer.shape(), buffer.strides());
    if buffer.suboffsets().is_some() {
        let message = format!("`{name}`: arrays of pointers to rows are not read");
        let help = "make a contiguous copy, as `numpy.ascontiguousarray(...)`";
        return Err(error(py, "ArrayError", &message, Some(help)));
    }
    let mut bytes = Vec::new();
    // A broadcast array has more elements than memory.
    let room = buffer.item_count().checked_mul(size);
    if room.is_none_or(|room| bytes.try_reserve_exact(room).is_err()) {
        let message = format!("`{name}`: there is no memory for a contiguous copy");
        return Err(error(py, "ArrayError", &message, None));
    }
    let mut index = vec![0usize; shape.len()];
    let mut offset = 0isize;
    for _ in 0..buffer.item_count() {
        // SAFETY: the offset is that of an element, and the buffer is held.
        let element = unsafe {
            std::slice::from_raw_parts(buffer.buf_ptr().cast::<u8>().offset(offset), size)
        };
        bytes.extend_from_slice(element);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            offset += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            offset -= strides[axis] * shape[axis] as isize;
            index[axis] = 0;
        }
    }
    Ok(bytes)
}
