//! Caches shared by the passes of a run.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Made = Arc<dyn Any + Send + Sync>;

/// Expensive objects shared by passes, at most one of each type, created on first use.
#[derive(Default)]
pub struct RunCache {
    made: Mutex<Vec<Made>>,
}

impl RunCache {
    /// Returns the `T` of this run; creates it with `make` on first use.
    ///
    /// # Errors
    ///
    /// Returns the error of `make`; a later call tries again.
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
