//! Syntax tree of a program, to which both texts and packages are decoded.

use mind_diag::Span;
use mind_ir::interface::Classes;

use super::types::Type;

/// A word and its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'t> {
    pub(crate) text: &'t str,
    pub(crate) span: Span,
}

/// A program.
pub(crate) struct Program<'t> {
    pub(crate) version: &'t str,
    /// The attributes, in canonical form.
    pub(crate) attributes: String,
    pub(crate) functions: Vec<Function<'t>>,
    /// The index of the main function.
    pub(crate) main: usize,
    pub(crate) span: Span,
}

/// Returns the index of the function called `main`, or 0 if there is none.
pub(crate) fn main_position(functions: &[Function<'_>]) -> usize {
    let main = functions.iter().position(|own| own.name.text == "main");
    main.unwrap_or(0)
}

/// A function.
pub(crate) struct Function<'t> {
    pub(crate) name: Name<'t>,
    pub(crate) opset: &'t str,
    pub(crate) attributes: String,
    pub(crate) block: Block<'t>,
}

/// Parameters, statements and outputs.
pub(crate) struct Block<'t> {
    pub(crate) params: Vec<(Type, Name<'t>)>,
    pub(crate) statements: Vec<Statement<'t>>,
    pub(crate) outputs: Vec<Name<'t>>,
    /// The position of the outputs.
    pub(crate) end: Span,
}

/// A statement.
pub(crate) struct Statement<'t> {
    pub(crate) results: Vec<(Type, Name<'t>)>,
    pub(crate) op: Name<'t>,
    pub(crate) args: Vec<(Name<'t>, Arg<'t>)>,
    pub(crate) attributes: Vec<(Name<'t>, Typed)>,
    pub(crate) blocks: Vec<Block<'t>>,
}

/// The value bound to an argument.
pub(crate) enum Arg<'t> {
    Name(Name<'t>),
    Typed(Typed),
    Tuple(Vec<Arg<'t>>),
}

/// A value with its type.
pub(crate) struct Typed {
    pub(crate) ty: Type,
    pub(crate) value: Value,
    pub(crate) span: Span,
}

/// The contents of a value.
pub(crate) enum Value {
    /// Elements in native order.
    Elements { count: usize, bytes: Vec<u8> },
    /// A string.
    Text(String),
    /// A list of labels.
    #[cfg_attr(
        not(feature = "package"),
        expect(dead_code, reason = "texts have no lists")
    )]
    Classes(Classes),
    /// A constant in a weight file.
    Blob { path: String, offset: i64 },
}
