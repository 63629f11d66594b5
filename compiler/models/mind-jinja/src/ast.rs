//! Templates as trees.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::error::Span;

/// An expression with its place.
#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

/// A constant.
#[derive(Debug)]
pub(crate) enum Constant {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    Constant(Constant),
    Name(String),
    List(Vec<Expr>),
    Tuple(Vec<Expr>),
    Dict(Vec<(Expr, Expr)>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<[Expr; 2]>),
    And(Box<[Expr; 2]>),
    Or(Box<[Expr; 2]>),
    /// `a ~ b ~ c`.
    Concat(Vec<Expr>),
    /// `a < b <= c`.
    Compare(Box<Expr>, Vec<(Comparison, Expr)>),
    /// `then if condition else otherwise`.
    Choice(Box<Choice>),
    Attribute(Box<Expr>, String),
    Item(Box<Expr>, Box<Expr>),
    /// `a[start:stop:step]`.
    Slice(Box<Expr>, [Option<Box<Expr>>; 3]),
    Call(Box<Expr>, Args),
    Filter(Box<Filter>),
    Test(Box<Test>),
}

#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) condition: Expr,
    pub(crate) then: Expr,
    pub(crate) otherwise: Option<Expr>,
}

/// `value | name(args)`, or a filter of a block, which has no value of its own.
#[derive(Debug)]
pub(crate) struct Filter {
    pub(crate) value: Option<Expr>,
    pub(crate) name: String,
    pub(crate) args: Args,
}

/// `value is name(args)`.
#[derive(Debug)]
pub(crate) struct Test {
    pub(crate) value: Expr,
    pub(crate) name: String,
    pub(crate) args: Args,
}

/// The arguments of a call: in order, by name, `*list` and `**dict`.
#[derive(Debug, Default)]
pub(crate) struct Args {
    pub(crate) positional: Vec<Expr>,
    pub(crate) named: Vec<(String, Expr)>,
    pub(crate) list: Option<Box<Expr>>,
    pub(crate) dict: Option<Box<Expr>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unary {
    Not,
    Minus,
    Plus,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Rem,
    Pow,
}

impl Binary {
    /// The operator in messages.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Binary::Add => "+",
            Binary::Sub => "-",
            Binary::Mul => "*",
            Binary::Div => "/",
            Binary::FloorDiv => "//",
            Binary::Rem => "%",
            Binary::Pow => "** or pow()",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    NotIn,
}

/// The target of an assignment.
#[derive(Debug)]
pub(crate) enum Target {
    Name(String),
    /// An attribute of a namespace.
    Attribute(String, String, Span),
    Tuple(Vec<Target>, Span),
}

/// The nodes of a frame, which has variables of its own.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) nodes: Vec<Node>,
    /// Variables that are undefined until the frame assigns them, even if the variables of the template have their
    /// names. The pass over frames sets it.
    pub(crate) unassigned: Rc<BTreeSet<String>>,
}

#[derive(Debug)]
pub(crate) enum Node {
    /// Text of the template.
    Text(String),
    /// `{{ expr }}`.
    Print(Expr),
    If(Box<If>),
    For(Box<For>),
    Set(Target, Expr),
    /// `{% set target | filters %}body{% endset %}`.
    SetBlock(Target, Vec<Filter>, Body),
    With(Vec<(Target, Expr)>, Body),
    Macro(MacroNode),
    /// `{% call(parameters) call %}body{% endcall %}`.
    CallBlock(MacroNode, Expr),
    /// `{% filter filters %}body{% endfilter %}`.
    FilterBlock(Vec<Filter>, Body, Span),
    /// `{% generation %}` or `{% autoescape %}`.
    Scope(Body),
    /// `{% block name %}body{% endblock %}`; `true` if it is scoped.
    Block(Body, bool),
    Break,
    Continue,
}

#[derive(Debug)]
pub(crate) struct If {
    pub(crate) branches: Vec<(Expr, Vec<Node>)>,
    pub(crate) otherwise: Vec<Node>,
}

#[derive(Debug)]
pub(crate) struct For {
    pub(crate) target: Target,
    pub(crate) iterable: Expr,
    pub(crate) condition: Option<Expr>,
    pub(crate) body: Body,
    pub(crate) otherwise: Body,
    pub(crate) is_recursive: bool,
}

/// A macro, whose index is its place among those of the template.
#[derive(Debug)]
pub(crate) struct MacroNode {
    pub(crate) index: usize,
}

/// The parameters and the body of a macro.
#[derive(Debug)]
pub(crate) struct MacroBody {
    /// `None` of a `caller`.
    pub(crate) name: Option<String>,
    /// Parameters with their defaults.
    pub(crate) parameters: Vec<(String, Option<Expr>)>,
    pub(crate) body: Body,
    /// Whether the body reads `varargs`, `kwargs` and `caller`.
    pub(crate) reads: [bool; 3],
}
