//! Progress messages of long-running work.

use std::io::Write;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mind_driver::host::Progress;

/// Interval at which the line on a terminal is redrawn.
const REDRAWN: Duration = Duration::from_secs(1);
/// Interval of lines on other outputs.
const REPEATED: Duration = Duration::from_secs(5);

/// Periodically reports that work is in progress, until it is dropped.
pub(crate) struct Ticker {
    work: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Starts reporting on `out`. A single line is overwritten if `redraws`.
    pub(crate) fn start(
        what: &str,
        progress: Option<Progress>,
        redraws: bool,
        out: impl Write + Send + 'static,
    ) -> Ticker {
        let every = if redraws { REDRAWN } else { REPEATED };
        Ticker::every(every, what, progress, redraws, out)
    }

    fn every(
        every: Duration,
        what: &str,
        progress: Option<Progress>,
        redraws: bool,
        mut out: impl Write + Send + 'static,
    ) -> Ticker {
        let (work, over) = channel::<()>();
        let (what, started) = (what.to_owned(), Instant::now());
        let tick = move || {
            let mut width = 0;
            while over.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let seconds = started.elapsed().as_secs();
                let share = progress.as_ref().map_or_else(String::new, share);
                let line = if redraws {
                    format!("\r{what}: {share}{seconds} s")
                } else {
                    format!("note: {what}: {share}{seconds} s so far\n")
                };
                width = line.len();
                // Write errors of standard error cannot be reported anywhere.
                let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
            }
            if redraws && width > 0 {
                let _ = write!(out, "\r{:width$}\r", "").and_then(|()| out.flush());
            }
        };
        // If the thread cannot be started, progress is not reported.
        let thread = thread::Builder::new().name("ticker".to_owned()).spawn(tick);
        Ticker {
            work: Some(work),
            thread: thread.ok(),
        }
    }
}

/// Returns the completed share of the work.
fn share(progress: &Progress) -> String {
    let done = progress.done.load(Ordering::Relaxed).min(progress.all);
    let percent = (done * 100).checked_div(progress.all).unwrap_or(100);
    format!("{percent} %, ")
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.work = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the ticker is ignored.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::AtomicU64;
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

    /// Returns the messages of short work, which lasts until the first message if `patient`.
    fn rendered(
        every: Duration,
        progress: Option<Progress>,
        redraws: bool,
        patient: bool,
    ) -> String {
        let out = Shared::default();
        let ticker = Ticker::every(every, "testing", progress, redraws, out.clone());
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
        assert!(rendered(short, None, false, true).starts_with("note: testing: 0 s so far\n"));
        let line = rendered(short, None, true, true);
        assert!(line.starts_with("\rtesting: 0 s") && line.ends_with("  \r"));
        let progress = |done, all| {
            let done = Arc::new(AtomicU64::new(done));
            rendered(short, Some(Progress { done, all }), true, true)
        };
        assert!(progress(5, 49).starts_with("\rtesting: 10 %, 0 s"));
        assert!(progress(50, 49).starts_with("\rtesting: 100 %, 0 s"));
        assert!(progress(0, 0).starts_with("\rtesting: 100 %, 0 s"));
        assert_eq!(rendered(REPEATED, None, false, false), "");
        assert_eq!(rendered(REPEATED, None, true, false), "");
    }
}
