//! What the passes of one run share.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// Things that are costly to make and that passes share: one of each type, made when first asked for.
#[derive(Default)]
pub struct Shared {
    made: RefCell<Vec<Rc<dyn Any>>>,
}

impl Shared {
    /// The `T` of this run, which `make` makes where there is none yet.
    ///
    /// Errors: those of `make`; a later call tries again.
    pub fn get_or_make<T: Any, E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<Rc<T>, E> {
        let known = self
            .made
            .borrow()
            .iter()
            .find_map(|any| Rc::clone(any).downcast().ok());
        if let Some(known) = known {
            return Ok(known);
        }
        let made = Rc::new(make()?);
        self.made.borrow_mut().push(Rc::clone(&made) as Rc<dyn Any>);
        Ok(made)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("made", &self.made.borrow().len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_is_made_once() {
        let shared = Shared::default();
        assert_eq!(shared.get_or_make(|| Err::<u8, _>("no")), Err("no"));
        assert_eq!(*shared.get_or_make(|| Ok::<u8, ()>(1)).unwrap(), 1);
        assert_eq!(*shared.get_or_make(|| Ok::<u8, ()>(2)).unwrap(), 1);
        assert_eq!(*shared.get_or_make(|| Ok::<u16, ()>(3)).unwrap(), 3);
    }
}
