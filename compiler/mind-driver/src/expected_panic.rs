//! Panics that are looked for.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body`, which may panic; `None` if it does.
///
/// While it runs, [`is_expected`] holds on this thread, for the hook that would tell the user.
pub fn catch<T>(body: impl FnOnce() -> T) -> Option<T> {
    let outer = EXPECTED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(body));
    EXPECTED.set(outer);
    result.ok()
}

/// Whether a panic on this thread would be one that is looked for.
pub fn is_expected() -> bool {
    EXPECTED.get()
}
