//! Errors of binding and running.

use mind_diag::{Code, Diagnostic, Span};
use mind_ir::eval::EvalError;
use mind_ir::types::{DType, shape_text};
use mind_ir::{Graph, OpId};
use thiserror::Error;

/// The reason why arrays do not fit a module's inputs.
#[derive(Clone, PartialEq, Debug, Error)]
#[expect(
    missing_docs,
    reason = "the message of each variant says what its fields are"
)]
pub enum BindError {
    #[error("no array is given for input `{name}` of type {ty}")]
    Missing { name: String, ty: String },
    #[error("array `{name}` is not an input of this module")]
    Extra {
        name: String,
        nearest: Option<String>,
    },
    #[error("array `{name}` is {found}, input `{name}` expects {expected}")]
    DType {
        name: String,
        expected: DType,
        found: DType,
    },
    #[error("array `{name}` of shape {found:?} has rank {}, input `{name}` expects rank {rank}, {ty}", found.len())]
    Rank {
        name: String,
        rank: usize,
        ty: String,
        found: Vec<usize>,
    },
    #[error(
        "array `{name}` has extent {found} at dimension {dimension}, input `{name}` expects {expected}, {ty}"
    )]
    Extent {
        name: String,
        dimension: usize,
        expected: i64,
        found: usize,
        ty: String,
    },
    #[error(
        "dimension {symbol} is {first} {}, but {second} {}",
        origin(first_origin),
        origin(second_origin)
    )]
    Symbol {
        symbol: String,
        first: usize,
        first_origin: Origin,
        second: usize,
        second_origin: Origin,
    },
    #[error("the module has no dimension `{symbol}`")]
    UnknownSymbol {
        symbol: String,
        nearest: Option<String>,
    },
    #[error("no memory for input `{name}` of shape {shape:?}: {bytes} bytes")]
    NoMemory {
        name: String,
        shape: Vec<usize>,
        bytes: u64,
    },
    #[error(
        "input `{name}` of shape {shape:?} needs more than the {left} bytes left of the memory limit"
    )]
    TooLarge {
        name: String,
        shape: Vec<usize>,
        left: u64,
    },
}

/// The source of an extent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The caller.
    Given,
    /// A dimension of an array.
    Array {
        /// The array's name.
        name: String,
        /// The dimension.
        dimension: usize,
    },
    /// A default from [`SYMBOL_EXTENTS`](crate::SYMBOL_EXTENTS).
    Default,
}

fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Given => "as given".to_owned(),
        Origin::Array { name, dimension } => format!("at dimension {dimension} of array `{name}`"),
        Origin::Default => "by default".to_owned(),
    }
}

/// A [`BindError`] and the input that it concerns, if it concerns a single one.
#[derive(Clone, PartialEq, Debug, Error)]
#[error("{error}")]
pub struct Unbound {
    /// The op that declares the input.
    pub op: Option<OpId>,
    /// The error.
    pub error: BindError,
}

impl Unbound {
    pub(crate) fn at(op: OpId, error: BindError) -> Unbound {
        Unbound {
            op: Some(op),
            error,
        }
    }

    /// Returns the diagnostic, at the declaration of the input.
    pub fn diagnostic(&self, g: &Graph) -> Diagnostic {
        let span = self.op.map_or(Span::FILE, |op| g.span(op));
        let diagnostic = Diagnostic::error(span, self.error.to_string());
        match &self.error {
            BindError::Extra {
                nearest: Some(name),
                ..
            } => diagnostic.help(format!("an input `{name}` exists")),
            BindError::UnknownSymbol {
                nearest: Some(name),
                ..
            } => diagnostic.help(format!("a dimension `{name}` exists")),
            BindError::NoMemory { shape, .. } | BindError::TooLarge { shape, .. } => {
                let mut diagnostic = diagnostic.context("shape", format!("{shape:?}"));
                diagnostic.code = Some(Code(6004));
                let input = self.op.and_then(|op| g.results(op).into_iter().next());
                let dtype = input.map_or(String::new(), |value| g.ty(value).dtype.to_string());
                diagnostic.context("dtype", dtype)
            }
            _ => diagnostic,
        }
    }
}

impl From<BindError> for Unbound {
    fn from(error: BindError) -> Unbound {
        Unbound { op: None, error }
    }
}

/// A failed evaluation of an op.
#[derive(Clone, PartialEq, Debug, Error)]
#[error("{error}")]
pub struct RunError {
    /// The op of the module's body that failed, or that has a region in which an op failed.
    pub op: OpId,
    /// The reason.
    pub error: EvalError,
}

impl RunError {
    /// Returns the diagnostic, at the innermost op that failed, with the facts that the catalogue requires.
    pub fn diagnostic(&self, g: &Graph) -> Diagnostic {
        let (op, error) = self.error.innermost(self.op);
        let name = g.def(op).short_name();
        let message = format!("`{name}` failed: {error}");
        let mut diagnostic = Diagnostic::error(g.span(op), message).context("op", name);
        diagnostic.code = error.code();
        for outer in owners(g, op) {
            let name = g.def(outer).short_name();
            diagnostic = diagnostic.related(g.span(outer), format!("in a region of `{name}`"));
        }
        let operands = g.operands(op);
        for (index, &operand) in operands.iter().enumerate().take(SHOWN_OPERANDS) {
            let role = g
                .def(op)
                .operand(index)
                .map_or("operand", |operand| operand.name);
            let (label, ty) = (g.label(operand), g.type_text(operand));
            diagnostic = diagnostic.note(format!("`{role}` is %{label}: {ty}"));
        }
        if let Some(more) = operands.len().checked_sub(SHOWN_OPERANDS + 1) {
            diagnostic = diagnostic.note(format!("and {} more operands", more + 1));
        }
        match error {
            EvalError::IndexOutOfBounds {
                index,
                axis,
                extent,
            } => diagnostic
                .context("indices", index.to_string())
                .context("axis", axis.to_string())
                .context(
                    "shape",
                    indexed_shape(g, op).unwrap_or_else(|| extent.to_string()),
                )
                .help(help_bounds(*extent)),
            EvalError::Division { lhs, rhs } => {
                diagnostic.context("operands", format!("{lhs}, {rhs}"))
            }
            EvalError::TooLarge { shape, .. } | EvalError::OutOfMemory { shape, .. } => {
                diagnostic.context("shape", format!("{shape:?}")).context(
                    "dtype",
                    dtype(g, op).map_or(String::new(), |dtype| dtype.to_string()),
                )
            }
            EvalError::UnboundDim(symbol) => {
                diagnostic.help(format!("no input has dimension {symbol}: give its extent"))
            }
            EvalError::Steps(_)
            | EvalError::Overflow
            | EvalError::Shape(_)
            | EvalError::NotEvaluable(_)
            | EvalError::Inside { .. } => diagnostic,
        }
    }
}

/// Returns the ops whose regions hold `op`, innermost first.
fn owners(g: &Graph, op: OpId) -> impl Iterator<Item = OpId> {
    let owner = |&op: &OpId| g.parent(op).and_then(|block| g.block_owner(block));
    std::iter::successors(owner(&op), owner)
}

/// Returns the shape of the first operand, which is the indexed one in ops with indices.
fn indexed_shape(g: &Graph, op: OpId) -> Option<String> {
    let operand = g.operands(op).first()?;
    Some(shape_text(g.ty(*operand).shape, g.symbols()))
}

fn dtype(g: &Graph, op: OpId) -> Option<DType> {
    let value = g.results(op).into_iter().next()?;
    Some(g.ty(value).dtype)
}

/// The maximum number of operands that a diagnostic shows.
const SHOWN_OPERANDS: usize = 8;

fn help_bounds(extent: usize) -> String {
    match extent {
        0 => "the axis is empty: no index is valid".to_owned(),
        extent => format!("valid indices are 0 to {}", extent - 1),
    }
}
