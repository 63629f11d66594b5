//! What the passes of one run share.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Made = Arc<dyn Any + Send + Sync>;

/// Things that are costly to make and that passes share: one of each type, made when first asked for.
#[derive(Default)]
pub struct RunCache {
    made: Mutex<Vec<Made>>,
}

impl RunCache {
    /// The `T` of this run, which `make` makes where there is none yet.
    ///
    /// # Errors
    ///
    /// Those of `make`; a later call tries again.
    pub fn get_or_make<T: Any + Send + Sync, E>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let known = self
            .made()
            .iter()
            .find_map(|any| Arc::clone(any).downcast().ok());
        if let Some(known) = known {
            return Ok(known);
        }
        let made = Arc::new(make()?);
        self.made().push(made.clone());
        Ok(made)
    }

    fn made(&self) -> MutexGuard<'_, Vec<Made>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RunCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunCache")
            .field("made", &self.made().len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_is_made_once() {
        let shared = RunCache::default();
        assert_eq!(shared.get_or_make(|| Err::<u8, _>("no")), Err("no"));
        assert_eq!(*shared.get_or_make(|| Ok::<u8, ()>(1)).unwrap(), 1);
        assert_eq!(*shared.get_or_make(|| Ok::<u8, ()>(2)).unwrap(), 1);
        assert_eq!(*shared.get_or_make(|| Ok::<u16, ()>(3)).unwrap(), 3);
    }
}
