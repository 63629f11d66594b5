//! Kinds of expressions, and the parameters of functions and predicates.

/// The kind of an expression, that is, its type in a rule file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
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

impl Kind {
    /// Returns the kind as messages name it.
    pub fn text(self) -> &'static str {
        match self {
            Kind::Value => "a value",
            Kind::DType => "a dtype",
            Kind::Int => "an integer",
            Kind::Float => "a float",
            Kind::Bool => "true or false",
            Kind::Str => "a name",
            Kind::Ints => "a list of integers",
            Kind::Dims => "a shape",
            Kind::Padding => "a padding",
            Kind::Word => "a word",
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
    pub fn admits(self, kind: Kind) -> bool {
        match self {
            Param::Value => kind == Kind::Value,
            Param::Typed => matches!(kind, Kind::Value | Kind::DType),
            Param::Shaped => matches!(kind, Kind::Value | Kind::Dims),
            Param::Int => kind == Kind::Int,
            Param::Ints => kind == Kind::Ints,
            Param::Padding => kind == Kind::Padding,
            Param::OptionalNumber => matches!(kind, Kind::Int | Kind::Float),
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
