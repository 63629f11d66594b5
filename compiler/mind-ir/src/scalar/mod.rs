//! Scalar functions: what elementwise ops apply at every position.

mod eval;
mod infer;
pub mod math;

pub use eval::{broadcast_extents, eval};
pub use infer::infer_hook;

macro_rules! scalar_fns {
    ($($(#[$doc:meta])* $name:ident / $arity:literal,)*) => {
        /// A function of one or two scalars of one dtype, with a result of that dtype.
        ///
        /// Floats follow IEEE 754; `f16` and `bf16` compute in `f32` and round once. Integers wrap.
        /// docs/numerics.md states each function exactly.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum ScalarFn {
            $($(#[$doc])* $name,)*
        }

        impl ScalarFn {
            /// Every function, in the order of the table.
            pub const ALL: &'static [ScalarFn] = &[$(ScalarFn::$name),*];

            /// How many scalars it takes.
            pub const fn arity(self) -> usize {
                match self { $(ScalarFn::$name => $arity,)* }
            }
        }
    };
}

scalar_fns! {
    /// x + y.
    Add / 2,
    /// x - y.
    Sub / 2,
    /// x * y.
    Mul / 2,
    /// x / y; integers truncate toward zero.
    Div / 2,
    /// The larger; NaN if either is, +0 above -0.
    Maximum / 2,
    /// The smaller; NaN if either is, -0 below +0.
    Minimum / 2,
    /// -x.
    Neg / 1,
    /// |x|.
    Abs / 1,
    /// x > 0 ? x : 0, so NaN gives 0.
    Relu / 1,
    /// e^x.
    Exp / 1,
    /// ln x.
    Log / 1,
    /// The square root, correctly rounded.
    Sqrt / 1,
    /// The error function.
    Erf / 1,
    /// The hyperbolic tangent.
    Tanh / 1,
    /// 1 / (1 + e^-x).
    Sigmoid / 1,
    /// x (1 + erf(x / sqrt 2)) / 2.
    Gelu / 1,
}
