//! Simulation of a program on a number of threads.

use mind_vir::program::Step;

use super::compiled::Program;
use super::partition::{PER_THREAD, Partition, useful_threads};

/// A simulated run of a program on a number of threads.
///
/// Times are those of the cost model, in nanoseconds. Memory bandwidth is assumed to scale with threads, so that the
/// time is a lower bound for bandwidth-bound kernels. Copies between results take no time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Simulated {
    /// Time from the start of the first call to the end of the last one.
    pub time: f64,
    /// The part of it that is spent on starting threads and waiting for them.
    pub barriers: f64,
    /// The time on one thread.
    pub alone: f64,
    /// Number of kernel calls.
    pub calls: usize,
    /// Number of parallel calls.
    pub divided: usize,
    /// Number of tasks of all calls.
    pub tasks: usize,
}

impl Program {
    /// Simulates a run on `threads` threads: each call takes as long as its longest share, plus the overhead of its
    /// threads. Returns `None` if the time of a step is data-dependent: control flow, or ops without a kernel.
    pub fn simulate(&self, threads: usize) -> Option<Simulated> {
        let mut run = Simulated::default();
        for step in &self.steps {
            let call = match step {
                Step::Call(call) => call,
                Step::Gather(_) | Step::Transfer(_) => continue,
                Step::Evaluate(_) | Step::Control(_) => return None,
            };
            let cost = call.cost as f64;
            let wanted = useful_threads(call.cost, threads);
            let partition = Partition::new(&call.grid, wanted);
            let used = wanted.min(partition.tasks());
            run.calls += 1;
            run.alone += cost;
            run.tasks += partition.tasks();
            if used > 1 {
                let barrier = (PER_THREAD * used as u64) as f64;
                run.time += cost * partition.longest_share(used) + barrier;
                run.barriers += barrier;
                run.divided += 1;
            } else {
                run.time += cost;
            }
        }
        Some(run)
    }
}
