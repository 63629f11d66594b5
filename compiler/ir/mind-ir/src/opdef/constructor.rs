//! Typed constructors, which `ops!` adds to each op with one result and no region.

use crate::attr::Attr;
use crate::opdef::OpDef;

/// Returns the default attributes of a new op, with placeholders for attributes without a default.
#[doc(hidden)]
pub fn default_attrs<'a, const COUNT: usize>(def: &'static OpDef) -> [Attr<'a>; COUNT] {
    std::array::from_fn(|index| def.attrs[index].default.unwrap_or(Attr::Int(0)))
}

/// Adds constructors to the view of an op:
///
/// - `build(b, operands…)`, which uses the default of every attribute; left out if an attribute has no default;
/// - `with(attributes without a default…)`, which returns a value with a setter for each other attribute and a `build`;
///   left out for ops without attributes.
///
/// The two lists in brackets accumulate the attributes without and with a default from the braces at the end.
#[doc(hidden)]
#[macro_export]
macro_rules! op_constructor {
    ($view:ident $operands:tt [] [] { None $($rest:tt)* }) => {};
    ($view:ident $operands:tt [] [] { Many $($rest:tt)* }) => {};
    ($view:ident $operands:tt [] [] { [$($result:ident)*] $($rest:tt)* }) => {};
    ($view:ident $operands:tt [] [] { One $($rest:tt)* }) => {
        $crate::op_constructor!($view $operands [] [] { $($rest)* });
    };
    ($view:ident $operands:tt [] [] { $regions:literal $($rest:tt)* }) => {};
    ($view:ident $operands:tt [$($required:tt)*] [$($optional:tt)*]
        { $attr:ident: $kind:ident, $($rest:tt)* }) => {
        $crate::op_constructor!($view $operands
            [$($required)* $attr: $kind,] [$($optional)*] { $($rest)* });
    };
    ($view:ident $operands:tt [$($required:tt)*] [$($optional:tt)*]
        { $attr:ident: $kind:ident = $default:expr, $($rest:tt)* }) => {
        $crate::op_constructor!($view $operands
            [$($required)*] [$($optional)* $attr: $kind,] { $($rest)* });
    };

    ($view:ident $operands:tt [] [$($optional:tt)*] {}) => {
        $crate::op_constructor!(@build $view $operands);
        $crate::op_constructor!(@with $view $operands [] [$($optional)*]);
    };
    ($view:ident $operands:tt [$($required:tt)*] [$($optional:tt)*] {}) => {
        $crate::op_constructor!(@with $view $operands [$($required)*] [$($optional)*]);
    };

    (@build $view:ident ($($operand:ident)* $([$variadic:ident])? $(($optional:ident))?)) => {
        impl $view {
            /// Appends the op with default attributes and returns its result.
            ///
            /// # Errors
            ///
            /// If the shape rule fails. The graph is then unchanged, except that some ids are unused.
            #[inline]
            pub fn build(
                b: &mut impl $crate::builder::Build,
                $($operand: $crate::ValueId,)*
                $($variadic: &[$crate::ValueId],)?
                $($optional: Option<$crate::ValueId>,)?
            ) -> $crate::builder::Built {
                const DEF: &$crate::opdef::OpDef = <$view as $crate::opdef::Op>::DEF;
                let attrs: [_; DEF.attrs.len()] = $crate::opdef::default_attrs(DEF);
                b.builder().one(DEF, &$crate::op_constructor!(@list $($operand)* $([$variadic])? $(($optional))?), &attrs)
            }
        }
    };

    (@list $($operand:ident)*) => { [$($operand),*] };
    (@list $($operand:ident)* [$variadic:ident]) => { [&[$($operand),*], $variadic].concat() };
    (@list $($operand:ident)* ($optional:ident)) => { [&[$($operand),*], $optional.as_slice()].concat() };

    (@with $view:ident $operands:tt [] []) => {};
    (@with $view:ident ($($operand:ident)* $([$variadic:ident])? $(($optional_operand:ident))?)
        [$($required:ident: $rkind:ident,)*] [$($optional:ident: $okind:ident,)*]) => {
        /// The attributes of a new op.
        #[derive(Clone, Copy, Debug)]
        pub struct Attributes<'a>([$crate::attr::Attr<'a>; <$view as $crate::opdef::Op>::DEF.attrs.len()]);

        impl $view {
            /// Returns the attributes of a new op. The parameters are those without a default; the others have setters.
            #[inline]
            pub fn with<'a>(
                $($required: <$rkind as $crate::attr::AttrType>::Value<'a>,)*
            ) -> Attributes<'a> {
                #[allow(unused_mut, reason = "no attribute is required")]
                let mut attrs = $crate::opdef::default_attrs(<$view as $crate::opdef::Op>::DEF);
                $(
                    attrs[AttrIndex::$required as usize] =
                        <$rkind as $crate::attr::AttrType>::wrap($required);
                )*
                Attributes(attrs)
            }
        }

        impl<'a> Attributes<'a> {
            $(
                #[doc = concat!("Sets attribute `", stringify!($optional), "`.")]
                #[inline]
                pub fn $optional(
                    mut self,
                    value: <$okind as $crate::attr::AttrType>::Value<'a>,
                ) -> Attributes<'a> {
                    self.0[AttrIndex::$optional as usize] =
                        <$okind as $crate::attr::AttrType>::wrap(value);
                    self
                }
            )*

            /// Appends the op with these attributes and returns its result.
            ///
            /// # Errors
            ///
            /// If the shape rule fails. The graph is then unchanged, except that some ids are unused.
            #[inline]
            pub fn build(
                self,
                b: &mut impl $crate::builder::Build,
                $($operand: $crate::ValueId,)*
                $($variadic: &[$crate::ValueId],)?
                $($optional_operand: Option<$crate::ValueId>,)?
            ) -> $crate::builder::Built {
                let operands = $crate::op_constructor!(
                    @list $($operand)* $([$variadic])? $(($optional_operand))?
                );
                b.builder().one(<$view as $crate::opdef::Op>::DEF, &operands, &self.0)
            }
        }
    };
}
