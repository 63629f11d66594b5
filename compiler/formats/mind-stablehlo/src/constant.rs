//! Tensors with known elements, and their decoding from text.

use mind_convert::{Refusal, converted};
use mind_diag::Code;
use mind_ir::ValueId;
use mind_ir::builder::Builder;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{DType, DTypeClass, Dim, TensorType};

use crate::text::{Dense, Elements, Module, TensorText};

/// The MLIR element types that core has.
const ELEMENT_TYPES: &[(&str, DType)] = &[
    ("bf16", DType::BF16),
    ("f16", DType::F16),
    ("f32", DType::F32),
    ("f64", DType::F64),
    ("i1", DType::Bool),
    ("i8", DType::I8),
    ("i16", DType::I16),
    ("i32", DType::I32),
    ("i64", DType::I64),
    ("ui8", DType::U8),
    ("ui16", DType::U16),
    ("ui32", DType::U32),
    ("ui64", DType::U64),
];

/// Returns the dtype of an element type.
///
/// # Errors
///
/// An element type that core does not have.
pub(crate) fn dtype(element: &str) -> Result<DType, Refusal> {
    let found = ELEMENT_TYPES.iter().find(|(name, _)| *name == element);
    found.map(|(_, dtype)| *dtype).ok_or_else(|| {
        let shown: String = element.chars().take(60).collect();
        let expected = ELEMENT_TYPES.iter().map(|(name, _)| *name);
        let expected = expected.collect::<Vec<_>>().join(", ");
        Refusal::dtype("the tensor".to_owned(), format_args!("`{shown}`"), expected)
    })
}

/// A tensor with known elements.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    pub shape: Vec<i64>,
    /// The elements; a tensor of rank 0 if all are equal (a splat).
    pub elements: Tensor,
}

impl Constant {
    pub fn of(tensor: &Tensor) -> Constant {
        let shape = tensor.shape().iter().map(|&extent| extent as i64);
        Constant {
            shape: shape.collect(),
            elements: tensor.clone(),
        }
    }

    pub fn dtype(&self) -> DType {
        self.elements.dtype()
    }

    pub fn ty(&self) -> TensorType {
        let dims = self.shape.iter().copied().map(Dim::Fixed);
        TensorType::new(self.dtype(), dims)
    }

    /// Returns the number of elements; `None` on overflow.
    pub fn count(&self) -> Option<usize> {
        let mut extents = self.shape.iter();
        let count = extents.try_fold(1i64, |n, &extent| n.checked_mul(extent))?;
        usize::try_from(count).ok()
    }

    /// Emits the constant. A splat is not written out.
    pub fn emit(&self, b: &mut Builder<'_>) -> ValueId {
        match self.is_splat() && !self.shape.is_empty() {
            true => mind_core::splat(b, self.ty().view(), &self.elements),
            false => mind_core::constant(b, &self.elements),
        }
    }

    /// Returns whether one element represents all of them.
    pub fn is_splat(&self) -> bool {
        self.elements.rank() == 0
    }

    /// Returns all elements, if there are at most `most`.
    pub fn tensor(&self, most: usize) -> Option<Tensor> {
        let count = self.count().filter(|count| *count <= most)?;
        let shape = self.shape.iter().map(|&extent| extent as usize).collect();
        let elements = match self.is_splat() {
            true => self.elements.buffer().splat(count),
            false => self.elements.buffer().clone(),
        };
        Some(Tensor::new(shape, elements))
    }
}

/// Maximum length of a list that an importer interprets.
const LIST_LIMIT: usize = 1 << 12;

impl Constant {
    /// Returns the elements as integers.
    ///
    /// # Errors
    ///
    /// More than 4096 elements.
    pub fn integers(&self) -> Result<Vec<i64>, Refusal> {
        let many = || {
            let found = self
                .count()
                .map_or("more than 2^63".to_owned(), |own| own.to_string());
            Refusal::too_large("the length of a list of numbers", found, LIST_LIMIT)
        };
        let tensor = self.tensor(LIST_LIMIT).ok_or_else(many)?;
        Ok(converted(&tensor, DType::I64).elements::<i64>().to_vec())
    }

    /// Returns the common value of all elements as `f64`; `None` if they differ.
    pub fn number(&self) -> Option<f64> {
        let single = self.is_splat() || self.count() == Some(1);
        let wide = single.then(|| converted(&self.elements, DType::F64))?;
        wide.elements::<f64>().first().copied()
    }
}

/// Returns the extents of a type.
///
/// # Errors
///
/// A dynamic extent, `?`.
fn fixed(ty: &TensorText<'_>) -> Result<Vec<i64>, Refusal> {
    let shape: Option<Vec<i64>> = ty.shape.iter().copied().collect();
    shape.ok_or_else(|| {
        Refusal::value(
            "the type of a constant".to_owned(),
            "open (`?`)",
            "extents that are numbers",
        )
    })
}

/// Returns the constant of a dense attribute.
///
/// # Errors
///
/// An element type that core does not have, a number of elements that does not match the type, an element that is
/// invalid for the type, or a missing resource.
pub(crate) fn constant(dense: &Dense<'_>, module: &Module<'_>) -> Result<Constant, Refusal> {
    let (dtype, shape) = (dtype(dense.ty.element)?, fixed(&dense.ty)?);
    let mut count = Some(1usize);
    for &extent in &shape {
        let extent = usize::try_from(extent).ok();
        count = count
            .zip(extent)
            .and_then(|(n, extent)| n.checked_mul(extent));
    }
    let wrong = |found: usize| {
        let wanted = count.map_or("more".to_owned(), |count| count.to_string());
        Refusal::elements(format_args!("{found} elements"), wanted)
    };
    let buffer = match &dense.elements {
        Elements::Splat(token) => {
            let bytes = element(token, dtype)?;
            let elements = Tensor::new(
                Vec::new(),
                Buffer::from_bytes(dtype, &bytes[..dtype.size()]),
            );
            return Ok(Constant { shape, elements });
        }
        Elements::List {
            shape: found,
            tokens,
        } => {
            if count != Some(tokens.len()) {
                return Err(wrong(tokens.len()));
            }
            let is_same = found
                .iter()
                .map(|&own| own as i64)
                .eq(shape.iter().copied());
            if !is_same && !tokens.is_empty() {
                let refusal = Refusal::elements(
                    format_args!("lists of {found:?}"),
                    format_args!("{shape:?}"),
                );
                return Err(refusal);
            }
            let mut bytes = Vec::with_capacity(tokens.len() * dtype.size());
            for token in tokens {
                bytes.extend(&element(token, dtype)?[..dtype.size()]);
            }
            Buffer::from_bytes(dtype, &bytes)
        }
        Elements::Hex(hex) => {
            let bytes = hex_bytes(hex)?;
            return packed(&bytes, dtype, shape, count);
        }
        Elements::Resource(name) => {
            let hex = module.resources.get(name).ok_or_else(|| {
                let message = format!("the text has no elements called `{name}`");
                Refusal::new(Code(4206), message)
                    .help("`dialect_resources` at the end of the text has the elements")
            })?;
            let bytes = hex_bytes(hex)?;
            // The first 4 bytes are the alignment.
            let elements = bytes.get(4..).unwrap_or_default();
            return packed(elements, dtype, shape, count);
        }
    };
    let shape_of = shape.iter().map(|&extent| extent as usize).collect();
    Ok(Constant {
        shape,
        elements: Tensor::new(shape_of, buffer),
    })
}

/// Decodes elements from bytes, which may be a single one for a splat. Booleans are single bits or bytes.
fn packed(
    bytes: &[u8],
    dtype: DType,
    shape: Vec<i64>,
    count: Option<usize>,
) -> Result<Constant, Refusal> {
    let wrong = || {
        let found = bytes.len();
        Refusal::elements(
            format_args!("{found} bytes"),
            format_args!("those of {dtype}{shape:?}"),
        )
    };
    let count = count.ok_or_else(wrong)?;
    let own: Vec<u8>;
    let bytes = if dtype == DType::Bool && bytes.len() != count {
        if bytes.len() != count.div_ceil(8) {
            return Err(wrong());
        }
        let bit = |at: usize| (bytes[at / 8] >> (at % 8)) & 1;
        own = (0..count).map(bit).collect();
        &own[..]
    } else {
        bytes
    };
    if Some(bytes.len()) != count.checked_mul(dtype.size()) {
        return Err(wrong());
    }
    if dtype == DType::Bool && bytes.iter().any(|&byte| byte > 1) {
        return Err(Refusal::elements(
            "another byte",
            "0 or 1, because it is a truth value",
        ));
    }
    let of = shape.iter().map(|&extent| extent as usize).collect();
    let elements = Tensor::new(of, Buffer::from_bytes(dtype, bytes));
    Ok(Constant { shape, elements })
}

/// Returns the bytes of a hexadecimal number, `0x` followed by digits.
fn hex_bytes(text: &str) -> Result<Vec<u8>, Refusal> {
    let wrong = || {
        let found: String = text.chars().take(20).collect();
        Refusal::elements(
            format_args!("\"{found}\""),
            "`0x` and two hexadecimal digits for each byte",
        )
    };
    let digits = text.strip_prefix("0x").ok_or_else(wrong)?.as_bytes();
    if digits.len() % 2 != 0 {
        return Err(wrong());
    }
    let digit = |own: u8| (own as char).to_digit(16).map(|own| own as u8);
    let byte = |pair: &[u8]| Some(digit(pair[0])? * 16 + digit(pair[1])?);
    let bytes = digits.chunks_exact(2).map(byte);
    bytes.collect::<Option<_>>().ok_or_else(wrong)
}

/// Returns the bytes of one element, followed by padding.
fn element(token: &str, dtype: DType) -> Result<[u8; 8], Refusal> {
    let wrong = || {
        let shown: String = token.chars().take(40).collect();
        Refusal::elements(
            format_args!("`{shown}`"),
            format_args!("an element of {dtype}"),
        )
    };
    if let Some(hex) = token.strip_prefix("0x") {
        let bits = u64::from_str_radix(hex, 16).map_err(|_| wrong())?;
        let is_float = dtype.class() == DTypeClass::Float;
        let fits = dtype.size() == 8 || bits >> (8 * dtype.size()) == 0;
        return match is_float && fits {
            true => Ok(bits.to_le_bytes()),
            false => Err(wrong()),
        };
    }
    let tensor = match dtype.class() {
        DTypeClass::Bool => match token {
            "true" | "1" => Tensor::scalar(true),
            "false" | "0" => Tensor::scalar(false),
            _ => return Err(wrong()),
        },
        DTypeClass::Float if dtype == DType::F32 => {
            Tensor::scalar(token.parse::<f32>().map_err(|_| wrong())?)
        }
        DTypeClass::Float => Tensor::scalar(token.parse::<f64>().map_err(|_| wrong())?),
        // As in MLIR, an integer may be written as signed or as unsigned.
        DTypeClass::Signed | DTypeClass::Unsigned => {
            let number: i128 = token.parse().map_err(|_| wrong())?;
            let width = 8 * dtype.size() as u32;
            let range = -(1i128 << (width - 1))..1i128 << width;
            if !range.contains(&number) {
                return Err(wrong());
            }
            return Ok((number as i64).to_le_bytes());
        }
    };
    let mut bytes = [0; 8];
    let tensor = match tensor.dtype() == dtype {
        true => tensor,
        false => converted(&tensor, dtype),
    };
    bytes[..dtype.size()].copy_from_slice(tensor.buffer().as_bytes());
    Ok(bytes)
}
