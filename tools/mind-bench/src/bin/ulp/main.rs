//! Measures the error of the math functions in units in the last place (ulp).
//!
//! f32 functions are measured against f64 on every bit pattern, MIL's own functions on blocks of them, and functions of
//! two operands on random pairs. f64 functions are measured on random and edge points against 256-bit numbers. The
//! references are independent of the measured functions: they are those of Rust, `libm` and `astro-float-num`.
//!
//! Build with `-C target-cpu=native`, because without a hardware fused multiply-add a run takes hours instead of
//! minutes.

mod measure;
mod mil;
mod rows;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::process::ExitCode;

use measure::{LargestError, every_f32, pairs_of_f32, pairs_of_f64, points_of_f64};
use rows::{PAIRS, ROWS};

const USAGE: &str = "usage: ulp [f32|f64] [FUNCTION] [--points=N] [--stride=N]

Prints the largest error of each math function, in ulp, and the input where it occurs.
  f32, f64    only this type; both without it
  FUNCTION    only this one: an elementary function of core, or one of MIL's, as mil.silu
  --points=N  random points of each function in f64, and pairs of a function of two operands (default 200000)
  --stride=N  only every Nth block of 4096 inputs in f32 (default 1; for MIL's 64)";

/// The parsed command line.
struct Args {
    dtype: Option<String>,
    function: Option<String>,
    points: u64,
    stride: Option<usize>,
}

impl Args {
    /// Parses the command line. Returns `None` if an argument is invalid.
    fn parse() -> Option<Args> {
        let mut args = Args {
            dtype: None,
            function: None,
            points: 200_000,
            stride: None,
        };
        for arg in std::env::args().skip(1) {
            if let Some(count) = arg.strip_prefix("--points=") {
                args.points = count.parse().ok()?;
            } else if let Some(count) = arg.strip_prefix("--stride=") {
                args.stride = Some(count.parse::<NonZeroUsize>().ok()?.get());
            } else if arg == "f32" || arg == "f64" {
                args.dtype = Some(arg);
            } else if names().any(|name| name == arg) {
                args.function = Some(arg);
            } else {
                return None;
            }
        }
        Some(args)
    }

    fn wants(&self, name: &str, dtype: &str) -> bool {
        let is =
            |choice: &Option<String>, name: &str| choice.as_ref().is_none_or(|own| own == name);
        is(&self.function, name) && is(&self.dtype, dtype)
    }
}

fn names() -> impl Iterator<Item = String> {
    let own = ROWS
        .iter()
        .map(|row| row.name)
        .chain(PAIRS.iter().map(|row| row.name));
    own.map(str::to_owned)
        .chain(mil::rows().map(|row| row.name))
}

fn main() -> ExitCode {
    let Some(args) = Args::parse() else {
        let _ = writeln!(io::stderr(), "{USAGE}");
        return ExitCode::from(2);
    };
    show("function | dtype | inputs tested | max ulp | at | monotone");
    show("---|---|---|---|---|---");
    for row in &ROWS {
        if args.wants(row.name, "f32") {
            let found = every_f32(row.f32, row.f32_reference, args.stride.unwrap_or(1));
            show_found(row.name, "f32", &found);
        }
        if args.wants(row.name, "f64") {
            show_found(row.name, "f64", &points_of_f64(row, args.points));
        }
    }
    for row in &PAIRS {
        if args.wants(row.name, "f32") {
            show_found(row.name, "f32", &pairs_of_f32(row, args.points));
        }
        if args.wants(row.name, "f64") {
            show_found(row.name, "f64", &pairs_of_f64(row, args.points));
        }
    }
    for row in mil::rows().filter(|row| args.wants(&row.name, "f32")) {
        let block = |xs: &mut [f32]| xs.iter_mut().for_each(|x| *x = (row.function)(*x));
        let found = every_f32(block, row.reference, args.stride.unwrap_or(64));
        show_found(&row.name, "f32", &found);
    }
    ExitCode::SUCCESS
}

fn show_found(name: &str, dtype: &str, found: &LargestError) {
    let LargestError {
        count,
        ulp,
        at,
        is_monotone,
    } = found;
    let monotone = match is_monotone {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    };
    show(&format!(
        "{name} | {dtype} | {count} | {ulp:.4} | {at} | {monotone}"
    ));
}

fn show(row: &str) {
    // Write errors are ignored, because a reader may close the pipe early.
    let _ = writeln!(io::stdout(), "| {row} |");
}
