//! Comparison of a workload with default and with tuned schedules.

use std::time::{Duration, Instant};

use mind_driver::engine::Engine;
use mind_driver::tune::Choice;
use mind_interp::{Extents, random_inputs};

use super::Workload;
use super::run::{BATCH, Code, Effort, Failure, Ready, graph};

/// Number of copies of both programs, each in separate memory, because the speed of a program also depends on the
/// addresses of its arrays.
const COPIES: u32 = 4;

/// The times of a workload with both schedules.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Minimal time of a run with the default schedules.
    pub default: Duration,
    /// Minimal time of a run with the tuned schedules.
    pub tuned: Duration,
    /// Time of compiling and tuning.
    pub tuning: Duration,
    /// The changes of the tuner.
    pub choices: Vec<Choice>,
}

impl Comparison {
    /// Returns the speedup of the tuned program.
    pub fn gain(&self) -> f64 {
        self.default.as_secs_f64() / self.tuned.as_secs_f64()
    }
}

/// Returns the time since a fixed moment.
pub type Clock = fn() -> Duration;

/// Compiles a workload twice on the threads of an engine with a tuner, and alternates timed runs of both by `clock`.
///
/// # Errors
///
/// The module is rejected; a run failed.
pub fn compare(
    engine: &Engine,
    choices: &dyn Fn() -> Vec<Choice>,
    workload: &Workload,
    (effort, clock): (Effort, Clock),
) -> Result<Comparison, Failure> {
    let graph = graph(workload)?;
    let arrays = random_inputs(&graph, 1, Extents::default()).map_err(|_| Failure::TooLarge)?;
    let before = choices().len();
    let started = Instant::now();
    let (program, _) = engine.compile(graph.clone()).map_err(Failure::Rejected)?;
    let tuning = started.elapsed();
    let choices = choices().split_off(before);
    let codes = [Code::compile(engine, &graph)?, Code { program }];
    let mut least = [Duration::MAX; 2];
    for copy in 0..COPIES {
        // The order alternates, because it affects the addresses and the cache contents.
        let order = if copy % 2 == 0 { [0, 1] } else { [1, 0] };
        let mut ready = Vec::new();
        for own in order {
            ready.push((own, Ready::new(&codes[own], &arrays)?));
        }
        for (_, own) in &mut ready {
            own.run()?;
        }
        let once = time(&mut ready[0].1, (1, clock))?.max(Duration::from_nanos(100));
        let batch = (BATCH.as_nanos() / once.as_nanos()).max(1) as u32;
        let (mut turns, started) = (0, Instant::now());
        while turns < effort.samples || started.elapsed() < 2 * effort.time / COPIES {
            ready.swap(0, 1);
            for (own, program) in &mut ready {
                least[*own] = least[*own].min(time(program, (batch, clock))?);
            }
            turns += 1;
        }
    }
    let [mut default, mut tuned] = least;
    if choices.is_empty() {
        // Both are the same program.
        (default, tuned) = (default.min(tuned), default.min(tuned));
    }
    Ok(Comparison {
        default,
        tuned,
        tuning,
        choices,
    })
}

/// Returns the time of one run of a batch.
fn time(ready: &mut Ready, (batch, clock): (u32, Clock)) -> Result<Duration, Failure> {
    let started = clock();
    for _ in 0..batch {
        ready.run()?;
    }
    Ok(clock().saturating_sub(started) / batch)
}
