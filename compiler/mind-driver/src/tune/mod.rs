//! Autotuning of kernel schedules.
//!
//! Schedules do not affect results, so any schedule may replace the one chosen by
//! [`lower`](crate::engine::Engine::lower). For each distinct kernel of a module at loops level the schedules of
//! `candidates` are measured, one by one and the best ones combined. A schedule that wins by a margin, and wins again
//! in newly allocated memory, is written to the module.
//!
//! - `kernel`: extraction of kernels. `schedule`: attributes of a schedule. `candidates`: schedules to try. `measure`:
//!   comparison of two schedules.

mod candidates;
mod kernel;
mod measure;
mod schedule;

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mind_diag::Span;
use mind_ir::{Graph, OpId};
use mind_jit::program::{Options, PanelChoice};
use mind_vir::target::TargetInfo;
use serde_json::{Value, json};

use self::kernel::{Kernel, kernels};
use self::measure::{Bench, scheduled};
use crate::cache::CompileCache;

pub use self::candidates::MOST_CANDIDATES;
pub use self::schedule::Schedule;

/// Limit on the time of a schedule relative to the default for it to be chosen.
const MARGIN: f64 = 0.97;

/// Share of the total time below which a kernel is not tuned.
const WORTHWHILE: f64 = 0.01;

/// Limit in bytes on the operands and results of a kernel that is tuned.
const MOST_BYTES: u64 = 1 << 30;

/// Runs a closure once and returns its duration. The number is the index of the candidate, or `None` for the default.
pub type Stopwatch = Box<dyn Fn(Option<usize>, &mut dyn FnMut()) -> Duration + Send + Sync>;

/// Autotuner for all modules that an engine compiles.
pub struct Tuner {
    stopwatch: Stopwatch,
    limit: u64,
    measured: AtomicU64,
    progress: Arc<AtomicU64>,
    choices: Mutex<Vec<Choice>>,
}

/// A kernel whose schedule was changed.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// The name of the op and the types of its operands.
    pub kernel: String,
    /// Its span in the source.
    pub span: Span,
    /// Number of equal kernels in the module.
    pub count: usize,
    /// The old values of the changed attributes.
    pub from: String,
    /// The new values of the changed attributes.
    pub to: String,
    /// The measured speed-up.
    pub gain: f64,
}

impl std::fmt::Debug for Tuner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let measured = self.measured();
        f.debug_struct("Tuner")
            .field("limit", &self.limit)
            .field("measured", &measured)
            .finish_non_exhaustive()
    }
}

impl Tuner {
    /// Default limit on the candidates measured per module.
    pub const LIMIT: u64 = 512;

    /// The value of [`progress`](Tuner::progress) at the end.
    pub const PARTS: u64 = 1000;

    /// Creates a tuner that measures with a clock, at most `limit` candidates per module.
    pub fn new(limit: u64, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Tuner {
        let stopwatch = move |_: Option<usize>, work: &mut dyn FnMut()| {
            let started = clock();
            work();
            clock().saturating_sub(started)
        };
        Tuner::with_stopwatch(limit, Box::new(stopwatch))
    }

    /// Creates a tuner that measures with `stopwatch`.
    pub fn with_stopwatch(limit: u64, stopwatch: Stopwatch) -> Tuner {
        Tuner {
            stopwatch,
            limit,
            measured: AtomicU64::new(0),
            progress: Arc::default(),
            choices: Mutex::default(),
        }
    }

    /// Returns the limit on the candidates measured per module.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the number of candidates measured so far.
    pub fn measured(&self) -> u64 {
        self.measured.load(Ordering::Relaxed)
    }

    /// Returns the progress of tuning the current module, out of [`Tuner::PARTS`].
    pub fn progress(&self) -> Arc<AtomicU64> {
        self.progress.clone()
    }

    /// Returns the kernels whose schedules were changed so far, in the order of modules and of kernels in them.
    pub fn choices(&self) -> Vec<Choice> {
        self.all_choices().clone()
    }

    fn all_choices(&self) -> std::sync::MutexGuard<'_, Vec<Choice>> {
        self.choices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the choices of a module.
    pub(crate) fn add(&self, choices: Vec<Choice>) {
        self.all_choices().extend(choices);
    }
}

/// The tuner, target options and cache of one compilation.
pub(crate) struct Tuning<'t> {
    pub(crate) tuner: &'t Tuner,
    pub(crate) options: &'t Options,
    /// The cache of tuning records, and the part of their keys besides the kernel.
    pub(crate) cache: Option<(&'t CompileCache, &'t str)>,
}

/// The fastest measured schedule of a kernel.
struct Best {
    schedule: Schedule,
    gain: f64,
}

impl Tuning<'_> {
    /// Tunes a module at loops level and returns the changes.
    pub(crate) fn tune(&self, g: &mut Graph) -> Vec<Choice> {
        let options = Options {
            profiler: None,
            ..self.options.clone()
        };
        let kernels = kernels(g, options.panels);
        let mut found: Vec<Option<Best>> = kernels.iter().map(|own| self.cached(own)).collect();
        // Kernels with the longest total time come first, because the limit may not suffice for all.
        let mut open: Vec<(usize, Duration)> = Vec::new();
        for (at, kernel) in kernels.iter().enumerate() {
            if found[at].is_none() && kernel.bytes() <= MOST_BYTES {
                let bench = Bench::new(self.tuner, kernel, &options);
                let all = bench.map(|bench| bench.once * kernel.places.len() as u32);
                open.extend(all.map(|all| (at, all)));
            }
        }
        let all: Duration = open.iter().map(|(_, time)| *time).sum();
        open.retain(|(_, time)| time.as_secs_f64() >= WORTHWHILE * all.as_secs_f64());
        open.sort_by_key(|&(at, time)| (Reverse(time), at));
        let end = self.tuner.measured().saturating_add(self.tuner.limit);
        let (progress, count) = (&self.tuner.progress, open.len() as u64);
        for (number, (at, _)) in (0..).zip(open) {
            progress.store(Tuner::PARTS * number / count, Ordering::Relaxed);
            let kernel = &kernels[at];
            let left = end.saturating_sub(self.tuner.measured());
            let Some(mut bench) = Bench::new(self.tuner, kernel, &options).filter(|_| left > 0)
            else {
                continue;
            };
            let best = self.search(kernel, &mut bench, left as usize);
            if left as usize > MOST_CANDIDATES {
                self.keep(kernel, &best);
            }
            found[at] = Some(best);
        }
        progress.store(Tuner::PARTS, Ordering::Relaxed);
        let pairs = kernels.iter().zip(found);
        let changed = pairs.filter_map(|(kernel, best)| {
            let best = best.filter(|best| best.schedule != kernel.default)?;
            for &op in &kernel.places {
                best.schedule.apply(g, op);
            }
            Some(kernel.choice(g, &best))
        });
        changed.collect()
    }

    /// Returns the fastest schedule of a kernel among the default and `most` candidates.
    fn search(&self, kernel: &Kernel, bench: &mut Bench<'_>, most: usize) -> Best {
        let threads = self.options.pool.threads();
        let mut candidates = candidates::candidates(kernel, &self.options.target, threads);
        candidates.truncate(most);
        let count = candidates.len();
        let mut winners: Vec<(f64, usize, Schedule)> = Vec::new();
        for (number, schedule) in candidates.into_iter().enumerate() {
            if let Some(ratio) = self.measure(bench, number, &schedule)
                && ratio < MARGIN
            {
                winners.push((ratio, number, schedule));
            }
        }
        winners.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // The best candidates of different attributes are combined.
        if let Some((_, _, first)) = winners.first() {
            let mut together = first.clone();
            let mut taken = first.changed(&kernel.default);
            for (_, _, other) in &winners {
                let changed = other.changed(&kernel.default);
                if !changed.iter().any(|name| taken.contains(name)) {
                    together = together.and(other, &kernel.default);
                    taken.extend(changed);
                }
            }
            let is_new = together != *first && count < most;
            let ratio = is_new
                .then(|| self.measure(bench, count, &together))
                .flatten();
            if let Some(ratio) = ratio.filter(|ratio| *ratio < winners[0].0) {
                winners.insert(0, (ratio, count, together));
            }
        }
        /// Number of candidates that are confirmed.
        const SECOND_LOOKS: usize = 2;
        for (_, number, schedule) in winners.into_iter().take(SECOND_LOOKS) {
            let ratio = bench.confirmed(number, &schedule);
            if let Some(ratio) = ratio.filter(|ratio| *ratio < MARGIN) {
                // Rounded to thousandths, so that the cached record is exact.
                let gain = (1000.0 / ratio.max(1e-3)).round() / 1000.0;
                return Best { schedule, gain };
            }
        }
        Best {
            schedule: kernel.default.clone(),
            gain: 1.0,
        }
    }

    /// Returns the time of a candidate divided by that of the default; `None` if the kernel does not support it.
    fn measure(&self, bench: &mut Bench<'_>, number: usize, schedule: &Schedule) -> Option<f64> {
        let mut other = bench.other(schedule)?;
        self.tuner.measured.fetch_add(1, Ordering::Relaxed);
        bench.ratio(number, &mut other)
    }

    /// Returns the cached schedule of an equal kernel.
    fn cached(&self, kernel: &Kernel) -> Option<Best> {
        let (cache, settings) = self.cache?;
        let value = cache.note(&[settings.as_bytes(), kernel.digest.as_bytes()])?;
        let schedule = kernel.default.read(&value["schedule"])?;
        let gain = value["gain"].as_f64()?;
        let is_legal = schedule == kernel.default || scheduled(kernel, &schedule).is_some();
        is_legal.then_some(Best { schedule, gain })
    }

    fn keep(&self, kernel: &Kernel, best: &Best) {
        if let Some((cache, settings)) = self.cache {
            let key = [settings.as_bytes(), kernel.digest.as_bytes()];
            let note = json!({ "schedule": best.schedule.json(), "gain": best.gain });
            cache.keep_note(&key, &note);
        }
    }
}

impl Kernel {
    /// Returns the bytes that it reads and writes.
    fn bytes(&self) -> u64 {
        let g = &self.module;
        let values = g
            .operands(self.op)
            .iter()
            .copied()
            .chain(g.results(self.op));
        let bytes = values.map(|value| {
            let ty = g.ty(value);
            ty.count().unwrap_or(0) as u64 * ty.dtype.size() as u64
        });
        bytes.fold(0, u64::saturating_add)
    }

    fn choice(&self, g: &Graph, best: &Best) -> Choice {
        let names = best.schedule.changed(&self.default);
        Choice {
            kernel: self.text(),
            span: place(g, self.places[0]),
            count: self.places.len(),
            from: self.default.text(&names),
            to: best.schedule.text(&names),
            gain: best.gain,
        }
    }
}

/// Returns the span of a kernel, or of the first op in its body that has one.
fn place(g: &Graph, op: OpId) -> Span {
    let own = g.span(op);
    if own != Span::FILE {
        return own;
    }
    let regions = g.regions(op).iter();
    let mut inner = regions.flat_map(|&region| g.ops(g.block(region)));
    let placed = inner.find(|&inner| g.span(inner) != Span::FILE);
    placed.map_or(Span::FILE, |inner| g.span(inner))
}

impl Choice {
    pub(crate) fn json(&self) -> Value {
        json!({
            "kernel": self.kernel,
            "start": self.span.start,
            "end": self.span.end,
            "count": self.count,
            "from": self.from,
            "to": self.to,
            "gain": self.gain,
        })
    }

    /// Reads the output of [`json`](Choice::json).
    pub(crate) fn read(value: &Value) -> Option<Choice> {
        let number = |name: &str| u32::try_from(value[name].as_u64()?).ok();
        let text = |name: &str| Some(value[name].as_str()?.to_owned());
        Some(Choice {
            kernel: text("kernel")?,
            span: Span::new(number("start")?, number("end")?),
            count: number("count")? as usize,
            from: text("from")?,
            to: text("to")?,
            gain: value["gain"].as_f64()?,
        })
    }
}

/// Returns the kernels of a module at loops level that have alternative schedules, with these. Some of them may be
/// illegal.
pub fn alternatives(g: &Graph, target: &TargetInfo, threads: usize) -> Vec<(OpId, Vec<Schedule>)> {
    let kernels = kernels(g, PanelChoice::Best).into_iter();
    let others = |kernel: &Kernel| candidates::candidates(kernel, target, threads);
    kernels
        .map(|kernel| (kernel.places[0], others(&kernel)))
        .collect()
}
