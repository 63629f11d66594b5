//! Timing of runs.

use std::time::Duration;

use mind_diag::{Diagnostics, SourceFile};
use mind_driver::host::Host;
use mind_driver::segments::{Cut, Segments};
use mind_driver::tune::Choice;
use serde_json::{Value, json};

/// Minimum total duration of the runs.
const TARGET: Duration = Duration::from_secs(1);

/// Minimum and maximum number of runs.
const RUNS: std::ops::Range<usize> = 5..1000;

/// Distribution of run times, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Spread {
    /// The fastest run.
    pub(super) min: f64,
    /// The median.
    pub(super) median: f64,
    /// The 90th percentile.
    pub(super) p90: f64,
}

impl Spread {
    /// Sorts `times` and returns their distribution; zeros if there are none.
    pub(super) fn of(times: &mut [Duration]) -> Spread {
        times.sort_unstable();
        let at = |percent: usize| {
            let at = (times.len() * percent).div_ceil(100).max(1) - 1;
            times.get(at).copied().map_or(0.0, micros)
        };
        Spread {
            min: at(0),
            median: at(50),
            p90: at(90),
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({ "min": self.min, "median": self.median, "p90": self.p90 })
    }
}

/// Results of a benchmark. Times are in microseconds.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Times {
    /// Time of parsing, verifying and compiling.
    compile: f64,
    /// Time of preparing inputs and binding weights.
    bind: f64,
    pub(super) run: Spread,
    /// Number of runs.
    pub(super) runs: usize,
    /// Size of the inputs and outputs in bytes.
    interface: u64,
    /// Number of threads.
    threads: usize,
    /// The instruction set, for example `avx2`, or `interp`.
    isa: &'static str,
    /// Memory of a run in bytes besides weights, inputs and outputs.
    workspace: Option<u64>,
    cuts: Option<Cuts>,
    tuned: Option<Tuned>,
}

/// Number of compiled segments of a program, and the ops between them with their locations and reasons.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cuts {
    segments: usize,
    ops: Vec<(&'static str, String, &'static str)>,
}

impl Cuts {
    pub(super) fn of(segments: &Segments, file: &SourceFile) -> Cuts {
        let place = |cut: &Cut| {
            let (line, column) = file.position(cut.span);
            format!("{}:{line}:{column}", file.name())
        };
        let ops = segments.cuts.iter();
        let ops = ops.map(|cut| (cut.op, place(cut), cut.reason.text()));
        Cuts {
            segments: segments.compiled,
            ops: ops.collect(),
        }
    }

    fn json(&self) -> Value {
        let ops = self.ops.iter();
        ops.map(|(op, place, reason)| json!({ "op": op, "place": place, "reason": reason }))
            .collect()
    }
}

/// The kernels with tuned schedules, with their locations.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Tuned(Vec<(Choice, String)>);

impl Tuned {
    pub(super) fn of(choices: Vec<Choice>, file: &SourceFile) -> Tuned {
        let placed = choices.into_iter().map(|choice| {
            let (line, column) = file.position(choice.span);
            let place = format!("{}:{line}:{column}", file.name());
            (choice, place)
        });
        Tuned(placed.collect())
    }

    fn text(&self) -> String {
        let mut text = format!("kernels with a tuned schedule {}\n", self.0.len());
        for (choice, place) in &self.0 {
            let Choice {
                kernel,
                span: _,
                count,
                from,
                to,
                gain,
            } = choice;
            text += &format!(
                "{kernel}, {place}, {count} times: {from} -> {to}, {gain:.2} times as fast\n"
            );
        }
        text
    }

    fn json(&self) -> Value {
        let choices = self.0.iter().map(|(choice, place)| {
            json!({
                "kernel": choice.kernel,
                "place": place,
                "count": choice.count,
                "from": choice.from,
                "to": choice.to,
                "gain": choice.gain,
            })
        });
        choices.collect()
    }
}

/// Measurements before the runs, and properties of the program.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    /// Time of parsing, verifying and compiling.
    pub(super) compile: Duration,
    /// Time of preparing inputs and binding weights.
    pub(super) bind: Duration,
    /// Size of the inputs and outputs in bytes.
    pub(super) interface: u64,
    /// Number of threads.
    pub(super) threads: usize,
    /// The instruction set, for example `avx2`, or `interp`.
    pub(super) isa: &'static str,
    /// Memory of a run in bytes besides weights, inputs and outputs; `None` unless the module is a single program.
    pub(super) workspace: Option<u64>,
    /// The cut points of the program; `None` if the module is interpreted.
    pub(super) cuts: Option<Cuts>,
    /// The tuned kernels; `None` without `--tune`.
    pub(super) tuned: Option<Tuned>,
}

/// Times `once` repeatedly. The caller has run it before, so that caches are warm.
///
/// # Errors
///
/// Errors as `once`.
pub(super) fn measure(
    host: &dyn Host,
    subject: Subject,
    once: &mut dyn FnMut() -> Result<(), Diagnostics>,
) -> Result<Times, Diagnostics> {
    let (mut times, mut total) = (Vec::new(), Duration::ZERO);
    while times.len() < RUNS.start || total < TARGET && times.len() < RUNS.end {
        let started = host.now();
        once()?;
        let taken = host.now().saturating_sub(started);
        times.push(taken);
        total += taken;
    }
    Ok(Times {
        compile: micros(subject.compile),
        bind: micros(subject.bind),
        run: Spread::of(&mut times),
        runs: times.len(),
        interface: subject.interface,
        threads: subject.threads,
        isa: subject.isa,
        workspace: subject.workspace,
        cuts: subject.cuts,
        tuned: subject.tuned,
    })
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1000.0
}

impl Times {
    /// Returns gigabytes of inputs and outputs per second at the median; `None` if the time is below the clock's
    /// resolution.
    fn gigabytes(&self) -> Option<f64> {
        let median = self.run.median;
        (median > 0.0).then(|| self.interface as f64 / median / 1000.0)
    }

    /// Formats the results as text.
    pub(super) fn text(&self) -> String {
        let Times {
            compile,
            bind,
            run: Spread { min, median, p90 },
            runs,
            ..
        } = self;
        let mut text = format!("compile {compile:.1} us\nbind    {bind:.1} us\n");
        text += &format!("run     {median:.1} us (min {min:.1}, p90 {p90:.1}, {runs} runs)\n");
        if let Some(rate) = self.gigabytes() {
            text += &format!("inputs and outputs {rate:.3} GB/s\n");
        }
        if let Some(bytes) = self.workspace {
            text += &format!("memory of a run {bytes} bytes\n");
        }
        if let Some(Cuts { segments, ops }) = &self.cuts {
            text += &format!("compiled segments {segments}\n");
            for (op, place, reason) in ops {
                text += &format!("cut at `{op}`, {place}: {reason}\n");
            }
        }
        text += &self.tuned.as_ref().map_or_else(String::new, Tuned::text);
        text
    }

    /// Formats the results as a JSON object on one line.
    pub(super) fn json(&self) -> String {
        let object = json!({
            "compile_us": self.compile,
            "bind_us": self.bind,
            "run_us": self.run.json(),
            "runs": self.runs,
            "gb_per_s": self.gigabytes(),
            "threads": self.threads,
            "isa": self.isa,
            "workspace_bytes": self.workspace,
            "segments": self.cuts.as_ref().map(|cuts| cuts.segments),
            "cuts": self.cuts.as_ref().map(Cuts::json),
            "tuned": self.tuned.as_ref().map(Tuned::json),
        });
        format!("{object}\n")
    }
}
