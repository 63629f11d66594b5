//! Dense ids of the ops, values, blocks, regions, types and strings of a graph.

use std::num::NonZeroU32;

/// Declares id types that are `Copy` and take four bytes, also as an `Option`.
macro_rules! entity {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// Returns the id with this index.
            ///
            /// # Panics
            ///
            /// If `index` is `u32::MAX` or more.
            #[inline]
            pub const fn new(index: usize) -> $name {
                assert!(index < u32::MAX as usize, "fewer than 2^32 entities");
                match NonZeroU32::new(index as u32 + 1) {
                    Some(raw) => $name(raw),
                    None => unreachable!(),
                }
            }

            /// Returns the position in creation order, from 0.
            #[inline]
            pub const fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.index())
            }
        }
    )*};
}

entity! {
    /// An op of a graph.
    OpId;
    /// A value: an op's result or a block's argument.
    ValueId;
    /// A list of ops with arguments.
    BlockId;
    /// A region of an op, which holds one block.
    RegionId;
    /// An operand slot, which is a link in the use list of its value.
    UseId;
    /// An interned type.
    Ty;
    /// An interned string: a name or a symbolic dimension.
    Sym;
}
