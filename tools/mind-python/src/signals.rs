//! Signals during long calls: Ctrl-C raises `KeyboardInterrupt` in the call and not after it.
//!
//! Python calls the handlers of signals in its main thread alone, between its own instructions. Programs ask for that while
//! they run, and stop; compiling and optimising go on in a thread of their own, whose result nobody takes.

use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::errors::error;

/// How long a signal waits at most, and how seldom a call takes the interpreter for it.
const EVERY: Duration = Duration::from_millis(50);

/// The stack of a thread that compiles: that of a main thread, twice.
const STACK: usize = 16 << 20;

/// Does work that runs programs, without the interpreter.
///
/// # Errors
///
/// Returns the exception that a signal handler raises; the programs have stopped then.
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

/// Does work that nothing stops, without the interpreter.
///
/// # Errors
///
/// Returns the exception that a signal handler raises, in which case the work continues and its result is dropped;
/// errors too if no thread can be started.
pub(crate) fn waiting<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || {
        // Nobody receives it after a signal.
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
