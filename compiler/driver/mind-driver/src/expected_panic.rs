//! Panics that are caught and not reported.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body`; returns `None` if it panics.
///
/// Meanwhile [`is_expected`] returns true on this thread, so that the panic hook does not report the panic.
pub fn catch<T>(body: impl FnOnce() -> T) -> Option<T> {
    let outer = EXPECTED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(body));
    EXPECTED.set(outer);
    result.ok()
}

/// Returns whether a panic on this thread is caught by [`catch`].
pub fn is_expected() -> bool {
    EXPECTED.get()
}
