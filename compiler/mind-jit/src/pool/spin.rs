//! Waiting for a moment without giving up the processor.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

/// How long a thread spins before it sleeps.
///
/// Waking a sleeping thread takes some 15 µs; two to three times that keep threads awake from one kernel of a
/// module to the next and cost little when no next one comes.
const PATIENCE: Duration = Duration::from_micros(50);

/// Pauses between two looks at the clock. A pause takes 5 to 60 ns and a look 20 to 50 ns.
const PAUSES: u32 = 32;

/// Spins until `is_done` says so, or patience has run out; gives what `is_done` said last.
///
/// The clock bounds the wait alone: no result depends on it.
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
