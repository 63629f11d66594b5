//! Kinds of expressions, and the parameters of functions and predicates.

/// The kind of an expression, that is, its type in a rule file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExprKind {
    /// A value of the match: `?x`.
    Value,
    /// A dtype: `'t`.
    DType,
    /// An integer or an extent.
    Int,
    /// A float.
    Float,
    /// A boolean.
    Bool,
    /// A string.
    Str,
    /// A list of integers.
    Ints,
    /// A list of extents.
    Dims,
    /// The padding of a window.
    Padding,
    /// A keyword of an attribute with a fixed set of values.
    Word,
}

impl ExprKind {
    /// Returns the kind as messages name it.
    pub fn text(self) -> &'static str {
        match self {
            ExprKind::Value => "a value",
            ExprKind::DType => "a dtype",
            ExprKind::Int => "an integer",
            ExprKind::Float => "a float",
            ExprKind::Bool => "true or false",
            ExprKind::Str => "a name",
            ExprKind::Ints => "a list of integers",
            ExprKind::Dims => "a shape",
            ExprKind::Padding => "a padding",
            ExprKind::Word => "a word",
        }
    }
}

/// A parameter of a function or predicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Param {
    /// A value.
    Value,
    /// A value or a dtype.
    Typed,
    /// A value or a shape.
    Shaped,
    /// An integer or an extent.
    Int,
    /// A list of integers.
    Ints,
    /// A padding.
    Padding,
    /// An integer or a float; optional as the last parameter.
    OptionalNumber,
}

impl Param {
    /// Returns whether the parameter accepts an argument of `kind`.
    pub fn admits(self, kind: ExprKind) -> bool {
        match self {
            Param::Value => kind == ExprKind::Value,
            Param::Typed => matches!(kind, ExprKind::Value | ExprKind::DType),
            Param::Shaped => matches!(kind, ExprKind::Value | ExprKind::Dims),
            Param::Int => kind == ExprKind::Int,
            Param::Ints => kind == ExprKind::Ints,
            Param::Padding => kind == ExprKind::Padding,
            Param::OptionalNumber => matches!(kind, ExprKind::Int | ExprKind::Float),
        }
    }

    /// Returns the parameter as messages describe it.
    pub fn text(self) -> &'static str {
        match self {
            Param::Value => "a value such as `?x`",
            Param::Typed => "a value such as `?x` or a dtype such as `'t`",
            Param::Shaped => "a value such as `?x` or extents such as `..s`",
            Param::Int => "an integer",
            Param::Ints => "a list of integers",
            Param::Padding => "a padding",
            Param::OptionalNumber => "a number",
        }
    }
}
