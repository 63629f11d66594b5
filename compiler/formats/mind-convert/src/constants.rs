//! Constants of a foreign model that are emitted where an op uses them.

use std::rc::Rc;

use mind_ir::ValueId;
use rustc_hash::FxHashMap;

/// The emitted constants of a block, by the identity of the constant of the model, so that each is emitted once a block.
pub struct Constants<C> {
    /// Each constant is kept, because its address identifies it only as long as it exists.
    emitted: FxHashMap<*const C, (Rc<C>, ValueId)>,
}

impl<C> Default for Constants<C> {
    fn default() -> Constants<C> {
        Constants {
            emitted: FxHashMap::default(),
        }
    }
}

impl<C> Constants<C> {
    /// Returns the value of a constant, which `emit` creates at its first use.
    pub fn value(&mut self, constant: &Rc<C>, emit: impl FnOnce(&C) -> ValueId) -> ValueId {
        let key = Rc::as_ptr(constant);
        let entry = self.emitted.entry(key);
        let (_, value) = entry.or_insert_with(|| (Rc::clone(constant), emit(constant)));
        *value
    }
}
