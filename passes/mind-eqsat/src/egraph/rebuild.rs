//! Rebuilding without reading the clock.

use std::sync::LazyLock;

use quanta::Clock;

use super::analysis::Eg;

/// A stopped clock. egg reads the time when it rebuilds, and the first read of the real clock takes some milliseconds
/// of calibration.
static STILL: LazyLock<Clock> = LazyLock::new(|| Clock::mock().0);

/// Restores the invariants of an e-graph.
pub(crate) fn rebuild(egraph: &mut Eg<'_>) {
    quanta::with_clock(&STILL, || egraph.rebuild());
}
