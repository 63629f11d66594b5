//! Syntax tree of a text.

use std::borrow::Cow;

use indexmap::IndexMap;
use mind_diag::Span;

use super::dense::Dense;

/// A module.
#[derive(Debug)]
pub(crate) struct Module<'t> {
    pub functions: IndexMap<&'t str, Function<'t>>,
    /// The definitions of location aliases.
    pub locations: IndexMap<&'t str, Label<'t>>,
    /// The meshes of devices that shardings refer to.
    pub meshes: Vec<Mesh<'t>>,
    /// Resources after the module, in hexadecimal.
    pub resources: IndexMap<&'t str, Cow<'t, str>>,
}

/// A mesh of devices.
#[derive(Debug)]
pub(crate) struct Mesh<'t> {
    pub name: &'t str,
    pub span: Span,
    /// The number of its devices.
    pub devices: u64,
}

/// A function.
#[derive(Debug)]
pub(crate) struct Function<'t> {
    pub span: Span,
    pub is_private: bool,
    pub results: Vec<OutputInfo<'t>>,
    pub body: Block<'t>,
}

/// A result of a function.
#[derive(Debug)]
pub(crate) struct OutputInfo<'t> {
    pub ty: Type<'t>,
    /// The name that JAX gives it.
    pub name: Option<String>,
}

/// The operations of a function or a region.
#[derive(Debug, Default)]
pub(crate) struct Block<'t> {
    pub arguments: Vec<Argument<'t>>,
    pub ops: Vec<Op<'t>>,
}

/// An argument of a block.
#[derive(Debug)]
pub(crate) struct Argument<'t> {
    pub name: &'t str,
    pub ty: Type<'t>,
    pub attrs: Vec<(&'t str, Attr<'t>)>,
    pub label: Option<Label<'t>>,
    pub span: Span,
}

/// The contents of a location.
#[derive(Clone, Debug)]
pub(crate) enum Label<'t> {
    /// A name.
    Name(String),
    /// Another location.
    Alias(&'t str),
    /// A position in a file, or anything else.
    Place,
}

/// An operation.
#[derive(Debug)]
pub(crate) struct Op<'t> {
    pub name: &'t str,
    pub span: Span,
    /// The names of its results, each with the number of results it covers.
    pub results: Vec<(&'t str, usize)>,
    pub operands: Vec<Use<'t>>,
    /// Keywords that represent attributes by their order.
    pub words: Vec<&'t str>,
    pub attrs: Vec<(&'t str, Attr<'t>)>,
    pub regions: Vec<Block<'t>>,
    /// The types of its results.
    pub types: Vec<Type<'t>>,
}

impl Op<'_> {
    /// Returns whether it ends a block.
    pub fn is_return(&self) -> bool {
        matches!(self.name, "return" | "func.return" | "stablehlo.return")
    }
}

/// The use of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use<'t> {
    pub name: &'t str,
    /// The index among the results that the name covers.
    pub index: usize,
    pub span: Span,
}

/// A type.
#[derive(Clone, Debug)]
pub(crate) enum Type<'t> {
    Tensor(TensorText<'t>),
    /// A type other than a tensor.
    Other(&'t str),
}

/// The type of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct TensorText<'t> {
    /// The extents; `None` for `?`.
    pub shape: Vec<Option<i64>>,
    pub element: &'t str,
}

/// An attribute.
#[derive(Clone, Debug)]
pub(crate) enum Attr<'t> {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Word(&'t str),
    Symbol(&'t str),
    List(Vec<Attr<'t>>),
    /// `[..] x [..]`.
    Pair(Box<(Attr<'t>, Attr<'t>)>),
    Fields(Vec<(&'t str, Attr<'t>)>),
    Dense(Dense<'t>),
    /// The text of an attribute that no importer interprets.
    Raw(&'t str),
}

impl Attr<'_> {
    /// Returns its name for messages.
    pub fn describe(&self) -> String {
        match self {
            Attr::Bool(own) => own.to_string(),
            Attr::Int(own) => own.to_string(),
            Attr::Float(own) => own.to_string(),
            Attr::Text(text) => format!("{text:?}"),
            Attr::Word(word) | Attr::Raw(word) => {
                let shown: String = word.chars().take(40).collect();
                format!("`{shown}`")
            }
            Attr::Symbol(name) => format!("`@{name}`"),
            Attr::List(list) => format!("a list of {}", list.len()),
            Attr::Pair(_) => "a pair of lists".to_owned(),
            Attr::Fields(_) => "a list of fields".to_owned(),
            Attr::Dense(_) => "a list of elements".to_owned(),
        }
    }

    /// Returns the string or keyword in it.
    pub fn text(&self) -> Option<&str> {
        match self {
            Attr::Text(text) => Some(text),
            Attr::Word(text) | Attr::Symbol(text) => Some(text),
            Attr::Bool(_)
            | Attr::Int(_)
            | Attr::Float(_)
            | Attr::List(_)
            | Attr::Pair(_)
            | Attr::Fields(_)
            | Attr::Dense(_)
            | Attr::Raw(_) => None,
        }
    }
}
