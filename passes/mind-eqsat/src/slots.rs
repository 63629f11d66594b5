//! Where a match keeps what the names of a rule stand for.

use mind_ir::types::{DType, Dim};

use crate::egraph::payload::AttrId;

/// A register of the matching machine: it holds an e-class. Register 0 is the root.
pub(crate) type Reg = u8;

/// The place of a bound attribute, dtype, extent or list of extents.
pub(crate) type Slot = u8;

/// What the slots of a match hold besides e-classes.
#[derive(Clone, Default, Debug)]
pub(crate) struct Slots {
    pub(crate) attrs: Vec<AttrId>,
    pub(crate) dtypes: Vec<Option<DType>>,
    pub(crate) dims: Vec<Dim>,
    pub(crate) shapes: Vec<Vec<Dim>>,
}
