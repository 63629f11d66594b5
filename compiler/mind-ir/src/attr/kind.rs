//! The kinds of attribute that an op table can ask for.

use super::{Attr, Literal, Padding};
use crate::entity::Sym;
use crate::types::Dim;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident($variant:ident): $value:ty = $attr:pat => $inner:expr, $outer:expr;)*) => {
        /// What an attribute holds.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum AttrKind {
            $($(#[$doc])* $name,)*
        }

        impl AttrKind {
            /// The kind's name in the op reference and in messages.
            pub const fn name(self) -> &'static str {
                match self { $(AttrKind::$name => stringify!($name),)* }
            }

            /// Whether `attr` is of this kind.
            pub const fn admits(self, attr: &Attr<'_>) -> bool {
                matches!((self, attr), $((AttrKind::$name, Attr::$variant(..)))|*)
            }
        }

        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            impl AttrType for $name {
                const KIND: AttrKind = AttrKind::$name;
                type Value<'a> = $value;

                fn get<'a>(attr: Attr<'a>) -> $value
                where
                    'a: 'a,
                {
                    match attr {
                        $attr => $inner,
                        other => panic!("attribute is {other:?}, not of kind {}", stringify!($name)),
                    }
                }

                fn wrap<'a>(value: $value) -> Attr<'a>
                where
                    'a: 'a,
                {
                    let outer: fn($value) -> Attr<'a> = $outer;
                    outer(value)
                }
            }
        )*
    };
}

/// A kind of attribute as a type, for the typed views of ops.
///
/// `'a: 'a` makes the lifetime early-bound in every impl, whether or not the value borrows.
pub trait AttrType {
    /// The same kind as a value.
    const KIND: AttrKind;
    /// What a typed view returns.
    type Value<'a>;

    /// The value inside `attr`. Panics where the op's table entry names another kind.
    fn get<'a>(attr: Attr<'a>) -> Self::Value<'a>
    where
        'a: 'a;

    /// The attribute that holds `value`.
    fn wrap<'a>(value: Self::Value<'a>) -> Attr<'a>
    where
        'a: 'a;
}

kinds! {
    /// An integer.
    Int(Int): i64 = Attr::Int(value) => value, Attr::Int;
    /// A truth value.
    Bool(Bool): bool = Attr::Bool(value) => value, Attr::Bool;
    /// A floating-point number.
    Float(Float): f64 = Attr::Float(bits) => f64::from_bits(bits), Attr::float;
    /// A name.
    Str(Str): Sym = Attr::Str(sym) => sym, Attr::Str;
    /// A list of integers.
    Ints(Ints): &'a [i64] = Attr::Ints(list) => list, Attr::Ints;
    /// A list of extents.
    Dims(Dims): &'a [Dim] = Attr::Dims(list) => list, Attr::Dims;
    /// The elements of a constant.
    LiteralData(Literal): &'a Literal<'a> = Attr::Literal(literal) => literal, Attr::Literal;
    /// The padding of a window.
    Pad(Padding): Padding<'a> = Attr::Padding(padding) => padding, Attr::Padding;
}
