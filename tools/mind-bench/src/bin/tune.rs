//! Speedup of tuned schedules on the modules of `workloads`, as a Markdown table.
//!
//! ```text
//! cargo run --release -p mind-bench --bin tune -- [NAME...] [--threads 1,2] [--isa avx2]
//! ```
//!
//! `NAME` is a part of a workload's name; without one, all run. Each workload is compiled with the default schedules of
//! the lowering and with those that a tuner finds, and timed runs of both alternate. On one thread the time is CPU time
//! if the system provides it, because it excludes other processes.

use std::num::NonZero;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use mind_bench::workloads::all;
use mind_bench::workloads::run::{Effort, Failure};
use mind_bench::workloads::tuned::{Clock, Comparison, compare};
use mind_driver::engine::{Config, Engine};
use mind_driver::tune::{Choice, Tuner};
use mind_vir::target::{Isa, processor};

/// The minimal effort per workload.
const EFFORT: Effort = Effort {
    samples: 15,
    time: Duration::from_millis(400),
};

struct Args {
    names: Vec<String>,
    threads: Vec<NonZero<usize>>,
    isa: Option<Isa>,
}

impl Args {
    /// # Errors
    ///
    /// An unknown flag, or a flag without its value.
    fn read(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
        let mut args = Args {
            names: Vec::new(),
            threads: vec![NonZero::<usize>::MIN],
            isa: None,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("`{word}` needs a value"));
            match &*word {
                "--threads" => {
                    let value = value()?;
                    let counts = value.split(',').map(|count| count.parse());
                    let counts: Result<Vec<NonZero<usize>>, _> = counts.collect();
                    args.threads =
                        counts.map_err(|_| format!("invalid list of counts `{value}`"))?;
                }
                "--isa" => args.isa = Some(value()?.parse().map_err(|why| format!("{why}"))?),
                flag if flag.starts_with('-') => return Err(format!("unknown flag `{flag}`")),
                _ => args.names.push(word),
            }
        }
        Ok(args)
    }
}

fn main() -> ExitCode {
    let done = Args::read(std::env::args().skip(1)).and_then(|args| {
        let mut counts = args.threads.iter();
        counts.try_for_each(|&threads| table(&args, threads))
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

/// # Errors
///
/// No engine. The error of a workload that does not run is a row of the table.
fn table(args: &Args, threads: NonZero<usize>) -> Result<(), String> {
    let clock: Clock = if threads.get() == 1 {
        processor_time
    } else {
        wall_time
    };
    let tuner = Arc::new(Tuner::new(Tuner::LIMIT, clock));
    let config = Config {
        isa: args.isa,
        threads: Some(threads),
        tuner: Some(tuner.clone()),
        ..Config::default()
    };
    let engine = Engine::new(&config).map_err(|found| Failure::Rejected(found).to_string())?;
    println!(
        "{} on {threads} threads of {}\n",
        engine.target().isa,
        processor()
    );
    println!(
        "| workload | default, us | tuned, us | gain | tuning, s | candidates | other schedules |"
    );
    println!("|---|---|---|---|---|---|---|");
    let (mut logarithms, mut measured) = (Vec::new(), 0);
    let is_wanted =
        |name: &str| args.names.is_empty() || args.names.iter().any(|part| name.contains(&**part));
    for workload in all().iter().filter(|workload| is_wanted(&workload.name)) {
        let name = &workload.name;
        match compare(&engine, &|| tuner.choices(), workload, (EFFORT, clock)) {
            Ok(found) => {
                logarithms.push(found.gain().ln());
                println!("| `{name}` {}", row(&found, tuner.measured() - measured));
            }
            Err(why) => println!("| `{name}` | not run: {why} | | | | | |"),
        }
        measured = tuner.measured();
    }
    let mean = logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64;
    println!(
        "\ngeometric mean of {} gains: {:.3}\n",
        logarithms.len(),
        mean.exp()
    );
    Ok(())
}

fn wall_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

/// Returns the CPU time of this process.
#[cfg(unix)]
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call only writes to a local variable.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    if failed == 0 {
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    } else {
        wall_time()
    }
}

#[cfg(not(unix))]
fn processor_time() -> Duration {
    wall_time()
}

fn row(found: &Comparison, candidates: u64) -> String {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let choice = |choice: &Choice| {
        let kind = choice.kernel.split(' ').next().unwrap_or_default();
        format!("{kind} {} ({:.2})", choice.to, choice.gain)
    };
    let choices: Vec<String> = found.choices.iter().map(choice).collect();
    format!(
        "| {:.1} | {:.1} | {:.2} | {:.1} | {candidates} | {} |",
        micros(found.default),
        micros(found.tuned),
        found.gain(),
        found.tuning.as_secs_f64(),
        choices.join("; "),
    )
}
