//! Bounded spin wait.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

/// How long a thread spins before it sleeps.
///
/// Waking a sleeping thread takes about 15 µs. Two to three times that keeps threads awake between consecutive kernels
/// of a module and costs little if no kernel follows.
const PATIENCE: Duration = Duration::from_micros(50);

/// Pauses between two reads of the clock. A pause takes 5 to 60 ns and a read 20 to 50 ns.
const PAUSES: u32 = 32;

/// Spins until `is_done` returns true or the spin time has passed; returns the last result of `is_done`.
///
/// The clock only bounds the wait; no result depends on it.
pub(super) fn spin_until(mut is_done: impl FnMut() -> bool) -> bool {
    let mut start = None;
    loop {
        for _ in 0..PAUSES {
            if is_done() {
                return true;
            }
            spin_loop();
        }
        let start = *start.get_or_insert_with(Instant::now);
        if start.elapsed() > PATIENCE {
            return is_done();
        }
    }
}
