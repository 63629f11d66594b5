//! MIL ops that are compositions of several core ops.
//!
//! A row is an op and its term. Import expands the op to the term; lowering matches the term and emits the single op.

use mind_ir::scalar::{Reduction, ScalarFn};
use mind_ir::types::DType;

use crate::call::Call;
use crate::coefficients::{GELU_CUBE, GELU_SIGMOID, GELU_TANH};
use crate::ops::{activation as act, binary, normalization as norm, pool, reduction, unary};
use crate::row::MilOp;

/// The expression that an op computes from its arguments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Term {
    /// An argument that is a tensor.
    Value(&'static str),
    /// A scalar argument.
    Param(&'static str),
    /// An argument with one number per channel; the given number for all channels if it is omitted.
    Channels(&'static str, Option<f64>),
    /// A number.
    Number(f64),
    /// An elementwise function.
    Apply(ScalarFn, &'static [Term]),
    /// A reduction along the axes of the composition.
    Reduce(Reduction, &'static Term),
    /// A reduction over the windows of the op.
    Window(Reduction, &'static Term),
    /// A conversion to another float dtype.
    Cast(DType, &'static Term),
}

/// The dtype that a term is computed in; its result is rounded to `f32`, then to the dtype of the op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// The dtype of the op, which need not be a float.
    Own,
    /// `f32`.
    Single,
    /// `f64`.
    Double,
    /// `f32` for halves, `f64` for singles.
    Wider,
}

/// Axes of the reductions of a term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Axes {
    /// The term has no reduction.
    None,
    /// The arguments `axes` and `keep_dims`.
    Given,
    /// The argument `axes`. They are kept with extent 1, and a reshape removes them unless `keep_dims` is true.
    Kept,
    /// The given number of trailing axes, which are kept.
    Last(usize),
    /// All but the first two, which are kept.
    Spatial,
}

/// An op and its term.
#[derive(Clone, Copy, Debug)]
pub struct Composition {
    /// The op.
    pub op: &'static MilOp,
    /// Values of word arguments for which the term is valid.
    pub words: &'static [(&'static str, &'static str)],
    /// Values of numeric arguments that the term does not name and for which it is valid, because they simplify it.
    pub numbers: &'static [(&'static str, f64)],
    /// Whether the op is defined on integers.
    pub integers: bool,
    /// The dtype of the computation.
    pub width: Width,
    /// Axes of the reductions.
    pub axes: Axes,
    /// The term of the op.
    pub term: Term,
}

/// Builds a term from prefix notation: `x` and `y` are tensors, other names are numbers, `[name]` is one number per
/// channel, `(= constant)` a named constant, `{Sum x}` a reduction, `(window Sum x)` a reduction over windows, `(as F64
/// x)` a cast.
macro_rules! term {
    (x) => { Term::Value("x") };
    (y) => { Term::Value("y") };
    ([$name:ident]) => { Term::Channels(stringify!($name), None) };
    ([$name:ident or $number:literal]) => { Term::Channels(stringify!($name), Some($number)) };
    ({$kind:ident $of:tt}) => { Term::Reduce(Reduction::$kind, &term!($of)) };
    ((= $number:ident)) => { Term::Number($number) };
    ((window $kind:ident $of:tt)) => { Term::Window(Reduction::$kind, &term!($of)) };
    ((as $dtype:ident $of:tt)) => { Term::Cast(DType::$dtype, &term!($of)) };
    (($function:ident $($of:tt)+)) => { Term::Apply(ScalarFn::$function, &[$(term!($of)),+]) };
    ($name:ident) => { Term::Param(stringify!($name)) };
    ($number:literal) => { Term::Number($number) };
}

const fn row(op: &'static MilOp, width: Width, axes: Axes, term: Term) -> Composition {
    Composition {
        op,
        words: &[],
        numbers: &[],
        integers: false,
        width,
        axes,
        term,
    }
}

/// An elementwise function of floats.
const fn map(op: &'static MilOp, width: Width, term: Term) -> Composition {
    row(op, width, Axes::None, term)
}

const fn gelu(mode: &'static [(&'static str, &'static str)], term: Term) -> Composition {
    Composition {
        words: mode,
        ..map(&act::GELU, Width::Wider, term)
    }
}

/// All compositions. If several match a graph, the first is used: the longer one, or the one with fewer parameters.
pub static COMPOSITIONS: &[Composition] = &[
    map(
        &act::RELU6,
        Width::Single,
        term!((Minimum (Maximum x 0.0) 6.0)),
    ),
    map(
        &act::SIGMOID_HARD,
        Width::Single,
        term!((Minimum (Maximum (Add (Mul x alpha) beta) 0.0) 1.0)),
    ),
    map(
        &unary::CLIP,
        Width::Single,
        term!((Minimum (Maximum x alpha) beta)),
    ),
    map(
        &act::CLAMPED_RELU,
        Width::Single,
        term!((Minimum (Select (GreaterEqual x 0.0) x (Mul x alpha)) beta)),
    ),
    map(
        &act::LEAKY_RELU,
        Width::Single,
        term!((Select (GreaterEqual x 0.0) x (Mul x alpha))),
    ),
    map(
        &act::PRELU,
        Width::Single,
        term!((Select (GreaterEqual x 0.0) x (Mul x [alpha]))),
    ),
    Composition {
        numbers: &[("alpha", 1.0)],
        ..map(
            &act::ELU,
            Width::Double,
            term!((Select (GreaterEqual x 0.0) x (Expm1 x))),
        )
    },
    map(
        &act::ELU,
        Width::Double,
        term!((Select (GreaterEqual x 0.0) x (Mul (Expm1 x) alpha))),
    ),
    map(
        &act::THRESHOLDED_RELU,
        Width::Single,
        term!((Select (GreaterEqual x alpha) x 0.0)),
    ),
    map(
        &act::SCALED_TANH,
        Width::Single,
        term!((Mul (Tanh (Mul x beta)) alpha)),
    ),
    map(&act::SILU, Width::Single, term!((Mul x (Sigmoid x)))),
    map(
        &act::SOFTSIGN,
        Width::Single,
        term!((Div x (Add (Abs x) 1.0))),
    ),
    map(
        &act::SOFTPLUS,
        Width::Double,
        term!((Add (Maximum x 0.0) (Log1p (Exp (Neg (Abs x)))))),
    ),
    map(
        &act::SOFTPLUS_PARAMETRIC,
        Width::Single,
        term!((Mul
            (as F32 (Add
                (Maximum (as F64 (Mul x [beta])) 0.0)
                (Log1p (Exp (Neg (Abs (as F64 (Mul x [beta]))))))))
            [alpha])),
    ),
    gelu(
        &[("mode", "TANH_APPROXIMATION")],
        term!((Mul x (Sigmoid (Mul
            (Mul (Add x (Mul (Mul (Mul x (= GELU_CUBE)) x) x)) (= GELU_TANH))
            2.0)))),
    ),
    gelu(
        &[("mode", "SIGMOID_APPROXIMATION")],
        term!((Mul x (Sigmoid (Mul x (= GELU_SIGMOID))))),
    ),
    map(
        &act::LINEAR_ACTIVATION,
        Width::Single,
        term!((Add (Mul x alpha) beta)),
    ),
    map(&unary::LOG, Width::Single, term!((Log (Add x epsilon)))),
    map(&unary::RSQRT, Width::Single, term!((Rsqrt (Add x epsilon)))),
    map(
        &unary::INVERSE,
        Width::Single,
        term!((Div 1.0 (Add x epsilon))),
    ),
    map(&binary::FLOOR_DIV, Width::Double, term!((Floor (Div x y)))),
    Composition {
        integers: true,
        ..map(
            &binary::FLOOR_DIV,
            Width::Own,
            term!((Select
                (And
                    (NotEqual (Sub x (Mul (Div x y) y)) 0.0)
                    (Xor (Less (Sub x (Mul (Div x y) y)) 0.0) (Less y 0.0)))
                (Sub (Div x y) 1.0)
                (Div x y))),
        )
    },
    row(
        &reduction::REDUCE_L2_NORM,
        Width::Own,
        Axes::Given,
        term!((Sqrt {Sum (Mul x x)})),
    ),
    row(
        &reduction::REDUCE_SUM_SQUARE,
        Width::Own,
        Axes::Given,
        term!({Sum (Mul x x)}),
    ),
    row(
        &reduction::REDUCE_L1_NORM,
        Width::Own,
        Axes::Given,
        term!({Sum (Abs x)}),
    ),
    row(
        &reduction::REDUCE_LOG_SUM_EXP,
        Width::Own,
        Axes::Kept,
        term!((Add (Log {Sum (Exp (Sub x {Max x}))}) {Max x})),
    ),
    row(
        &reduction::REDUCE_LOG_SUM,
        Width::Own,
        Axes::Given,
        term!((Log {Sum x})),
    ),
    map(
        &pool::L2_POOL,
        Width::Single,
        term!((Sqrt (window Sum (Mul x x)))),
    ),
    // `alpha` is divided by the number of channels in a window.
    map(
        &norm::LOCAL_RESPONSE_NORM,
        Width::Single,
        term!((Div x (Exp (Mul (Log (Add (Mul (window Sum (Mul x x)) alpha) k)) beta)))),
    ),
    row(
        &norm::L2_NORM,
        Width::Single,
        Axes::Last(3),
        term!((Div x (Sqrt (Add {Sum (Mul x x)} epsilon)))),
    ),
    row(
        &norm::INSTANCE_NORM,
        Width::Single,
        Axes::Spatial,
        term!((Add
            (Mul
                (Sub x {Mean x})
                (Div [gamma or 1.0] (Sqrt (Add
                    {Mean (Mul (Sub x {Mean x}) (Sub x {Mean x}))}
                    epsilon))))
            [beta])),
    ),
    row(
        &norm::INSTANCE_NORM,
        Width::Single,
        Axes::Spatial,
        term!((Mul
            (Sub x {Mean x})
            (Div [gamma or 1.0] (Sqrt (Add
                {Mean (Mul (Sub x {Mean x}) (Sub x {Mean x}))}
                epsilon))))),
    ),
    map(
        &norm::BATCH_NORM,
        Width::Single,
        term!((Add
            (Mul (Sub x [mean]) (Div [gamma or 1.0] (Sqrt (Add [variance] epsilon))))
            [beta])),
    ),
    map(
        &norm::BATCH_NORM,
        Width::Single,
        term!((Mul (Sub x [mean]) (Div [gamma or 1.0] (Sqrt (Add [variance] epsilon))))),
    ),
];

impl Composition {
    /// Returns whether `call` computes this composition for values of `dtype`.
    pub fn fits(&self, call: &Call<'_>, dtype: DType) -> bool {
        let is_float = dtype.is_float();
        let domain = match self.width {
            Width::Own if self.axes != Axes::None => true,
            _ => self.integers != is_float,
        };
        let mut words = self.words.iter();
        let mut numbers = self.numbers.iter();
        std::ptr::eq(&self.op.def, call.g.def(call.op))
            && domain
            && words.all(|(name, word)| call.word(name) == *word)
            && numbers.all(|(name, number)| call.float(name) == Some(*number))
            && self.term.takes(call)
    }

    /// Returns the dtype of the computation for values of `dtype`.
    pub fn wide(&self, dtype: DType) -> DType {
        match (self.width, dtype) {
            (Width::Own, own) => own,
            (Width::Single, _) | (Width::Wider, DType::F16) => DType::F32,
            (Width::Double | Width::Wider, _) => DType::F64,
        }
    }
}

impl Term {
    /// Returns whether the term is a constant, whose dtype is that of the tensors it is combined with.
    pub fn is_number(&self) -> bool {
        matches!(self, Term::Param(_) | Term::Channels(..) | Term::Number(_))
    }

    /// Returns whether `call` has every required argument.
    fn takes(&self, call: &Call<'_>) -> bool {
        match *self {
            Term::Value(name) | Term::Channels(name, None) => call.value(name).is_some(),
            Term::Param(_) | Term::Channels(_, Some(_)) | Term::Number(_) => true,
            Term::Apply(_, of) => of.iter().all(|of| of.takes(call)),
            Term::Reduce(_, of) | Term::Window(_, of) | Term::Cast(_, of) => of.takes(call),
        }
    }
}
