//! Input arrays: objects with the buffer protocol, or DLPack tensors. They are read in place if they are dense and
//! row-major.

use mind::{Buffer, DType, Extent, Tensor, Type, View};
use pyo3::intern;
use pyo3::prelude::*;

use crate::array::Array;
use crate::buffer::Held;
use crate::dlpack::Managed;
use crate::errors::error;

/// An array of the caller.
pub(crate) struct CallerArray {
    elements: Elements,
    shape: Vec<usize>,
    dtype: DType,
}

enum Elements {
    /// The caller's memory, with a reference to its owner.
    Borrowed { memory: Memory, _keeps: Owner },
    /// Copied elements: of another layout, or booleans other than 0 and 1.
    Copied(Vec<u8>),
}

/// The owner of the caller's memory.
enum Owner {
    Buffer { _buffer: Held },
    Tensor { _tensor: Managed },
}

/// Memory of the caller.
#[derive(Clone, Copy)]
struct Memory {
    start: *const u8,
    bytes: usize,
}

// SAFETY: the memory is only read, and its owner is kept with it. As for all consumers of buffers, the caller must not
// write to it during a call.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn bytes(&self) -> &[u8] {
        match self.bytes {
            0 => &[],
            // SAFETY: the owner keeps this many bytes in place.
            bytes => unsafe { std::slice::from_raw_parts(self.start, bytes) },
        }
    }
}

/// The layout of the caller's array.
struct Layout {
    start: *const u8,
    shape: Vec<usize>,
    /// Strides in bytes; `None` if the elements are dense and row-major.
    strides: Option<Vec<isize>>,
}

impl CallerArray {
    /// Converts the array `object`, which is passed for the input or weight `name`.
    ///
    /// # Errors
    ///
    /// The object is not an array; its elements have an unsupported type; its memory has been released.
    pub(crate) fn new(name: &str, object: &Bound<'_, PyAny>) -> PyResult<CallerArray> {
        let py = object.py();
        let (dtype, layout, owner) = exported(name, object)?;
        let memory = layout.whole(dtype);
        let elements = match memory {
            Some(memory) => Elements::Borrowed {
                memory,
                _keeps: owner,
            },
            None => Elements::Copied(layout.gathered(dtype).ok_or_else(|| {
                let message = format!("`{name}`: out of memory for a contiguous copy");
                error(py, "ArrayError", &message, None)
            })?),
        };
        let mut own = CallerArray {
            elements,
            shape: layout.shape,
            dtype,
        };
        if dtype == DType::Bool && own.bytes().iter().any(|&byte| byte > 1) {
            let bytes = own.bytes().iter().map(|&byte| u8::from(byte != 0));
            own.elements = Elements::Copied(bytes.collect());
        }
        Ok(own)
    }

    /// Returns whether the array has the type `ty`, ignoring the names of dimensions.
    pub(crate) fn fits(&self, ty: &Type) -> bool {
        let same = |(extent, &own): (&Extent, &usize)| match extent {
            Extent::Fixed(fixed) => *fixed == own,
            Extent::Symbol(_) | Extent::Unknown => true,
        };
        self.dtype == ty.dtype
            && self.shape.len() == ty.shape.len()
            && ty.shape.iter().zip(&self.shape).all(same)
    }

    /// Returns the bytes of the elements, row-major.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.elements {
            Elements::Borrowed { memory, .. } => memory.bytes(),
            Elements::Copied(bytes) => bytes,
        }
    }

    /// Returns the array for an executable.
    pub(crate) fn view(&self) -> View<'_> {
        View::from_bytes(self.dtype, &self.shape, self.bytes())
    }

    /// Returns a copy of the array.
    pub(crate) fn tensor(&self) -> Tensor {
        Tensor::new(
            self.shape.clone(),
            Buffer::from_bytes(self.dtype, self.bytes()),
        )
    }
}

impl Layout {
    /// Returns the bytes of all elements if they are dense and row-major.
    fn whole(&self, dtype: DType) -> Option<Memory> {
        let size = dtype.size();
        let is_empty = self.shape.contains(&0);
        let bytes = if is_empty {
            0
        } else {
            self.shape
                .iter()
                .try_fold(size, |all, &n| all.checked_mul(n))?
        };
        let strides = self.strides.as_deref().unwrap_or_default();
        let mut next = size as isize;
        for (&extent, &stride) in self.shape.iter().zip(strides).rev() {
            if extent != 1 && stride != next && !is_empty {
                return None;
            }
            next = next.checked_mul(extent as isize)?;
        }
        Some(Memory {
            start: self.start,
            bytes,
        })
    }

    /// Returns a row-major copy of the elements; `None` if memory runs out, because a broadcast array may have more
    /// elements than memory.
    fn gathered(&self, dtype: DType) -> Option<Vec<u8>> {
        let size = dtype.size();
        let count = self
            .shape
            .iter()
            .try_fold(1usize, |all, &n| all.checked_mul(n))?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(count.checked_mul(size)?).ok()?;
        let strides = self.strides.as_deref().unwrap_or_default();
        let mut index = vec![0usize; self.shape.len()];
        let mut offset = 0isize;
        for _ in 0..count {
            // SAFETY: the offset is that of an element, whose owner is kept alive.
            let element = unsafe { std::slice::from_raw_parts(self.start.offset(offset), size) };
            bytes.extend_from_slice(element);
            for axis in (0..self.shape.len()).rev() {
                index[axis] += 1;
                offset += strides[axis];
                if index[axis] < self.shape[axis] {
                    break;
                }
                offset -= strides[axis] * self.shape[axis] as isize;
                index[axis] = 0;
            }
        }
        Some(bytes)
    }
}

/// Returns the dtype and the layout of an object, and the owner of its memory.
fn exported(name: &str, object: &Bound<'_, PyAny>) -> PyResult<(DType, Layout, Owner)> {
    let py = object.py();
    if let Ok(array) = object.cast::<Array>() {
        return of_buffer(name, Held::new(object)?, array.get().is_bf16(), py);
    }
    // Numpy arrays of `ml_dtypes` do not support the buffer protocol, but a view of their bits does.
    let dtype = object.getattr_opt(intern!(py, "dtype"))?;
    let dtype = dtype.map(|dtype| dtype.getattr_opt(intern!(py, "name")));
    if let Some(dtype) = dtype.transpose()?.flatten()
        && dtype
            .extract::<String>()
            .is_ok_and(|name| name == "bfloat16")
    {
        let bits = object.call_method1(intern!(py, "view"), ("uint16",))?;
        return of_buffer(name, Held::new(&bits)?, true, py);
    }
    match Held::new(object) {
        Ok(buffer) => of_buffer(name, buffer, false, py),
        Err(_) if object.hasattr(intern!(py, "__dlpack__"))? => of_tensor(name, object),
        Err(why) => {
            let kind = object.get_type().name()?;
            let why = why.value(py).to_string();
            let message = format!("`{name}`: {kind} is not an array: {why}");
            let help =
                "pass an object with the buffer protocol, as `numpy.asarray(...)` or `array.array`";
            Err(error(py, "ArrayError", &message, Some(help)))
        }
    }
}

fn of_buffer(
    name: &str,
    buffer: Held,
    is_bf16: bool,
    py: Python<'_>,
) -> PyResult<(DType, Layout, Owner)> {
    let dtype = match buffer.dtype() {
        Some(DType::U16) if is_bf16 => DType::BF16,
        Some(dtype) => dtype,
        None => return Err(no_dtype(py, name, &buffer.format().to_string_lossy())),
    };
    if buffer.is_indirect() {
        let message = format!("`{name}`: arrays of pointers to rows are not read");
        let help = "make a contiguous copy, as `numpy.ascontiguousarray(...)`";
        return Err(error(py, "ArrayError", &message, Some(help)));
    }
    let layout = Layout {
        start: buffer.start(),
        shape: buffer.shape(),
        strides: buffer.strides(),
    };
    Ok((dtype, layout, Owner::Buffer { _buffer: buffer }))
}

fn of_tensor(name: &str, object: &Bound<'_, PyAny>) -> PyResult<(DType, Layout, Owner)> {
    let py = object.py();
    let tensor = Managed::new(object).map_err(|why| {
        let kind = object.get_type().name();
        let kind = kind.map_or_else(|_| "object".to_owned(), |kind| kind.to_string());
        let message = format!("`{name}`: this {kind} is not taken: {}", why.value(py));
        let help = "tensors are those of the CPU that need no gradient, as `x.detach().cpu()`";
        error(py, "ArrayError", &message, Some(help))
    })?;
    let dtype = tensor
        .dtype()
        .ok_or_else(|| no_dtype(py, name, &tensor.format()))?;
    let size = dtype.size() as isize;
    let strides = tensor.strides();
    let layout = Layout {
        start: tensor.start(),
        shape: tensor.shape(),
        strides: strides.map(|strides| strides.into_iter().map(|own| own * size).collect()),
    };
    Ok((dtype, layout, Owner::Tensor { _tensor: tensor }))
}

fn no_dtype(py: Python<'_>, name: &str, format: &str) -> PyErr {
    let message = format!("`{name}`: no dtype has elements of format `{format}`");
    let help = "elements are in native byte order: bool, or integers and floats of 8 to 64 bits";
    error(py, "ArrayError", &message, Some(help))
}
