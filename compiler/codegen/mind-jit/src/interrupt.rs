//! Cancellation of a run from outside.

use std::cell::RefCell;
use std::rc::Rc;

type Check = Rc<dyn Fn() -> bool>;

thread_local! {
    /// Polled by the runs of this thread.
    static CHECK: RefCell<Option<Check>> = const { RefCell::new(None) };
}

/// Restores the previous check.
struct Restore(Option<Check>);

impl Drop for Restore {
    fn drop(&mut self) {
        let before = self.0.take();
        CHECK.with(|own| *own.borrow_mut() = before);
    }
}

/// Calls `work` and returns its result. Programs that it runs on this thread stop with [`RunError::Interrupted`] soon
/// after `check` returns true.
///
/// `check` is called between the steps of a program and between the tasks of a kernel, so it must take nanoseconds. For
/// example, an expensive check first compares the time with that of its last call.
///
/// [`RunError::Interrupted`]: crate::program::RunError::Interrupted
pub fn interruptible<T>(check: Rc<dyn Fn() -> bool>, work: impl FnOnce() -> T) -> T {
    let before = CHECK.with(|own| own.borrow_mut().replace(check));
    let _restore = Restore(before);
    work()
}

/// Returns whether the runs of this thread should stop.
pub(crate) fn is_interrupted() -> bool {
    // The borrow ends before the call, because the check may itself run a program.
    let check = CHECK.with(|own| own.borrow().clone());
    check.is_some_and(|check| check())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_nested() {
        assert!(!is_interrupted());
        interruptible(Rc::new(|| true), || {
            assert!(is_interrupted());
            interruptible(Rc::new(|| false), || assert!(!is_interrupted()));
            assert!(is_interrupted());
        });
        assert!(!is_interrupted());
    }
}
