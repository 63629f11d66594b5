//! What a kernel takes with one schedule and with another.

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

/// Runs that are timed together take this long at least.
const SAMPLE: Duration = Duration::from_micros(200);

/// The most runs that are timed together.
const MOST_RUNS: u128 = 4096;

/// Interleaved samples of a schedule and of the default.
const SAMPLES: usize = 5;

/// As many where the best schedule is measured once more.
const CONFIRMING: usize = 9;

/// After this many samples a schedule that is far behind is measured no further.
const FEWEST: usize = 2;

/// How far that is.
const FAR: f64 = 1.15;

/// Seconds that are less than any clock tells.
const SMALLEST: f64 = 1e-12;

/// A kernel ready to run by its default schedule, on arrays that are made up.
pub(super) struct Bench<'t> {
    tuner: &'t Tuner,
    kernel: &'t Kernel,
    options: &'t Options,
    arrays: Arrays,
    default: Compiled,
    /// Runs that are timed together.
    runs: u32,
    /// One of them.
    pub(super) once: Duration,
}

impl<'t> Bench<'t> {
    /// Compiles and runs a kernel; `None` of one that cannot be measured, such as of integers that a made-up zero
    /// divides.
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

    /// A schedule as code that ran once; `None` if the kernel cannot have it.
    pub(super) fn other(&self, schedule: &Schedule) -> Option<Compiled> {
        let module = scheduled(self.kernel, schedule)?;
        ready(&module, self.options, &self.arrays)
    }

    /// The time that runs of candidate `number` take over that of the default.
    pub(super) fn ratio(&mut self, number: usize, other: &mut Compiled) -> Option<f64> {
        let ratios = self.ratio_of(number, other, SAMPLES)?;
        Some(ratios.least)
    }

    /// As [`ratio`](Bench::ratio), of more samples, and of both compiled anew in other memory, whoever is first: where
    /// arrays lie decides, too, how fast a kernel is. The largest of all ratios.
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
            // Who is first has warm caches of the other one.
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

    /// Times runs of the default, or of a candidate by its number.
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

/// The module of a kernel with another schedule; `None` if the verifier refuses it.
pub(super) fn scheduled(kernel: &Kernel, schedule: &Schedule) -> Option<Graph> {
    let mut module = kernel.module.clone();
    schedule.apply(&mut module, kernel.op);
    let found = verify(&mut module, &VerifyConfig::default());
    (!found.has_errors()).then_some(module)
}

/// A module as code that ran once.
fn ready(module: &Graph, options: &Options, arrays: &Arrays) -> Option<Compiled> {
    let program = Program::compile(module, options).ok()?;
    let mut compiled = Compiled::new(&Arc::new(program), arrays).ok()?;
    compiled.run(arrays).ok()?;
    Some(compiled)
}

/// The time of a candidate over that of the default.
struct Ratios {
    /// The middle of all samples.
    median: f64,
    /// The least of them: on a busy machine most samples hold the time of others.
    least: f64,
}

impl Ratios {
    fn of(times: &mut [Duration], others: &mut [Duration]) -> Ratios {
        times.sort_unstable();
        others.sort_unstable();
        let ratio = |at: usize| {
            let [time, other] = [times[at], others[at]].map(|time| time.as_secs_f64());
            // A clock that stands still sees no difference.
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
