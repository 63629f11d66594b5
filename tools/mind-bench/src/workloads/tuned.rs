//! A workload with the schedules of the lowering, and with those that were chosen by measuring.

use std::time::{Duration, Instant};

use mind_driver::engine::Engine;
use mind_driver::tune::Choice;
use mind_interp::{Extents, random_inputs};

use super::Workload;
use super::run::{BATCH, Code, Effort, Failure, Ready, graph};

/// Copies of both programs, each in memory of its own, since where arrays lie decides, too, how fast a program is.
const COPIES: u32 = 4;

/// What a workload took with both.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// One run with the schedules of the lowering: the least.
    pub default: Duration,
    /// One run with those that were measured: the least.
    pub tuned: Duration,
    /// Compiling and measuring.
    pub tuning: Duration,
    /// What was changed.
    pub choices: Vec<Choice>,
}

impl Comparison {
    /// How many times as fast the tuned program is.
    pub fn gain(&self) -> f64 {
        self.default.as_secs_f64() / self.tuned.as_secs_f64()
    }
}

/// The time since some fixed moment.
pub type Clock = fn() -> Duration;

/// Compiles a workload twice on the threads of an engine that has a tuner, and times runs of both in turns by `clock`.
///
/// # Errors
///
/// A module that is rejected, a run that stops.
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
        // Who is first has other memory, and warm caches of the other one.
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

/// The time of one run of a batch.
fn time(ready: &mut Ready, (batch, clock): (u32, Clock)) -> Result<Duration, Failure> {
    let started = clock();
    for _ in 0..batch {
        ready.run()?;
    }
    Ok(clock().saturating_sub(started) / batch)
}
