//! The row of an op: its signatures, and the functions behind them.

use mind_ir::OpId;
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::graph::Graph;
use mind_ir::opdef::OpDef;
use mind_ir::tensor::Tensor;
use mind_ir::verify::InferManyResult;

use crate::call::Call;
use crate::signature::Signatures;

/// Result types from bound and checked arguments.
pub type Infer = fn(&Call<'_>) -> InferManyResult;

/// Result tensors from the operands.
pub type Eval = fn(&Call<'_>, &EvalCx<'_>, &[&Tensor]) -> EvalManyResult;

/// An op of MIL.
#[derive(Debug)]
pub struct MilOp {
    /// What generic passes read.
    pub def: OpDef,
    /// Its name in text.
    pub name: &'static str,
    /// Its definitions, oldest first.
    pub signatures: Signatures,
    /// The type rule.
    pub infer: Infer,
    /// What it computes; `None` if the interpreter has no function for it.
    pub eval: Option<Eval>,
    /// Why the interpreter has none.
    pub not_run: Option<&'static str>,
}

/// Binds, checks and types `op`.
pub(crate) fn infer(row: &'static MilOp, op: OpId, g: &Graph) -> InferManyResult {
    let call = Call::bind(row.name, row.signatures, op, g)?;
    call.check()?;
    (row.infer)(&call)
}

/// Runs `op`, which verification let through.
pub(crate) fn eval(
    row: &'static MilOp,
    op: OpId,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> EvalManyResult {
    let Some(eval) = row.eval else {
        return Err(EvalError::NotEvaluable(row.def.name));
    };
    let call = Call::bind(row.name, row.signatures, op, cx.graph);
    let call = call.map_err(|error| EvalError::Shape(error.to_string()))?;
    eval(&call, cx, operands)
}

/// Declares ops of MIL: for each a [`MilOp`], and `OPS`, the list of their table entries.
///
/// ```text
/// mil_ops! {
///     /// One sentence.
///     RELU = "relu" {
///         shapes: "as `x`",
///         since: [Ios15 => [arg("x", F)]],      // a definition for each opset that changed it
///         results: One,                         // optional: One, None, Many
///         regions: 1,                           // optional
///         infer: same,                          // fn(&Call) -> InferManyResult
///         eval: relu,                           // fn(&Call, &EvalCx, &[&Tensor])
///         not_run: "its result is random",      // instead: why there is none
///     }
/// }
/// ```
macro_rules! mil_ops {
    ($(
        $(#[doc = $doc:literal])*
        $row:ident = $name:literal {
            shapes: $shapes:literal,
            since: [$($opset:ident => [$($arg:expr),* $(,)?]),+ $(,)?],
            $(results: $results:ident,)?
            $(regions: $regions:literal,)?
            infer: $infer:expr,
            $(eval: $eval:expr,)?
            $(not_run: $why:literal,)?
        }
    )*) => {
        $(
            $(#[doc = $doc])*
            pub static $row: $crate::row::MilOp = $crate::row::MilOp {
                def: mind_ir::opdef::OpDef {
                    name: concat!("mil.", $name),
                    doc: concat!(
                        $($doc, "\n",)* "\n Shapes: ", $shapes, ".\n Errors: those of its arguments, E4101 to \
                         E4109; E3001 to E3009 shapes and axes.\n Source: Core ML MIL, `", $name, "`.\n"
                    ),
                    operands: &[],
                    variadic: Some(mind_ir::opdef::Operand {
                        name: "operands",
                        class: mind_ir::opdef::OperandClass::Any,
                    }),
                    attrs: $crate::row::ATTRS,
                    results: $crate::row::mil_ops!(@or [$(mind_ir::opdef::Results::$results)?]
                        mind_ir::opdef::Results::One),
                    regions: $crate::row::mil_ops!(@or [$($regions)?] 0),
                    traits: $crate::row::mil_ops!(@traits $($results)?),
                    names: mind_ir::opdef::Names::NONE,
                    infer: Some(|op, g| $crate::row::infer(&$row, op, g)),
                    eval: $crate::row::mil_ops!(@eval $row $($eval)?),
                    scalar: None,
                    fold: None,
                    core_v1: None,
                },
                name: $name,
                signatures: &[$(($crate::opset::Opset::$opset, &[$($arg),*])),+],
                infer: $infer,
                eval: $crate::row::mil_ops!(@option $($eval)?),
                not_run: $crate::row::mil_ops!(@option $($why)?),
            };
        )*

        /// The rows of this family, in order.
        pub const ROWS: &[&$crate::row::MilOp] = &[$(&$row),*];
    };

    (@or [] $default:expr) => { $default };
    (@or [$value:expr] $default:expr) => { $value };
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
    (@eval $row:ident) => { None };
    (@eval $row:ident $eval:expr) => {
        Some(|op, cx, operands| $crate::row::eval(&$row, op, cx, operands))
    };
    (@traits None) => { &[mind_ir::opdef::Trait::Extended] };
    (@traits $($results:ident)?) => {
        &[mind_ir::opdef::Trait::Pure, mind_ir::opdef::Trait::Extended]
    };
}

pub(crate) use mil_ops;

use mind_ir::attr::AttrType;
use mind_ir::attr::{AttrKind, Str};
use mind_ir::opdef::AttrDef;

/// The attributes of every op of a signature.
pub(crate) const ATTRS: &[AttrDef] = &[word("args"), word("out"), word("name")];

const fn word(name: &'static str) -> AttrDef {
    const KIND: AttrKind = <Str as AttrType>::KIND;
    AttrDef {
        name,
        key: None,
        kind: KIND,
        default: None,
    }
}
