//! The row of an op: its signatures, its type rule and its evaluation.

use std::sync::LazyLock;

use mind_ir::attr::{Attr, AttrKind, AttrType, Ints, Str};
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::graph::Graph;
use mind_ir::opdef::{AttrDef, OpDef};
use mind_ir::tensor::Tensor;
use mind_ir::verify::InferManyResult;
use mind_ir::{OpId, Sym, ValueId};

use crate::call::Call;
use crate::opset::Opset;
use crate::signature::{Kind, Signatures};

/// Computes the result types from bound and checked arguments.
pub type Infer = fn(&Call<'_>) -> InferManyResult;

/// Computes the result tensors from the operands.
pub type Eval = fn(&Call<'_>, &EvalCx<'_>, &[&Tensor]) -> EvalManyResult;

/// An op of MIL.
#[derive(Debug)]
pub struct MilOp {
    /// The definition used by generic passes.
    pub def: OpDef,
    /// Its name in text.
    pub name: &'static str,
    /// Its definitions, oldest first.
    pub signatures: Signatures,
    /// The arguments of all definitions, in the order of the operands: those of the newest definition first.
    pub params: LazyLock<Vec<&'static str>>,
    /// The type rule.
    pub infer: Infer,
    /// Its evaluation; `None` if the interpreter cannot run it.
    pub eval: Option<Eval>,
    /// Why the interpreter cannot run it.
    pub not_run: Option<&'static str>,
}

impl MilOp {
    /// Returns the position of the argument called `name`.
    pub fn param(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|&own| own == name)
    }

    /// Returns whether the argument called `name` is a tuple.
    pub fn takes_tuple(&self, name: &str) -> bool {
        let mut args = self.signatures.iter().flat_map(|(_, args)| args.iter());
        args.any(|arg| arg.name == name && arg.kind == Kind::Tuple)
    }

    /// Returns whether it decompresses a constant.
    pub fn is_constexpr(&self) -> bool {
        self.name.starts_with("constexpr_")
    }

    /// Returns whether its arguments are attributes in some opset, for example those of compressed constants before
    /// ios18.
    pub fn takes_attributes(&self) -> bool {
        let before = |(since, _): &(Opset, _)| *since < Opset::Ios18;
        self.is_constexpr() && self.signatures.iter().any(before)
    }

    /// Returns whether its arguments are attributes in `opset`.
    pub fn writes_attributes(&self, opset: Opset) -> bool {
        let known = self.signatures.iter().rev();
        let known = known.map(|(since, _)| *since).find(|since| *since <= opset);
        self.is_constexpr() && known.is_some_and(|since| since < Opset::Ios18)
    }

    /// Returns the operands and `segments` of an op whose arguments are the values `given`, each with its position.
    pub fn arrange<'a>(
        &self,
        given: impl IntoIterator<Item = (usize, &'a [ValueId])>,
    ) -> (Vec<ValueId>, Vec<i64>) {
        let mut given: Vec<(usize, &[ValueId])> = given.into_iter().collect();
        given.sort_by_key(|&(param, _)| param);
        let mut segments = vec![0; self.params.len()];
        for (param, values) in &given {
            segments[*param] = values.len() as i64;
        }
        let operands = given.iter().flat_map(|(_, values)| *values).copied();
        (operands.collect(), segments)
    }
}

/// Returns the arguments of all definitions, those of the newest first.
pub(crate) fn params(signatures: Signatures) -> Vec<&'static str> {
    let mut names = Vec::new();
    for arg in signatures.iter().rev().flat_map(|(_, args)| *args) {
        if !names.contains(&arg.name) {
            names.push(arg.name);
        }
    }
    names
}

/// Binds and checks `op`, and infers its result types.
pub(crate) fn infer(row: &'static MilOp, op: OpId, g: &Graph) -> InferManyResult {
    let call = Call::bind(row, op, g)?;
    call.check()?;
    (row.infer)(&call)
}

/// Evaluates the verified op `op`.
pub(crate) fn eval(
    row: &'static MilOp,
    op: OpId,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> EvalManyResult {
    let Some(eval) = row.eval else {
        return Err(EvalError::NotEvaluable(row.def.name));
    };
    let call = Call::bind(row, op, cx.graph);
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
///
/// `family: { shapes: …, infer: …, eval: … }` before the first row gives the defaults of the rows.
macro_rules! mil_ops {
    (
        family: { shapes: $shapes:literal, infer: $infer:expr, eval: $eval:expr $(,)? }
        $($rows:tt)*
    ) => {
        $crate::row::mil_ops!(@rows [$shapes] [$infer] [$eval] $($rows)*);
    };
    (@rows $all_shapes:tt $all_infer:tt $all_eval:tt $(
        $(#[doc = $doc:literal])*
        $row:ident = $name:literal {
            $(shapes: $shapes:literal,)?
            since: [$($opset:ident => [$($arg:expr),* $(,)?]),+ $(,)?],
            $(results: $results:ident,)?
            $(regions: $regions:literal,)?
            $(infer: $infer:expr,)?
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
                        $($doc, "\n",)* "\n Shapes: ", $crate::row::mil_ops!(@or [$($shapes)?] $all_shapes), ".\n Errors: those of its arguments, E4101 to \
                         E4109; E3001 to E3009 shapes and axes.\n Source: Core ML MIL, `", $name, "`.\n"
                    ),
                    operands: &[],
                    variadic: Some(mind_ir::opdef::Operand {
                        name: "operands",
                        class: mind_ir::opdef::OperandClass::Any,
                    }),
                    optional: None,
                    attrs: $crate::row::ATTRS,
                    results: $crate::row::mil_ops!(@or [$(mind_ir::opdef::Results::$results)?]
                        [mind_ir::opdef::Results::One]),
                    arguments: None,
                    regions: $crate::row::mil_ops!(@or [$($regions)?] [0]),
                    traits: $crate::row::mil_ops!(@traits $($results)?),
                    names: mind_ir::opdef::Names::NONE,
                    infer: Some(|op, g| $crate::row::infer(&$row, op, g)),
                    eval: $crate::row::mil_ops!(@fold $row [$($eval)?] [$($why)?] $all_eval),
                    scalar: None,
                    scalar_of: None,
                    fold: None,
                    core_v1: None,
                },
                name: $name,
                signatures: &[$(($crate::opset::Opset::$opset, &[$($arg),*])),+],
                params: std::sync::LazyLock::new(|| $crate::row::params($row.signatures)),
                infer: $crate::row::mil_ops!(@or [$($infer)?] $all_infer),
                eval: $crate::row::mil_ops!(@eval [$($eval)?] [$($why)?] $all_eval),
                not_run: $crate::row::mil_ops!(@option $($why)?),
            };
        )*

        /// The rows of this family, in order.
        pub const ROWS: &[&$crate::row::MilOp] = &[$(&$row),*];
    };

    (@or [] [$default:expr]) => { $default };
    (@or [$value:expr] $default:tt) => { $value };
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
    (@eval [] [] [$eval:expr]) => { Some($eval) };
    (@eval [$($eval:expr)?] [$($why:literal)?] $all:tt) => { $crate::row::mil_ops!(@option $($eval)?) };
    (@fold $row:ident [] [$why:literal] $all:tt) => { None };
    (@fold $row:ident $eval:tt $why:tt $all:tt) => {
        Some(|op, cx, operands| $crate::row::eval(&$row, op, cx, operands))
    };
    (@traits None) => { &[mind_ir::opdef::Trait::Extended] };
    (@traits $($results:ident)?) => {
        &[mind_ir::opdef::Trait::Pure, mind_ir::opdef::Trait::Extended]
    };
    ($($rows:tt)*) => { $crate::row::mil_ops!(@rows [] [] [] $($rows)*); };
}

pub(crate) use mil_ops;

/// The attributes of every op with a row.
pub(crate) const ATTRS: &[AttrDef] = &[
    attr("segments", AttrKind::Ints),
    attr("out", AttrKind::Str),
    attr("name", AttrKind::Str),
];

const fn attr(name: &'static str, kind: AttrKind) -> AttrDef {
    AttrDef {
        name,
        key: None,
        kind,
        default: None,
    }
}

/// The attributes of an op with a row.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'g> {
    /// For each of [`MilOp::params`], its number of operands; 0 if it is omitted.
    pub segments: &'g [i64],
    /// The names of the results, separated by blanks, then for each block `|` and the names of its arguments; empty if
    /// the printer chooses them.
    pub out: &'g str,
    /// The annotation `name`; empty if the text has none.
    pub name: &'g str,
}

impl<'g> Attributes<'g> {
    /// Returns the attributes of `op`, which has a row.
    pub fn of(g: &'g Graph, op: OpId) -> Attributes<'g> {
        let [segments, out, name] = [0, 1, 2].map(|index| g.attr(op, index));
        Attributes {
            segments: Ints::get(segments),
            out: g.name(Str::get(out)),
            name: g.name(Str::get(name)),
        }
    }

    /// Returns these attributes, for a new op.
    pub fn list(segments: &'g [i64], [out, name]: [Sym; 2]) -> [Attr<'g>; ATTRS.len()] {
        [Attr::Ints(segments), Attr::Str(out), Attr::Str(name)]
    }

    /// Sets the names of the results and the annotation of `op`.
    pub fn set_names(g: &mut Graph, op: OpId, [out, name]: [&str; 2]) {
        for (index, text) in [(1, out), (2, name)] {
            let text = Attr::Str(g.intern(text));
            g.set_attr(op, index, text);
        }
    }
}
