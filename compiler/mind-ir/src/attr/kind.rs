//! The kinds of attribute that an op table can ask for.

use super::{Attr, Literal, Padding};
use crate::entity::Sym;
use crate::types::{DType, Dim};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident($variant:ident): $value:ty = $attr:pat => $inner:expr, $outer:expr;)*) => {
        /// What an attribute holds.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum AttrKind {
            $($(#[$doc])* $name,)*
            /// One of these words.
            Word(&'static [&'static str]),
        }

        impl AttrKind {
            /// The kind in the op reference and in messages: its name, or the words.
            pub fn text(self) -> String {
                match self {
                    $(AttrKind::$name => stringify!($name).to_owned(),)*
                    AttrKind::Word(words) => words.join(" | "),
                }
            }

            /// Whether `attr` is of this kind.
            pub fn admits(self, attr: &Attr<'_>) -> bool {
                match (self, attr) {
                    $((AttrKind::$name, Attr::$variant(..)) => true,)*
                    (AttrKind::Word(words), Attr::Word(word)) => words.contains(word),
                    _ => false,
                }
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
    /// The dtype of a result.
    ElementType(DType): DType = Attr::DType(dtype) => dtype, Attr::DType;
}

/// Declares closed sets of words, each a kind of attribute of its own.
///
/// ```
/// mind_ir::words! {
///     /// Where a path goes.
///     pub enum Way {
///         /// To the left.
///         Left = "left",
///         /// To the right.
///         Right = "right",
///     }
/// }
/// assert_eq!((Way::Left.name(), Way::parse("right")), ("left", Some(Way::Right)));
/// ```
#[macro_export]
macro_rules! words {
    ($(
        $(#[doc = $doc:literal])*
        pub enum $name:ident {
            $($(#[doc = $word_doc:literal])* $word:ident = $text:literal,)*
        }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name {
            $($(#[doc = $word_doc])* $word,)*
        }

        impl $name {
            /// Every word.
            pub const ALL: &'static [$name] = &[$($name::$word),*];

            /// The word in texts.
            pub const fn name(self) -> &'static str {
                match self { $($name::$word => $text,)* }
            }

            /// The word that is written so.
            pub fn parse(text: &str) -> Option<$name> {
                match text {
                    $($text => Some($name::$word),)*
                    _ => None,
                }
            }

            /// The word as an attribute.
            pub const fn attr(self) -> $crate::attr::Attr<'static> {
                $crate::attr::Attr::Word(self.name())
            }
        }

        impl $crate::attr::AttrType for $name {
            const KIND: $crate::attr::AttrKind = $crate::attr::AttrKind::Word(&[$($text),*]);
            type Value<'a> = $name;

            fn get<'a>(attr: $crate::attr::Attr<'a>) -> $name
            where
                'a: 'a,
            {
                let $crate::attr::Attr::Word(word) = attr else {
                    panic!("attribute is {attr:?}, not a word");
                };
                $name::parse(word).expect("the word of another kind")
            }

            fn wrap<'a>(value: $name) -> $crate::attr::Attr<'a>
            where
                'a: 'a,
            {
                value.attr()
            }
        }
    )*};
}
