//! Profile of the kernels of a run, compared with the roofline.

use std::fmt::Write;
use std::time::Duration;

use mind_diag::{SourceFile, Span};
use mind_ir::types::DTypeClass;
use mind_jit::peaks::Peaks;
use mind_jit::profile::{Event, Origin, Row};
use mind_vir::target::TargetInfo;
use serde_json::{Value, json};

use crate::bench::Spread;

/// Limit on the source locations in a line of the table.
const PLACES: usize = 3;

/// Limit on the ops in a line of the table.
const OPS: usize = 6;

/// Measurements of a profile.
pub(super) struct Profile<'p> {
    /// The steps of the module's programs.
    pub(super) rows: Vec<Row>,
    /// Their runs.
    pub(super) events: Vec<Event>,
    /// Number of measured runs.
    pub(super) runs: usize,
    /// Times of whole runs, in microseconds.
    pub(super) run: Spread,
    /// Peak performance and bandwidth of the machine.
    pub(super) peaks: Peaks,
    /// The target of the program.
    pub(super) target: &'p TargetInfo,
    /// The source text.
    pub(super) file: &'p SourceFile,
}

/// Measurements of a step per run of the module.
struct Line<'r> {
    row: &'r Row,
    /// Index of the step.
    step: usize,
    /// Time in microseconds.
    time: f64,
    /// GFLOP/s of multiply-adds; `None` if the step has none.
    gflops: Option<f64>,
    /// GB/s of memory traffic.
    gigabytes: f64,
    /// The roofline's time as a share of the measured time, and whether compute or memory bounds it.
    limit: Option<(f64, &'static str)>,
}

impl Profile<'_> {
    fn lines(&self) -> Vec<Line<'_>> {
        let mut times: Vec<Vec<Duration>> = vec![Vec::new(); self.rows.len()];
        for event in &self.events {
            times[event.row].push(event.time);
        }
        let ran = self.rows.iter().zip(times).enumerate();
        let lines = ran
            .filter(|(_, (row, _))| row.runs > 0)
            .map(|(step, (row, mut times))| {
                // The median, because some runs are interrupted by other processes.
                let middle = times.len() / 2;
                let once = match times.is_empty() {
                    true => row.total / u32::try_from(row.runs).unwrap_or(u32::MAX),
                    false => *times.select_nth_unstable(middle).1,
                };
                let once = once.as_secs_f64().max(1e-9);
                let rate = |count: u64| count as f64 / once;
                Line {
                    row,
                    step,
                    time: once * 1e6 * row.runs as f64 / self.runs.max(1) as f64,
                    gflops: (row.products > 0).then(|| 2.0 * rate(row.products) / 1e9),
                    gigabytes: rate(row.bytes) / 1e9,
                    limit: self.limit(row).map(|(best, by)| (best / once, by)),
                }
            });
        lines.collect()
    }

    /// Returns the seconds of a step at the roofline: its multiply-adds at peak performance or its bytes at the
    /// bandwidth of the memory level that holds them, whichever is longer. Returns `None` if the step is not a kernel,
    /// or if peak performance is not measured for its arithmetic.
    fn limit(&self, row: &Row) -> Option<(f64, &'static str)> {
        let memory = row.bytes as f64 / self.peaks.bandwidth(self.target, row.bytes)?;
        if row.products == 0 {
            return Some((memory, "memory"));
        }
        // Narrower types are computed in `f32`; vectors of `f64` have half as many lanes.
        let dtype = row
            .origin
            .dtype
            .filter(|dtype| dtype.class() == DTypeClass::Float)?;
        let peak = self.peaks.flops(self.target.isa)? * 4.0 / dtype.size().max(4) as f64;
        let compute = 2.0 * row.products as f64 / peak;
        Some(match compute >= memory {
            true => (compute, "peak"),
            false => (memory, "memory"),
        })
    }

    /// Returns the microseconds per run of the steps that are not nested in others.
    fn steps(&self, lines: &[Line<'_>]) -> f64 {
        let outer = lines.iter().filter(|line| line.row.depth == 0);
        outer.map(|line| line.time).sum()
    }

    /// Formats a table, sorted by time, longest first.
    pub(super) fn text(&self) -> String {
        let mut lines = self.lines();
        let (all, count) = (self.steps(&lines), lines.len());
        let (isa, threads) = (self.target.isa, self.peaks.threads);
        let mut text = format!(
            "{} runs on {isa}, {threads} threads: median {:.1} us, of which {count} steps take {all:.1} us\n\n",
            self.runs, self.run.median
        );
        text += "        us  share  GFLOP/s     GB/s      limit  step\n";
        lines.sort_by(|a, b| b.time.total_cmp(&a.time));
        for line in &lines {
            let share = 100.0 * line.time / all.max(1e-9);
            let gflops = line
                .gflops
                .map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1}"));
            let limit = match line.limit {
                Some((share, by)) => format!("{:.0}% {by}", 100.0 * share),
                None => "-".to_owned(),
            };
            let _ = writeln!(
                text,
                "{:10.1} {share:5.1}% {gflops:>8} {:8.1} {limit:>10}  {}",
                line.time,
                line.gigabytes,
                self.name(line.row),
            );
        }
        text
    }

    /// Describes a step: kind, type, ops and their locations.
    fn name(&self, row: &Row) -> String {
        let Origin { ops, dtype, shape } = &row.origin;
        let mut text = "> ".repeat(row.depth);
        text += row.kind;
        if let Some(dtype) = dtype {
            let _ = write!(text, " {dtype}{shape:?}");
        }
        let names: Vec<&str> = ops.iter().map(|(name, _)| *name).collect();
        if !names.is_empty() && names != [row.kind] {
            let _ = write!(text, ": {}", elided(&names, OPS));
        }
        let places = self.places(row);
        if !places.is_empty() {
            let _ = write!(text, " ({})", elided(&places, PLACES));
        }
        text
    }

    /// Returns the distinct locations of a step's ops; only the first has the name of the file.
    fn places(&self, row: &Row) -> Vec<String> {
        let mut places: Vec<(usize, usize)> = Vec::new();
        for &(_, span) in &row.origin.ops {
            let place = self.file.position(span);
            if place.0 > 0 && !places.contains(&place) {
                places.push(place);
            }
        }
        let place = |(number, (line, column)): (usize, (usize, usize))| match number {
            0 => format!("{}:{line}:{column}", self.file.name()),
            _ => format!("{line}:{column}"),
        };
        places.into_iter().enumerate().map(place).collect()
    }

    fn position(&self, span: Span) -> Option<(usize, usize)> {
        let position = self.file.position(span);
        (position.0 > 0).then_some(position)
    }

    /// Formats a JSON object.
    pub(super) fn json(&self) -> String {
        let lines = self.lines();
        let steps = lines.iter().map(|line| {
            let ops = line.row.origin.ops.iter();
            let ops = ops.map(|&(op, span)| {
                let place = self.position(span);
                json!({ "op": op, "line": place.map(|at| at.0), "column": place.map(|at| at.1) })
            });
            json!({
                "step": line.step,
                "kind": line.row.kind,
                "depth": line.row.depth,
                "dtype": line.row.origin.dtype.map(|dtype| dtype.to_string()),
                "shape": line.row.origin.shape,
                "ops": ops.collect::<Vec<Value>>(),
                "runs": line.row.runs,
                "us": line.time,
                "gflop_per_s": line.gflops,
                "gb_per_s": line.gigabytes,
                "limit": line.limit.map(|(share, _)| share),
                "bound_by": line.limit.map(|(_, by)| by),
            })
        });
        let object = json!({
            "runs": self.runs,
            "run_us": self.run.json(),
            "steps_us": self.steps(&lines),
            "isa": self.target.isa.name(),
            "threads": self.peaks.threads,
            "steps": steps.collect::<Vec<Value>>(),
        });
        format!("{object}\n")
    }

    /// Formats the runs of steps as trace events for Perfetto and `chrome://tracing`.
    pub(super) fn trace(&self) -> String {
        let micros = |time: Duration| time.as_nanos() as f64 / 1000.0;
        let events = self.events.iter().map(|event| {
            let row = &self.rows[event.row];
            json!({
                "name": self.name(row),
                "cat": row.kind,
                "ph": "X",
                "ts": micros(event.start),
                "dur": micros(event.time),
                "pid": 1,
                "tid": 1,
                "args": { "step": event.row, "bytes": row.bytes, "multiply_adds": row.products },
            })
        });
        let object =
            json!({ "traceEvents": events.collect::<Vec<Value>>(), "displayTimeUnit": "ns" });
        format!("{object}\n")
    }
}

/// Lists the first `most` of `words`, and the number of the others.
fn elided<S: AsRef<str>>(words: &[S], most: usize) -> String {
    let shown = words.iter().take(most).map(AsRef::as_ref);
    let mut text = shown.collect::<Vec<&str>>().join(", ");
    if words.len() > most {
        let _ = write!(text, ", and {} more", words.len() - most);
    }
    text
}

#[cfg(test)]
mod tests {
    use mind_ir::types::DType;
    use mind_jit::peaks::{Bandwidth, Level};
    use mind_vir::target::Isa;

    use super::*;

    fn row(kind: &'static str, bytes: u64, products: u64, micros: u64) -> Row {
        Row {
            origin: Origin {
                ops: vec![("MatMul", Span::new(0, 1)), ("Relu", Span::new(3, 4))],
                dtype: Some(DType::F32),
                shape: vec![2, 3],
            },
            kind,
            bytes,
            products,
            depth: 0,
            runs: 10,
            total: Duration::from_micros(micros),
        }
    }

    fn profiled(rows: Vec<Row>, events: Vec<Event>, check: impl Fn(Profile<'_>)) {
        let file = SourceFile::new("m.core", "a\nbc\nd\n");
        let target = TargetInfo::of(Isa::Avx2);
        let speeds = |level| Bandwidth {
            level,
            read: 1e9,
            copy: 2e9,
        };
        check(Profile {
            rows,
            events,
            runs: 10,
            run: Spread {
                min: 90.0,
                median: 100.0,
                p90: 110.0,
            },
            peaks: Peaks {
                threads: 2,
                flops: vec![(Isa::Avx2, 4e9)],
                bandwidths: Level::ALL.map(speeds).to_vec(),
            },
            target: &target,
            file: &file,
        });
    }

    #[test]
    fn the_longest_step_comes_first_with_what_bounds_it() {
        let product = row("contract", 2_000, 20_000, 500);
        let nest = row("nest", 50_000, 0, 250);
        profiled(vec![nest, product], Vec::new(), |profile| {
            let expected = "10 runs on avx2, 2 threads: median 100.0 us, of which 2 steps take 75.0 us\n\n        us  share  GFLOP/s     GB/s      limit  step\n      50.0  66.7%      0.8      0.0   20% peak  contract f32[2, 3]: MatMul, Relu (m.core:1:1, 2:2)\n      25.0  33.3%        -      2.0 100% memory  nest f32[2, 3]: MatMul, Relu (m.core:1:1, 2:2)\n";
            assert_eq!(profile.text(), expected);
        });
    }

    #[test]
    fn steps_that_never_ran_are_left_out_and_those_inside_others_are_not_added() {
        let mut idle = row("nest", 8, 0, 0);
        idle.runs = 0;
        let mut inner = row("nest", 8, 0, 100);
        inner.depth = 1;
        profiled(
            vec![row("Scan", 8, 0, 200), inner, idle],
            Vec::new(),
            |profile| {
                let lines = profile.lines();
                assert_eq!((lines.len(), profile.steps(&lines)), (2, 20.0));
                assert!(profile.text().contains("> nest f32"));
            },
        );
    }

    #[test]
    fn the_middle_run_of_a_step_counts() {
        let event = |nanos| Event {
            row: 0,
            start: Duration::ZERO,
            time: Duration::from_nanos(nanos),
        };
        let events = [900, 100, 200].map(event).to_vec();
        profiled(vec![row("nest", 8, 0, 100)], events, |profile| {
            assert!((profile.lines()[0].time - 0.2).abs() < 1e-9);
        });
    }

    #[test]
    fn products_of_integers_have_no_limit() {
        let mut product = row("contract", 8, 20_000, 500);
        product.origin.dtype = Some(DType::I8);
        profiled(vec![product], Vec::new(), |profile| {
            assert!(profile.lines()[0].limit.is_none())
        });
    }

    #[test]
    fn a_trace_has_an_event_for_each_run_of_a_step() {
        let event = Event {
            row: 0,
            start: Duration::from_nanos(1500),
            time: Duration::from_nanos(250),
        };
        profiled(vec![row("nest", 8, 0, 100)], vec![event], |profile| {
            let trace: Value = serde_json::from_str(&profile.trace()).expect("it is JSON");
            let event = &trace["traceEvents"][0];
            assert_eq!((&event["ts"], &event["dur"]), (&json!(1.5), &json!(0.25)));
            assert_eq!(event["ph"], "X");
        });
    }
}
