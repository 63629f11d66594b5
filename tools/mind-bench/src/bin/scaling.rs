//! Simulated scaling of the workloads with the number of threads, as a Markdown table.
//!
//! ```text
//! cargo run --release -p mind-bench --bin scaling -- [NAME...]
//! ```
//!
//! `NAME` is a part of a workload's name; without one, all are simulated. Nothing is executed: each workload is
//! compiled, and the tasks of its calls are divided as in a run on that many threads. `Program::simulate` defines the
//! times. Workloads with control flow or ops without a kernel are skipped.

use std::num::NonZero;
use std::process::ExitCode;

use mind_bench::workloads::all;
use mind_bench::workloads::run::{Code, Failure, graph};
use mind_driver::engine::{Config, Engine};

/// Numbers of threads in addition to one.
const THREADS: [usize; 6] = [2, 4, 8, 16, 32, 64];

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    match table(&names) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

/// # Errors
///
/// No engine; a workload that does not compile.
fn table(names: &[String]) -> Result<(), String> {
    let config = Config {
        threads: Some(NonZero::<usize>::MIN),
        ..Config::default()
    };
    let engine = Engine::new(&config).map_err(|found| Failure::Rejected(found).to_string())?;
    let most = THREADS[THREADS.len() - 1];
    let counts = THREADS.map(|threads| threads.to_string()).join(" | ");
    println!("Tiles of {}\n", engine.target().isa);
    println!("| workload | calls | divided | tasks | {counts} | barriers |");
    println!("|---|---|---|---|{}---|", "---|".repeat(THREADS.len()));
    let is_wanted =
        |name: &str| names.is_empty() || names.iter().any(|part| name.contains(&**part));
    for workload in all().iter().filter(|workload| is_wanted(&workload.name)) {
        let name = &workload.name;
        let code = graph(workload).and_then(|graph| Code::compile(&engine, &graph));
        let code = code.map_err(|why| format!("{name}: {why}"))?;
        let Some(run) = code.simulate(most) else {
            continue;
        };
        let simulated = THREADS.map(|threads| code.simulate(threads).unwrap_or_default());
        let speedups = simulated.map(|run| format!("{:.1}", run.alone / run.time));
        println!(
            "| `{name}` | {} | {} | {} | {} | {:.0} % |",
            run.calls,
            run.divided,
            run.tasks,
            speedups.join(" | "),
            100.0 * run.barriers / run.time
        );
    }
    Ok(())
}
