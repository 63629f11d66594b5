//! What a text says, before it is a graph.

use mind_diag::Span;

use super::types::Type;

/// A word and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'t> {
    pub(super) text: &'t str,
    pub(super) span: Span,
}

/// A program.
pub(super) struct Program<'t> {
    pub(super) version: &'t str,
    /// The attributes, in canonical form.
    pub(super) attributes: String,
    pub(super) functions: Vec<Function<'t>>,
    pub(super) span: Span,
}

/// A function.
pub(super) struct Function<'t> {
    pub(super) name: Name<'t>,
    pub(super) opset: &'t str,
    pub(super) attributes: String,
    pub(super) block: Block<'t>,
}

/// Parameters, statements and outputs.
pub(super) struct Block<'t> {
    pub(super) params: Vec<(Type, Name<'t>)>,
    pub(super) statements: Vec<Statement<'t>>,
    pub(super) outputs: Vec<Name<'t>>,
    /// Where the outputs stand.
    pub(super) end: Span,
}

/// A statement.
pub(super) struct Statement<'t> {
    pub(super) results: Vec<(Type, Name<'t>)>,
    pub(super) op: Name<'t>,
    pub(super) args: Vec<(Name<'t>, Arg<'t>)>,
    pub(super) attributes: Vec<(Name<'t>, Typed)>,
    pub(super) blocks: Vec<Block<'t>>,
}

/// What an argument is given.
pub(super) enum Arg<'t> {
    Name(Name<'t>),
    Typed(Typed),
    Tuple(Vec<Arg<'t>>),
}

/// A value with its type.
pub(super) struct Typed {
    pub(super) ty: Type,
    pub(super) value: Value,
    pub(super) span: Span,
}

/// What stands behind a type.
pub(super) enum Value {
    /// Elements in native order.
    Elements { count: usize, bytes: Vec<u8> },
    /// A string.
    Text(String),
    /// A place in a weight file.
    Blob { path: String, offset: i64 },
}
