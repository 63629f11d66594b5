//! Schedules that are chosen by measuring.
//!
//! A schedule changes no bit, so any other one may take the place of what [`lower`](crate::engine::Engine::lower) wrote.
//! For each kernel of a module at loops level, each once however often the module has it, a few others are tried: those
//! of `candidates`, alone and the best ones together. One that wins by a margin, and again in other memory, is written
//! into the module.
//!
//! - `kernel`: kernels as modules that run alone. `schedule`: what the attributes of one say. `candidates`: others that
//!   it may have. `measure`: which of two is faster.

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

/// A schedule is taken whose runs take this share of the default's time at most.
const MARGIN: f64 = 0.97;

/// Kernels that take less than this share of the time of all are left as they are.
const WORTHWHILE: f64 = 0.01;

/// Kernels that read and write more bytes than this are left as they are.
const MOST_BYTES: u64 = 1 << 30;

/// Runs the work it is given once, and returns the time that it took; the number is that of the candidate, from 0
/// on, and `None` for the default.
pub type Stopwatch = Box<dyn Fn(Option<usize>, &mut dyn FnMut()) -> Duration + Send + Sync>;

/// Chooses schedules by measuring, for every module that an engine compiles.
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
    /// The kind of the kernel and the types of its operands.
    pub kernel: String,
    /// Where it stands in the source.
    pub span: Span,
    /// How often the module has it.
    pub count: usize,
    /// What was changed, as it was.
    pub from: String,
    /// What was changed, as it is.
    pub to: String,
    /// How many times as fast the kernel was measured to be.
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
    /// The most candidates that are measured for a module unless its user says otherwise.
    pub const LIMIT: u64 = 512;

    /// The parts that [`progress`](Tuner::progress) counts.
    pub const PARTS: u64 = 1000;

    /// A tuner that measures by a clock, and at most `limit` candidates for a module.
    pub fn new(limit: u64, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Tuner {
        let stopwatch = move |_: Option<usize>, work: &mut dyn FnMut()| {
            let started = clock();
            work();
            clock().saturating_sub(started)
        };
        Tuner::with_stopwatch(limit, Box::new(stopwatch))
    }

    /// A tuner whose measurements are those of `stopwatch`.
    pub fn with_stopwatch(limit: u64, stopwatch: Stopwatch) -> Tuner {
        Tuner {
            stopwatch,
            limit,
            measured: AtomicU64::new(0),
            progress: Arc::default(),
            choices: Mutex::default(),
        }
    }

    /// The most candidates that are measured for a module.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// How many candidates were measured so far.
    pub fn measured(&self) -> u64 {
        self.measured.load(Ordering::Relaxed)
    }

    /// How far the tuning of the current module is, in parts of [`Tuner::PARTS`].
    pub fn progress(&self) -> Arc<AtomicU64> {
        self.progress.clone()
    }

    /// The kernels whose schedule was changed so far, in the order of the modules and of the kernels in each.
    pub fn choices(&self) -> Vec<Choice> {
        self.all_choices().clone()
    }

    fn all_choices(&self) -> std::sync::MutexGuard<'_, Vec<Choice>> {
        self.choices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what was chosen for a module.
    pub(crate) fn add(&self, choices: Vec<Choice>) {
        self.all_choices().extend(choices);
    }
}

/// What schedules are chosen for.
pub(crate) struct Tuning<'t> {
    pub(crate) tuner: &'t Tuner,
    pub(crate) options: &'t Options,
    /// Where what was chosen is kept, and all that it depends on besides the kernel.
    pub(crate) cache: Option<(&'t CompileCache, &'t str)>,
}

/// What a kernel was measured to be fastest with.
struct Best {
    schedule: Schedule,
    gain: f64,
}

impl Tuning<'_> {
    /// Writes the best schedules that are found into a module at loops level, and returns what was changed.
    pub(crate) fn tune(&self, g: &mut Graph) -> Vec<Choice> {
        let options = Options {
            profiler: None,
            ..self.options.clone()
        };
        let kernels = kernels(g, options.panels);
        let mut found: Vec<Option<Best>> = kernels.iter().map(|own| self.kept(own)).collect();
        // The longest first, if not all can be tried.
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

    /// The fastest schedule of a kernel among `most` candidates, which may be the default.
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
        // The best of each attribute, all together.
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
        /// Winners that are measured once more.
        const SECOND_LOOKS: usize = 2;
        for (_, number, schedule) in winners.into_iter().take(SECOND_LOOKS) {
            let ratio = bench.confirmed(number, &schedule);
            if let Some(ratio) = ratio.filter(|ratio| *ratio < MARGIN) {
                // In thousandths, which a note holds as they are.
                let gain = (1000.0 / ratio.max(1e-3)).round() / 1000.0;
                return Best { schedule, gain };
            }
        }
        Best {
            schedule: kernel.default.clone(),
            gain: 1.0,
        }
    }

    /// The time of a candidate over that of the default; `None` if the kernel cannot have it.
    fn measure(&self, bench: &mut Bench<'_>, number: usize, schedule: &Schedule) -> Option<f64> {
        let mut other = bench.other(schedule)?;
        self.tuner.measured.fetch_add(1, Ordering::Relaxed);
        bench.ratio(number, &mut other)
    }

    /// What was chosen for an equal kernel before.
    fn kept(&self, kernel: &Kernel) -> Option<Best> {
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
    /// Bytes that it reads and writes.
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

/// Where a kernel stands in the source: the place of its op, or of the first one in it that has any.
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

    /// What [`json`](Choice::json) wrote.
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

/// Each kernel of a module at loops level that may have another schedule, with the schedules that are tried besides its
/// own. Some of them may be refused.
pub fn alternatives(g: &Graph, target: &TargetInfo, threads: usize) -> Vec<(OpId, Vec<Schedule>)> {
    let kernels = kernels(g, PanelChoice::Best).into_iter();
    let others = |kernel: &Kernel| candidates::candidates(kernel, target, threads);
    kernels
        .map(|kernel| (kernel.places[0], others(&kernel)))
        .collect()
}
