//! Speed of compiled real-world modules, compared with the peak of the machine.
//!
//! ```text
//! cargo run --profile dist -p mind-bench --bin workloads -- [NAME...] [--threads 1,2] [--isa avx2] [--quick]
//!     [--json FILE] [--list] [--print] [--turns]
//! ```
//!
//! `NAME` is a part of a workload's name; without one, all run. Weights are bound once, and only runs are timed. `perf`
//! is the time of an ideal run over the measured time. `--list` shows names, flops and bytes, `--print` the modules.
//! `--turns` compiles the workload called `NAME` on the first number of threads, and for each line of standard input
//! times runs of it and prints the median in microseconds, so that the runs of other programs can alternate with them.

use std::num::NonZero;
use std::process::ExitCode;
use std::time::Duration;

use mind_bench::workloads::report::{self, HEAD, WorkloadResult};
use mind_bench::workloads::run::{Effort, Failure, Timed, measure};
use mind_bench::workloads::{Workload, all};
use mind_driver::engine::{Config, Engine};
use mind_jit::peaks::Peaks;
use mind_vir::target::Isa;

struct Args {
    names: Vec<String>,
    threads: Vec<NonZero<usize>>,
    isa: Option<Isa>,
    effort: Effort,
    json: Option<String>,
    list: bool,
    print: bool,
    turns: bool,
}

impl Args {
    /// # Errors
    ///
    /// An unknown flag, or a flag without its value.
    fn read(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
        let most = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let mut args = Args {
            names: Vec::new(),
            threads: vec![NonZero::<usize>::MIN, most],
            isa: None,
            effort: Effort {
                samples: 15,
                time: Duration::from_millis(400),
            },
            json: None,
            list: false,
            print: false,
            turns: false,
        };
        args.threads.dedup();
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
                "--json" => args.json = Some(value()?),
                "--quick" => {
                    args.effort = Effort {
                        samples: 5,
                        time: Duration::from_millis(50),
                    }
                }
                "--list" => args.list = true,
                "--print" => args.print = true,
                "--turns" => args.turns = true,
                flag if flag.starts_with('-') => return Err(format!("unknown flag `{flag}`")),
                _ => args.names.push(word),
            }
        }
        Ok(args)
    }

    fn workloads(&self) -> Vec<Workload> {
        let wanted = |workload: &Workload| {
            self.names.is_empty()
                || self
                    .names
                    .iter()
                    .any(|name| workload.name.contains(&**name))
        };
        all().into_iter().filter(wanted).collect()
    }
}

fn main() -> ExitCode {
    let args = match Args::read(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(why) => {
            eprintln!("error: {why}");
            return ExitCode::from(2);
        }
    };
    let workloads = args.workloads();
    if args.list || args.print {
        for workload in &workloads {
            let Workload {
                name,
                text,
                flops,
                bytes,
            } = workload;
            println!("# {name}: {flops} flops, {bytes} bytes");
            if args.print {
                println!("{text}");
            }
        }
        return ExitCode::SUCCESS;
    }
    let done = if args.turns {
        turns(&args)
    } else {
        run(&args, &workloads)
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

/// # Errors
///
/// No engine; no workload of that name; a workload that does not run.
fn turns(args: &Args) -> Result<(), String> {
    let named = |workload: &Workload| args.names.contains(&workload.name);
    let workload = all().into_iter().find(named);
    let workload = workload.ok_or("`--turns` needs the whole name of a workload")?;
    let engine = engine(args, args.threads[0])?;
    let failed = |why: Failure| why.to_string();
    let mut timed = Timed::new(&engine, &workload).map_err(failed)?;
    for _ in std::io::stdin().lines().map_while(Result::ok) {
        let samples = timed.samples(args.effort, |_| ()).map_err(failed)?;
        println!("{:.3}", samples[samples.len() / 2].as_secs_f64() * 1e6);
    }
    Ok(())
}

/// # Errors
///
/// The machine does not support the instruction set.
fn engine(args: &Args, threads: NonZero<usize>) -> Result<Engine, String> {
    let config = Config {
        isa: args.isa,
        threads: Some(threads),
        ..Config::default()
    };
    Engine::new(&config).map_err(|found| Failure::Rejected(found).to_string())
}

/// # Errors
///
/// No engine; a file that cannot be written. The error of a workload that does not run is a row of the report.
fn run(args: &Args, workloads: &[Workload]) -> Result<(), String> {
    let (mut machines, mut rows) = (Vec::new(), Vec::new());
    let mut target = None;
    for &threads in &args.threads {
        let engine = engine(args, threads)?;
        let peaks = Peaks::measure(engine.pool(), engine.target());
        println!("{}\n{HEAD}", report::machine(&peaks));
        for workload in workloads {
            match measure(&engine, workload, args.effort) {
                Ok(times) => {
                    let row = WorkloadResult::new(workload, times, &peaks, engine.target());
                    println!("{}", row.line());
                    rows.push(row);
                }
                Err(why) => println!("{:22} {threads:3} not run: {why}", workload.name),
            }
        }
        target = Some(*engine.target());
        machines.push(peaks);
    }
    if let (Some(path), Some(target)) = (&args.json, target) {
        let text = report::json(&target, &machines, &rows).to_string();
        std::fs::write(path, text + "\n").map_err(|why| format!("{path}: {why}"))?;
    }
    Ok(())
}
