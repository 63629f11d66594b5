//! Dense ids for everything a graph holds.

use std::num::NonZeroU32;

/// Declares id types: `Copy`, four bytes, also as an `Option`.
macro_rules! entity {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The id of the `index`-th entity. Panics past `u32::MAX - 1` entities.
            #[inline]
            pub const fn new(index: usize) -> $name {
                assert!(index < u32::MAX as usize, "fewer than 2^32 entities");
                match NonZeroU32::new(index as u32 + 1) {
                    Some(raw) => $name(raw),
                    None => unreachable!(),
                }
            }

            /// This id's position in creation order.
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
    /// A place inside an op that holds one block.
    RegionId;
    /// One operand slot, as a link in its value's use list.
    UseId;
    /// An interned type.
    Ty;
    /// An interned string: a name or a symbolic dimension.
    Sym;
}
