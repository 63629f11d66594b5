//! Where a match keeps what the names of a rule stand for.

use mind_ir::types::{DType, Dim};

/// A register of the matching machine: it holds a value. Register 0 is the root.
pub(crate) type Reg = u8;

/// The place of a bound attribute, dtype, extent, list of extents or list of values.
pub(crate) type Slot = u8;

/// What a match holds besides its registers: attributes as `A`, lists of values as `V`.
#[derive(Clone, Debug)]
pub(crate) struct Slots<V, A> {
    pub(crate) attrs: Vec<Option<A>>,
    pub(crate) dtypes: Vec<Option<DType>>,
    pub(crate) dims: Vec<Dim>,
    pub(crate) shapes: Vec<Vec<Dim>>,
    pub(crate) lists: Vec<Vec<V>>,
}
