//! Bindings of the names of a rule.

use mind_ir::types::{DType, Dim};

/// A register of the matching machine, which holds a value. Register 0 is the root.
pub type Reg = u8;

/// The index of a bound attribute, dtype, extent, list of extents or list of values.
pub type Slot = u8;

/// The bindings of a match besides its registers: attributes of type `A`, lists of values of type `V`.
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

/// The source names of a rule's bindings, by register or slot.
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
    /// Returns the source name of the value in `reg`, for example `?x`.
    pub fn value(&self, reg: Reg) -> Option<String> {
        let named = self.values.iter().find(|(own, _)| *own == reg);
        named.map(|(_, name)| format!("?{name}"))
    }
}
