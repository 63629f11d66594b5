//! Measures the run time of a kernel with a candidate schedule relative to the default.

use std::sync::Arc;
use std::time::Duration;

use mind_interp::{Arrays, Extents, random_inputs};
use mind_ir::Graph;
use mind_ir::verify::{VerifyConfig, verify};
use mind_jit::program::{Options, Program};

use super::Tuner;
use super::kernel::Kernel;
use super::schedule::Schedule;
use crate::compiled::Compiled;

/// Minimum duration of a sample.
const SAMPLE: Duration = Duration::from_micros(200);

/// Limit on the runs per sample.
const MOST_RUNS: u128 = 4096;

/// Number of interleaved samples of a candidate and of the default.
const SAMPLES: usize = 5;

/// Number of samples when the best candidate is confirmed.
const CONFIRMING: usize = 9;

/// Number of samples after which a slow candidate is abandoned.
const FEWEST: usize = 2;

/// Ratio to the default above which it is abandoned.
const FAR: f64 = 1.15;

/// Seconds below the resolution of any clock, to avoid a division by zero.
const SMALLEST: f64 = 1e-12;

/// A kernel compiled with its default schedule, and random inputs.
pub(super) struct Bench<'t> {
    tuner: &'t Tuner,
    kernel: &'t Kernel,
    options: &'t Options,
    arrays: Arrays,
    default: Compiled,
    /// Runs per sample.
    runs: u32,
    /// Duration of one run.
    pub(super) once: Duration,
}

impl<'t> Bench<'t> {
    /// Compiles and runs a kernel; returns `None` if it cannot be measured, for example because it divides by a random
    /// integer that is zero.
    pub(super) fn new(
        tuner: &'t Tuner,
        kernel: &'t Kernel,
        options: &'t Options,
    ) -> Option<Bench<'t>> {
        let arrays = random_inputs(&kernel.module, 1, Extents::default()).ok()?;
        let mut bench = Bench {
            tuner,
            kernel,
            options,
            default: ready(&kernel.module, options, &arrays)?,
            arrays,
            runs: 1,
            once: Duration::ZERO,
        };
        bench.once = bench.sample(None)?;
        let runs = SAMPLE.as_nanos() / bench.once.as_nanos().max(1);
        bench.runs = runs.clamp(1, MOST_RUNS) as u32;
        bench.once = bench.sample(None)? / bench.runs;
        Some(bench)
    }

    /// Compiles a schedule and runs it once; returns `None` if the kernel does not support it.
    pub(super) fn other(&self, schedule: &Schedule) -> Option<Compiled> {
        let module = scheduled(self.kernel, schedule)?;
        ready(&module, self.options, &self.arrays)
    }

    /// Returns the time of candidate `number` divided by that of the default.
    pub(super) fn ratio(&mut self, number: usize, other: &mut Compiled) -> Option<f64> {
        let ratios = self.ratio_of(number, other, SAMPLES)?;
        Some(ratios.least)
    }

    /// As [`ratio`](Bench::ratio), with more samples. Both are compiled and allocated twice, in either order, because
    /// the addresses of arrays affect the speed of a kernel. Returns the largest ratio.
    pub(super) fn confirmed(&mut self, number: usize, schedule: &Schedule) -> Option<f64> {
        let mut worst: f64 = 0.0;
        for is_first in [true, false] {
            let default = || ready(&self.kernel.module, self.options, &self.arrays);
            let (default, mut other) = if is_first {
                let other = self.other(schedule)?;
                (default()?, other)
            } else {
                (default()?, self.other(schedule)?)
            };
            self.default = default;
            let ratios = self.ratio_of(number, &mut other, CONFIRMING)?;
            worst = worst.max(ratios.median).max(ratios.least);
        }
        Some(worst)
    }

    fn ratio_of(&mut self, number: usize, other: &mut Compiled, samples: usize) -> Option<Ratios> {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for turn in 0..samples {
            let mut take = |bench: &mut Bench<'_>| {
                others.push(bench.sample(Some((number, &mut *other)))?);
                Some(())
            };
            // The order alternates, because the second program finds warm caches.
            if turn % 2 == 0 {
                own.push(self.sample(None)?);
                take(self)?;
            } else {
                take(self)?;
                own.push(self.sample(None)?);
            }
            if turn + 1 == FEWEST && Ratios::of(&mut others, &mut own).least > FAR {
                break;
            }
        }
        Some(Ratios::of(&mut others, &mut own))
    }

    /// Times the runs of the default, or of the candidate with this number.
    fn sample(&mut self, other: Option<(usize, &mut Compiled)>) -> Option<Duration> {
        let (number, compiled) = match other {
            Some((number, compiled)) => (Some(number), compiled),
            None => (None, &mut self.default),
        };
        let mut done = Ok(());
        let (runs, arrays) = (self.runs, &self.arrays);
        let time = (self.tuner.stopwatch)(number, &mut || {
            for _ in 0..runs {
                done = compiled.run(arrays);
                if done.is_err() {
                    break;
                }
            }
        });
        done.ok().map(|()| time)
    }
}

/// Returns the module of a kernel with another schedule; `None` if the verifier rejects it.
pub(super) fn scheduled(kernel: &Kernel, schedule: &Schedule) -> Option<Graph> {
    let mut module = kernel.module.clone();
    schedule.apply(&mut module, kernel.op);
    let found = verify(&mut module, &VerifyConfig::default());
    (!found.has_errors()).then_some(module)
}

/// Compiles a module and runs it once.
fn ready(module: &Graph, options: &Options, arrays: &Arrays) -> Option<Compiled> {
    let program = Program::compile(module, options).ok()?;
    let mut compiled = Compiled::new(&Arc::new(program), arrays).ok()?;
    compiled.run(arrays).ok()?;
    Some(compiled)
}

/// Time of a candidate divided by that of the default.
struct Ratios {
    /// Ratio of the medians of the samples.
    median: f64,
    /// Ratio of the minima, because on a busy machine most samples include the time of other processes.
    least: f64,
}

impl Ratios {
    fn of(times: &mut [Duration], others: &mut [Duration]) -> Ratios {
        times.sort_unstable();
        others.sort_unstable();
        let ratio = |at: usize| {
            let [time, other] = [times[at], others[at]].map(|time| time.as_secs_f64());
            // Equal times, for example of a clock that does not advance, are a ratio of 1.
            if time == other {
                1.0
            } else {
                time / other.max(SMALLEST)
            }
        };
        Ratios {
            median: ratio(times.len() / 2),
            least: ratio(0),
        }
    }
}
