//! Where a match keeps what the names of a rule stand for.

use mind_ir::types::{DType, Dim};

/// A register of the matching machine: it holds a value. Register 0 is the root.
pub type Reg = u8;

/// The place of a bound attribute, dtype, extent, list of extents or list of values.
pub type Slot = u8;

/// What a match holds besides its registers: attributes as `A`, lists of values as `V`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "one field a kind of name")]
pub struct Slots<V, A> {
    pub attrs: Vec<Option<A>>,
    pub dtypes: Vec<Option<DType>>,
    pub dims: Vec<Dim>,
    pub shapes: Vec<Vec<Dim>>,
    pub lists: Vec<Vec<V>>,
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
#[expect(missing_docs, reason = "one field a kind of name")]
pub struct RuleNames {
    pub values: Vec<(Reg, String)>,
    pub attrs: Vec<String>,
    pub dtypes: Vec<String>,
    pub dims: Vec<String>,
    pub shapes: Vec<String>,
    pub lists: Vec<String>,
}

impl RuleNames {
    /// What the rule calls the value in `reg`.
    pub fn value(&self, reg: Reg) -> Option<String> {
        let named = self.values.iter().find(|(own, _)| *own == reg);
        named.map(|(_, name)| format!("?{name}"))
    }
}
