//! Captures panics of tools with their messages.

use std::cell::RefCell;
use std::fmt::Write;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `body`.
///
/// # Errors
///
/// The message of a panic on this thread.
pub fn catch<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(install);
    CAUGHT.set(Some(String::new()));
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    let text = CAUGHT.take().unwrap_or_default();
    result.map_err(|_| text)
}

/// Installs a panic hook that forwards panics of other threads to the previous hook.
fn install() {
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let caught = CAUGHT.with_borrow_mut(|text| match text {
            Some(text) => writeln!(text, "{info}").is_ok(),
            None => false,
        });
        if !caught {
            previous(info);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_place_are_kept() {
        assert_eq!(catch(|| 3), Ok(3));
        let text = catch(|| panic!("rank {}", 7)).unwrap_err();
        assert!(
            text.contains("rank 7") && text.contains("panics.rs"),
            "{text}"
        );
    }
}
