//! The kinds of attributes in op tables.

use super::{Attr, Literal, Padding};
use crate::entity::Sym;
use crate::types::{DType, Dim};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident($variant:ident): $value:ty = $attr:pat => $inner:expr, $outer:expr;)*) => {
        /// The kind of an attribute's values.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum AttrKind {
            $($(#[$doc])* $name,)*
            /// One word of a closed set.
            Word(&'static [&'static str]),
        }

        impl AttrKind {
            /// Returns the name of the kind, or its words, for the op reference and for messages.
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

/// A type that represents a kind of attribute, for the typed views of ops.
///
/// `'a: 'a` makes the lifetime early-bound in every impl, whether the value borrows or not.
pub trait AttrType {
    /// The kind.
    const KIND: AttrKind;
    /// The type of values in typed views.
    type Value<'a>;

    /// Returns the value of `attr`.
    ///
    /// # Panics
    ///
    /// If the attribute is of another kind than the op's table entry.
    fn get<'a>(attr: Attr<'a>) -> Self::Value<'a>
    where
        'a: 'a;

    /// Returns the attribute with this value.
    fn wrap<'a>(value: Self::Value<'a>) -> Attr<'a>
    where
        'a: 'a;
}

kinds! {
    /// An integer.
    Int(Int): i64 = Attr::Int(value) => value, Attr::Int;
    /// A boolean.
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

/// Declares closed sets of words. Each set is a kind of attribute.
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

            /// Returns the word as text.
            pub const fn name(self) -> &'static str {
                match self { $($name::$word => $text,)* }
            }

            /// Returns the word with this text.
            pub fn parse(text: &str) -> Option<$name> {
                match text {
                    $($text => Some($name::$word),)*
                    _ => None,
                }
            }

            /// Returns the word as an attribute.
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
