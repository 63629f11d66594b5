//! `mind-run`: a module, executed.

mod args;
mod arrays;
mod bench;
mod show;

use std::path::Path;
use std::time::Duration;

use mind_diag::{Diagnostics, SourceFile};
use mind_interp::{RunConfig, RunError, bind, run as interpret};
use mind_ir::Graph;
use mind_ir::eval::EvalError;
use mind_ir::tensor::Tensor;

use self::args::{Args, Form};
use super::cli::{self, DONE, REJECTED};
use crate::host::Host;
use crate::load::{Loaded, load_module};
use crate::npz;
use crate::session::Session;

/// Runs the tool; see `--help`.
pub fn run(args: &[String], host: &mut dyn Host) -> u8 {
    let args = match cli::parse(args::command(), args, host) {
        Ok(matches) => Args::of(&matches),
        Err(code) => return code,
    };
    match execute(&args, host) {
        Ok(()) => DONE,
        Err(code) => code,
    }
}

/// Errors: the exit code, after the reason has been reported.
fn execute(args: &Args, host: &mut dyn Host) -> Result<(), u8> {
    let (loaded, compile) = load(args, host)?;
    let Loaded { file, graph, .. } = &loaded;
    let given = arrays::read(args, host)?;
    let started = host.now();
    let arrays = arrays::gather(args, graph, given);
    let (arrays, extents) = arrays.map_err(|found| reject(args, host, &found, file))?;
    let bound = bind(graph, &arrays, extents);
    let bound = bound
        .map_err(|errors| reject(args, host, &arrays::diagnostics(args, graph, &errors), file))?;
    let binding = host.now().saturating_sub(started);
    let config = RunConfig {
        memory_limit: args.memory_limit,
    };
    let results = interpret(graph, &bound, &config);
    let results =
        results.map_err(|error| reject(args, host, &run_diagnostic(graph, &error), file))?;
    let printed = match (args.bench, args.outputs.is_some()) {
        (true, _) => {
            let interface: u64 = arrays.values().chain(&results).map(bytes).sum();
            let mut once = || interpret(graph, &bound, &config).map(drop);
            let times = bench::measure(host, compile, binding, interface, &mut once);
            let times =
                times.map_err(|error| reject(args, host, &run_diagnostic(graph, &error), file))?;
            match args.form {
                Form::Text => times.text(),
                Form::Json => times.json(),
            }
        }
        (false, true) => String::new(),
        (false, false) => match args.form {
            Form::Text => show::text(graph, &results, args.full),
            Form::Json => show::json(graph, &results, args.full),
        },
    };
    if let Some(path) = &args.outputs {
        save(host, path, &results)?;
    }
    cli::print(host, &printed);
    Ok(())
}

/// The verified module, and the time that parsing and verifying took.
fn load(args: &Args, host: &mut dyn Host) -> Result<(Loaded, Duration), u8> {
    let bytes = cli::read_input(host, &args.file, args.load.limits.bytes)?;
    let started = host.now();
    let session = Session::default();
    let loaded = load_module(
        &session.formats,
        cli::input_name(&args.file),
        bytes,
        &args.load,
    );
    let taken = host.now().saturating_sub(started);
    match loaded {
        Ok(loaded) => Ok((loaded, taken)),
        Err(rejected) => Err(reject(args, host, &rejected.diagnostics, &rejected.file)),
    }
}

/// Reports what was found, and gives the exit code.
fn reject(args: &Args, host: &mut dyn Host, found: &Diagnostics, file: &SourceFile) -> u8 {
    cli::report(host, found, file, args.diagnostics);
    REJECTED
}

fn run_diagnostic(g: &Graph, error: &RunError) -> Diagnostics {
    let diagnostic = error.diagnostic(g);
    let diagnostic = match &error.error {
        EvalError::UnboundDim(symbol) => diagnostic.help(format!(
            "no input has dimension {symbol}: `--dim {symbol}=8` gives it"
        )),
        EvalError::TooLarge { .. } => diagnostic.help("`--memory-limit` allows more"),
        _ => diagnostic,
    };
    diagnostic.into()
}

fn save(host: &mut dyn Host, path: &str, results: &[Tensor]) -> Result<(), u8> {
    let named = results
        .iter()
        .enumerate()
        .map(|(index, tensor)| (show::array_name(index), tensor));
    let written = npz::write(named).map_err(|error| error.to_string());
    let written = written.and_then(|archive| {
        host.write(Path::new(path), &archive)
            .map_err(|error| error.to_string())
    });
    written.map_err(|reason| {
        cli::print_error(host, &format!("error: {path}: {reason}\n"));
        REJECTED
    })
}

fn bytes(tensor: &Tensor) -> u64 {
    (tensor.count() * tensor.dtype().size()) as u64
}
