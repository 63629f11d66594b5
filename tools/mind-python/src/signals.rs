//! Signals during long calls: Ctrl-C raises `KeyboardInterrupt` in the call, not after it.
//!
//! Python calls signal handlers only in its main thread, between its own instructions. Programs poll for signals while
//! they run, and stop. Compilation and optimisation run in a separate thread, which continues after a signal, and whose
//! result is dropped.

use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::errors::error;

/// The maximal delay of a signal, and the minimal interval at which a call acquires the interpreter to poll.
const EVERY: Duration = Duration::from_millis(50);

/// The stack size of a compiling thread, twice that of a main thread.
const STACK: usize = 16 << 20;

/// Calls `work`, which runs programs, without the interpreter lock.
///
/// # Errors
///
/// Returns the exception that a signal handler raises; the programs have then stopped.
pub(crate) fn running<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let (done, raised) = py.detach(|| {
        let raised = Rc::new(RefCell::new(None));
        let found = raised.clone();
        let last = Cell::new(Instant::now());
        let check = move || {
            if last.get().elapsed() < EVERY {
                return found.borrow().is_some();
            }
            last.set(Instant::now());
            if let Err(why) = Python::attach(|py| py.check_signals()) {
                *found.borrow_mut() = Some(why);
            }
            found.borrow().is_some()
        };
        let done = mind::interruptible(Rc::new(check), work);
        (done, raised.take())
    });
    match raised {
        Some(why) => Err(why),
        None => Ok(done),
    }
}

/// Calls `work`, which cannot be interrupted, without the interpreter lock.
///
/// # Errors
///
/// Returns the exception that a signal handler raises, in which case the work continues and its result is dropped;
/// errors also if no thread can be started.
pub(crate) fn waiting<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || {
        // After a signal nothing receives the result.
        let _ = sender.send(work());
    });
    let worker = worker.map_err(|why| {
        let message = format!("the system starts no thread: {why}");
        error(py, "MindError", &message, None)
    })?;
    let (receiver, mut result) = (std::sync::Mutex::new(receiver), None);
    while result.is_none() {
        let received = py.detach(|| {
            let receiver = receiver.lock().unwrap_or_else(|own| own.into_inner());
            receiver.recv_timeout(EVERY)
        });
        match received {
            Ok(done) => result = Some(done),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match (result, worker.join()) {
        (Some(done), _) => Ok(done),
        (None, Err(panic)) => resume_unwind(panic),
        (None, Ok(())) => Err(error(py, "MindError", "a thread ended early", None)),
    }
}
