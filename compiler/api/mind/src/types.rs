//! Types of values, with the names of symbolic dimensions.

use std::fmt;
use std::str::FromStr;

use mind_ir::Graph;
use mind_ir::types::{Dim, MAX_RANK, TensorType, TypeView};

pub use mind_ir::types::DType;

use crate::error::{Error, invalid};

/// The type of an array: element type and shape.
///
/// Types are written as in the text formats.
///
/// ```
/// use mind::{DType, Extent, Type};
///
/// let ty: Type = "f32[B, 784]".parse()?;
/// assert_eq!(ty, Type::new(DType::F32, [Extent::from("B"), Extent::from(784)]));
/// assert_eq!(ty.to_string(), "f32[B, 784]");
/// assert!("f32[-1]".parse::<Type>().is_err());
/// # Ok::<(), mind::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Type {
    /// The type of an element.
    pub dtype: DType,
    /// The extents, outermost first; empty for a scalar.
    pub shape: Vec<Extent>,
}

/// The extent of a dimension.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Extent {
    /// A static extent.
    Fixed(usize),
    /// A symbolic dimension, equal wherever the name is used; arrays determine it at run time.
    Symbol(String),
    /// An unknown extent, written `?`; arrays determine it at run time.
    Unknown,
}

impl Type {
    /// Creates a type with these extents, outermost first.
    pub fn new<E: Into<Extent>>(dtype: DType, shape: impl IntoIterator<Item = E>) -> Type {
        Type {
            dtype,
            shape: shape.into_iter().map(E::into).collect(),
        }
    }

    pub(crate) fn of(ty: TypeView<'_>, g: &Graph) -> Type {
        Type::new(ty.dtype, ty.shape.iter().map(|&dim| Extent::of(dim, g)))
    }

    pub(crate) fn intern(&self, g: &mut Graph) -> TensorType {
        let dim = |extent: &Extent| match extent {
            Extent::Fixed(extent) => Dim::Fixed(i64::try_from(*extent).unwrap_or(i64::MAX)),
            Extent::Symbol(name) => Dim::Symbol(g.intern(name)),
            Extent::Unknown => Dim::Dynamic,
        };
        let shape: Vec<Dim> = self.shape.iter().map(dim).collect();
        TensorType::new(self.dtype, shape)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.dtype)?;
        for (index, extent) in self.shape.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{extent}")?;
        }
        f.write_str("]")
    }
}

impl FromStr for Type {
    type Err = Error;

    fn from_str(text: &str) -> Result<Type, Error> {
        let parsed = parse(text);
        parsed.map_err(|message| invalid("<type>", text, format!("`{text}`: {message}")))
    }
}

fn parse(text: &str) -> Result<Type, String> {
    let parts = text.trim().split_once('[');
    let parts = parts.and_then(|(dtype, rest)| Some((dtype, rest.strip_suffix(']')?)));
    let (dtype, shape) =
        parts.ok_or("expected an element type and a shape, for example `f32[B, 784]`")?;
    let dtype = dtype.trim();
    let known = DType::parse(dtype).ok_or_else(|| format!("unknown element type `{dtype}`"))?;
    if shape.trim().is_empty() {
        return Ok(Type::new(known, [] as [Extent; 0]));
    }
    let shape: Vec<Extent> = shape.split(',').map(extent).collect::<Result<_, _>>()?;
    if shape.len() > MAX_RANK {
        return Err(format!("rank {} is more than {MAX_RANK}", shape.len()));
    }
    Ok(Type::new(known, shape))
}

fn extent(text: &str) -> Result<Extent, String> {
    let text = text.trim();
    let is_name = |text: &str| {
        let mut letters = text.chars();
        let starts = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
        letters.next().is_some_and(starts)
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    match text {
        "?" => Ok(Extent::Unknown),
        name if is_name(name) => Ok(Extent::Symbol(name.to_owned())),
        number => match number.parse::<i64>() {
            Ok(extent) if extent >= 0 => Ok(Extent::Fixed(extent as usize)),
            _ => Err(format!(
                "invalid extent `{number}`: expected a number ≥ 0, a name or `?`"
            )),
        },
    }
}

impl Extent {
    pub(crate) fn of(dim: Dim, g: &Graph) -> Extent {
        match dim {
            Dim::Fixed(extent) => Extent::Fixed(usize::try_from(extent).unwrap_or(usize::MAX)),
            Dim::Symbol(sym) => Extent::Symbol(g.name(sym).to_owned()),
            Dim::Dynamic => Extent::Unknown,
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Fixed(extent) => extent.fmt(f),
            Extent::Symbol(name) => f.write_str(name),
            Extent::Unknown => f.write_str("?"),
        }
    }
}

impl From<usize> for Extent {
    fn from(extent: usize) -> Extent {
        Extent::Fixed(extent)
    }
}

impl From<&str> for Extent {
    fn from(name: &str) -> Extent {
        match name {
            "?" => Extent::Unknown,
            name => Extent::Symbol(name.to_owned()),
        }
    }
}

impl TryFrom<&str> for Type {
    type Error = Error;

    fn try_from(text: &str) -> Result<Type, Error> {
        text.parse()
    }
}
