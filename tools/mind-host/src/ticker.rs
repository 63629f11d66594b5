//! Signs of life of work that takes long.

use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often a terminal's line is written again.
const REDRAWN: Duration = Duration::from_secs(1);
/// How often there is a line elsewhere.
const REPEATED: Duration = Duration::from_secs(5);

/// Says now and then that work is under way, until it is dropped.
pub(crate) struct Ticker {
    work: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Says so on `out`, on one line again and again where that `redraws`.
    pub(crate) fn start(what: &str, redraws: bool, out: impl Write + Send + 'static) -> Ticker {
        let every = if redraws { REDRAWN } else { REPEATED };
        Ticker::every(every, what, redraws, out)
    }

    fn every(
        every: Duration,
        what: &str,
        redraws: bool,
        mut out: impl Write + Send + 'static,
    ) -> Ticker {
        let (work, over) = channel::<()>();
        let (what, started) = (what.to_owned(), Instant::now());
        let tick = move || {
            let mut width = 0;
            while over.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let seconds = started.elapsed().as_secs();
                let line = if redraws {
                    format!("\r{what}: {seconds} s")
                } else {
                    format!("note: {what}: {seconds} s so far\n")
                };
                width = line.len();
                // Standard error has nowhere to report its own failures to.
                let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
            }
            if redraws && width > 0 {
                let _ = write!(out, "\r{:width$}\r", "").and_then(|()| out.flush());
            }
        };
        // A system without another thread does the work in silence.
        let thread = thread::Builder::new().name("ticker".to_owned()).spawn(tick);
        Ticker {
            work: Some(work),
            thread: thread.ok(),
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.work = None;
        if let Some(thread) = self.thread.take() {
            // A ticker that panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no writer panics").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is said of work that goes on until something was.
    fn said(every: Duration, redraws: bool, patient: bool) -> String {
        let out = Shared::default();
        let ticker = Ticker::every(every, "testing", redraws, out.clone());
        let is_silent = || out.0.lock().expect("no writer panics").is_empty();
        while patient && is_silent() {
            thread::yield_now();
        }
        drop(ticker);
        let bytes = out.0.lock().expect("no writer panics").clone();
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn long_work_is_spoken_of_and_short_work_is_not() {
        let short = Duration::from_millis(1);
        assert!(said(short, false, true).starts_with("note: testing: 0 s so far\n"));
        let line = said(short, true, true);
        assert!(line.starts_with("\rtesting: 0 s") && line.ends_with("  \r"));
        assert_eq!(said(REPEATED, false, false), "");
        assert_eq!(said(REPEATED, true, false), "");
    }
}
