//! The abstract syntax tree of rule files.

use mind_diag::Span;

/// A name and its span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Name<'s> {
    pub(crate) text: &'s str,
    pub(crate) span: Span,
}

/// A clause of a rule, in the order of the canonical form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Clause {
    /// `rule NAME` or `fusion NAME`.
    Head,
    Class,
    Engine,
    Kind,
    Phase,
    For,
    Where,
    Let,
    /// The terms.
    Sides,
    Source,
}

/// One rule.
#[derive(Clone, Debug)]
pub(crate) struct RuleAst<'s> {
    /// The whole rule.
    pub(crate) span: Span,
    pub(crate) name: Name<'s>,
    /// The clauses in source order, with the index of their first token.
    pub(crate) clauses: Vec<(Clause, usize)>,
    /// The words of `class`, with the tolerance of `approx`.
    pub(crate) class: Option<Vec<Name<'s>>>,
    pub(crate) engine: Option<Name<'s>>,
    pub(crate) phase: Option<Name<'s>>,
    /// The kind of group of a fusion.
    pub(crate) kind: Option<Name<'s>>,
    /// The `let` definitions of a fusion.
    pub(crate) lets: Vec<(Name<'s>, Term<'s>)>,
    /// The entries of `for op in …`; the rule is instantiated for each op.
    pub(crate) ops: Vec<OpEntry<'s>>,
    pub(crate) condition: Option<CondAst<'s>>,
    /// The span of the condition.
    pub(crate) condition_span: Span,
    /// The span of both sides.
    pub(crate) sides: Span,
    pub(crate) body: Body<'s>,
    /// The justification of the rule, without the quotes.
    pub(crate) source: Option<Name<'s>>,
}

/// An entry of `for op in …`: an op, or a trait, optionally with an arity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpEntry<'s> {
    pub(crate) name: Name<'s>,
    /// Whether it follows `not`.
    pub(crate) excluded: bool,
}

/// The body of a rule.
#[derive(Clone, Debug)]
pub(crate) enum Body<'s> {
    /// `lhs => rhs`, or `lhs <=> rhs` when `both`.
    Rewrite {
        lhs: Term<'s>,
        rhs: Term<'s>,
        both: bool,
    },
    /// A pattern whose ops are fused into one group.
    Fusion(Term<'s>),
}

/// A term of a pattern or a replacement.
#[derive(Clone, Debug)]
pub(crate) enum Term<'s> {
    /// `?x` or `?x: 't[m, n]`.
    Value {
        name: Name<'s>,
        ty: Option<TypeAst<'s>>,
    },
    /// `?x @ term`.
    Named { name: Name<'s>, term: Box<Term<'s>> },
    /// `core.add(?x, ?y) {attr = expression}`.
    Op {
        name: Name<'s>,
        operands: Vec<Operand<'s>>,
        attrs: Vec<(Name<'s>, Expr<'s>)>,
    },
    /// `any(a, b)`: one of several terms, in a fusion.
    Any { span: Span, terms: Vec<Term<'s>> },
    /// `near(0.5)`: a constant of this value up to rounding, in a fusion.
    Near { span: Span, number: Name<'s> },
    /// `like(?x, 0)`: a constant of the type of `?x`; `scalar(?x, 0)`: a constant of rank 0 with its dtype.
    Like {
        span: Span,
        scalar: bool,
        value: Name<'s>,
        number: Expr<'s>,
    },
}

/// An operand of a term.
#[derive(Clone, Debug)]
pub(crate) enum Operand<'s> {
    /// `?x`, `core.add(?x, ?y)`.
    One(Term<'s>),
    /// `?xs..`: any number of values; within [`Operand::Each`], one value of the list at a time.
    List(Name<'s>),
    /// `core.neg(?xs..) ..`: this term for each value of its lists.
    Each(Term<'s>),
}

impl Term<'_> {
    /// Returns the span of the first token of the term.
    pub(crate) fn span(&self) -> Span {
        match self {
            Term::Value { name, .. } | Term::Named { name, .. } | Term::Op { name, .. } => {
                name.span
            }
            Term::Like { span, .. } | Term::Any { span, .. } | Term::Near { span, .. } => *span,
        }
    }
}

/// `'t` or `'t[m, 1, ..s]`.
#[derive(Clone, Debug)]
pub(crate) struct TypeAst<'s> {
    pub(crate) dtype: Option<Name<'s>>,
    pub(crate) dims: Option<Vec<DimAst<'s>>>,
}

/// An extent in a type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DimAst<'s> {
    /// Any extent; the same extent wherever the name occurs.
    Named(Name<'s>),
    /// Exactly this extent.
    Fixed(i64),
    /// Any number of extents.
    Rest(Name<'s>),
}

/// A condition.
#[derive(Clone, Debug)]
pub(crate) enum CondAst<'s> {
    All(Vec<CondAst<'s>>),
    Any(Vec<CondAst<'s>>),
    Not(Box<CondAst<'s>>),
    /// `rank(?x) == 2`.
    Compare {
        sign: Name<'s>,
        lhs: Expr<'s>,
        rhs: Expr<'s>,
    },
    /// `is_float('t)`.
    Predicate {
        name: Name<'s>,
        arguments: Vec<Expr<'s>>,
    },
}

/// An expression over attributes, shapes and extents.
#[derive(Clone, Debug)]
pub(crate) enum Expr<'s> {
    Value(Name<'s>),
    Attr(Name<'s>),
    DType(Name<'s>),
    Rest(Name<'s>),
    /// `?xs..`.
    Values(Name<'s>),
    /// The name of an extent, `true` or `false`.
    Word(Name<'s>),
    Number(Name<'s>),
    List(Span, Vec<Expr<'s>>),
    Call {
        name: Name<'s>,
        arguments: Vec<Expr<'s>>,
    },
}

impl Expr<'_> {
    /// Returns the span of the first token of the expression.
    pub(crate) fn span(&self) -> Span {
        match self {
            Expr::Value(name)
            | Expr::Attr(name)
            | Expr::DType(name)
            | Expr::Rest(name)
            | Expr::Values(name)
            | Expr::Word(name)
            | Expr::Number(name)
            | Expr::Call { name, .. } => name.span,
            Expr::List(span, _) => *span,
        }
    }
}
