//! Caches shared by the passes of a run.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type SharedObject = Arc<dyn Any + Send + Sync>;

/// Expensive objects shared by passes, at most one of each type, created on first use.
#[derive(Default)]
pub struct RunCache {
    objects: Mutex<Vec<SharedObject>>,
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
            .objects()
            .iter()
            .find_map(|any| Arc::clone(any).downcast().ok());
        if let Some(known) = known {
            return Ok(known);
        }
        let object = Arc::new(make()?);
        self.objects().push(object.clone());
        Ok(object)
    }

    fn objects(&self) -> MutexGuard<'_, Vec<SharedObject>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RunCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunCache")
            .field("objects", &self.objects().len())
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
