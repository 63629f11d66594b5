//! What a program takes on a number of threads, by its schedule alone.

use mind_vir::program::Step;

use super::compiled::Program;
use super::partition::{PER_THREAD, Partition, useful_threads};

/// A run of a program on a number of threads, simulated.
///
/// Times are those of the cost model, in about nanoseconds. Memory is as fast for all threads as for one, so that the
/// time is a lower bound where a kernel waits for memory. Copies between results take no time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Simulated {
    /// From the start of the first call to the end of the last one.
    pub time: f64,
    /// The part of it that threads take to start and to be waited for.
    pub barriers: f64,
    /// The time that one thread takes.
    pub alone: f64,
    /// Calls of kernels.
    pub calls: usize,
    /// Those that are divided.
    pub divided: usize,
    /// Tasks of all calls.
    pub tasks: usize,
}

impl Program {
    /// What a run takes on `threads` threads: each call as long as its longest share, and for each thread what it adds.
    /// `None` if there are steps whose time only running tells: control flow, ops without a kernel.
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
