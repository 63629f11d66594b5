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

impl<V, A> Default for Slots<V, A> {
    fn default() -> Slots<V, A> {
        Slots {
            attrs: Vec::new(),
            dtypes: Vec::new(),
            dims: Vec::new(),
            shapes: Vec::new(),
            lists: Vec::new(),
        }
    }
}

/// What a rule calls the things that it binds, by register or slot.
#[derive(Clone, Default, Debug)]
pub(crate) struct RuleNames {
    pub(crate) values: Vec<(Reg, String)>,
    pub(crate) attrs: Vec<String>,
    pub(crate) dtypes: Vec<String>,
    pub(crate) dims: Vec<String>,
    pub(crate) shapes: Vec<String>,
    pub(crate) lists: Vec<String>,
}

impl RuleNames {
    /// What the rule calls the value in `reg`.
    pub(crate) fn value(&self, reg: Reg) -> Option<String> {
        let named = self.values.iter().find(|(own, _)| *own == reg);
        named.map(|(_, name)| format!("?{name}"))
    }
}
