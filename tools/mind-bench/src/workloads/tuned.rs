//! A workload with the schedules of the lowering, and with those that were chosen by measuring.

use std::time::{Duration, Instant};

use mind_driver::engine::Engine;
use mind_driver::tune::Choice;
use mind_interp::{Extents, random_inputs};

use super::Workload;
use super::run::{BATCH, Code, Effort, Failure, Ready, graph};

/// What a workload took with both.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// One run with the schedules of the lowering: the median.
    pub default: Duration,
    /// One run with those that were measured: the median.
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

/// Compiles a workload twice on the threads of an engine that has a tuner, and times runs of both in turns.
///
/// # Errors
///
/// A module that is rejected, a run that stops.
pub fn compare(
    engine: &Engine,
    choices: &dyn Fn() -> Vec<Choice>,
    workload: &Workload,
    effort: Effort,
) -> Result<Comparison, Failure> {
    let graph = graph(workload)?;
    let arrays = random_inputs(&graph, 1, Extents::default()).map_err(|_| Failure::TooLarge)?;
    let before = choices().len();
    let started = Instant::now();
    let (program, _) = engine.compile(graph.clone()).map_err(Failure::Rejected)?;
    let tuning = started.elapsed();
    let choices = choices().split_off(before);
    let mut tuned = Ready::new(&Code { program }, &arrays)?;
    let mut default = Ready::new(&Code::compile(engine, &graph)?, &arrays)?;
    tuned.run()?;
    default.run()?;
    let once = time(&mut default, 1)?.max(Duration::from_nanos(100));
    let batch = (BATCH.as_nanos() / once.as_nanos()).max(1) as u32;
    let (mut own, mut others) = (Vec::new(), Vec::new());
    let started = Instant::now();
    while own.len() < effort.samples || started.elapsed() < 2 * effort.time {
        // Who is first has warm caches of the other one.
        if own.len().is_multiple_of(2) {
            own.push(time(&mut default, batch)?);
            others.push(time(&mut tuned, batch)?);
        } else {
            others.push(time(&mut tuned, batch)?);
            own.push(time(&mut default, batch)?);
        }
    }
    let median = |mut all: Vec<Duration>| {
        let middle = all.len() / 2;
        *all.select_nth_unstable(middle).1
    };
    Ok(Comparison {
        default: median(own),
        tuned: median(others),
        tuning,
        choices,
    })
}

/// The time of one run of a batch.
fn time(ready: &mut Ready, batch: u32) -> Result<Duration, Failure> {
    let started = Instant::now();
    for _ in 0..batch {
        ready.run()?;
    }
    Ok(started.elapsed() / batch)
}
