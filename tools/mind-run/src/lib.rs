//! `mind-run`: runs modules and models.

mod args;
mod arrays;
mod bench;
mod cache;
mod model;
mod profile;
mod runner;
mod show;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mind_cli::npz::{self, ArchiveFile};
use mind_cli::{DONE, REJECTED, ToolInfo, constants};
use mind_diag::{Code, Diagnostic, Diagnostics, Severity, SourceFile, Span};
use mind_driver::compiled::{self, Compiled};
use mind_driver::engine::{Config, Engine, MORE_MEMORY};
use mind_driver::executable::{Executable, ExecutionError};
use mind_driver::host::{Host, Progress};
use mind_driver::load::{Loaded, load_module};
use mind_driver::mil::weights;
use mind_driver::session::Session;
use mind_driver::tune::Tuner;
use mind_interp::{Arrays, RunConfig, RunError, bind, run as interpret};
use mind_ir::Graph;
use mind_ir::eval::EvalError;
use mind_ir::tensor::Tensor;
use mind_jit::peaks::Peaks;
use mind_jit::profile::Profiler;
use mind_jit::program::{Port, Program};

use self::args::{Args, EngineKind, Form};
use self::profile::Profile;
use self::runner::{Compilation, Parts, Runner};

/// Minimum size of a file in bytes for which memory of the passes is requested in advance.
const LARGE: usize = 1 << 18;

/// Bytes that passes are expected to allocate besides two copies of the weights.
const OF_OPS: usize = 4 << 20;

/// The tool.
pub const TOOL: ToolInfo = ToolInfo {
    name: "mind-run",
    run,
    command,
};

/// Returns the command line of the tool.
pub fn command() -> clap::Command {
    args::command()
}

/// Runs the tool; see `--help`.
pub fn run(args: &[String], host: &mut dyn Host) -> u8 {
    let matches = match mind_cli::parse(args::command(), args, host) {
        Ok(matches) => matches,
        Err(code) => return code,
    };
    if matches.get_flag("cache-stats") {
        return cache::print_stats(host);
    }
    if let Err(message) = args::check_names(&matches) {
        return mind_cli::usage_error(host, &message);
    }
    if matches.contains_id("model") {
        return model::run(&matches, host);
    }
    let mut args = Args::of(&matches, host.available_memory());
    let bound = constants::read(&matches, args.memory_limit, host);
    let done = bound.and_then(|bound| {
        args.load.bound = bound;
        execute(&args, host)
    });
    match done {
        Ok(()) => DONE,
        Err(code) => code,
    }
}

/// Runs a module.
///
/// # Errors
///
/// Returns the exit code after reporting the error.
fn execute(args: &Args, host: &mut dyn Host) -> Result<(), u8> {
    let archive = arrays::open(args, host)?;
    let (mut loaded, mut compile) = load(args, archive.as_ref(), host)?;
    let given = arrays::unpack(args, &loaded, archive, host)?;
    let dims = close(args, &mut loaded, &given, host)?;
    import(args, &mut loaded, host)?;
    let Loaded { file, graph, .. } = &loaded;
    let started = host.now();
    let arrays = arrays::gather(args, dims, graph, loaded.format, given, host);
    let (arrays, extents) = arrays.map_err(|found| reject(args, host, &found, file))?;
    let bound = bind(graph, &arrays, extents);
    let bound = bound
        .map_err(|errors| reject(args, host, &arrays::diagnostics(args, graph, &errors), file))?;
    let mut binding = host.now().saturating_sub(started);
    let config = RunConfig {
        memory_limit: args.memory_limit,
        max_steps: args.max_steps,
    };
    let interpreted =
        || interpret(graph, &bound, &config).map_err(|error| run_diagnostic(graph, &error));
    let engine = args.engine.unwrap_or_else(|| usual_engine(graph));
    let profiler = args.steps.as_ref().map(|_| Arc::new(Profiler::default()));
    let of_code = [
        ("--profile-steps", args.steps.is_some()),
        ("--tune", args.tune.is_some()),
    ];
    let mut asked = of_code.into_iter().filter(|(_, is_asked)| *is_asked);
    if engine == EngineKind::Interp
        && let Some((flag, _)) = asked.next()
    {
        let text = format!("`{flag}` needs machine code, but the module is interpreted");
        let error = Diagnostic::error(Span::FILE, text);
        return Err(reject(args, host, &error.into(), file));
    }
    let tuner = args
        .tune
        .map(|limit| Arc::new(Tuner::new(limit, host.clock())));
    let mut runner = match engine {
        EngineKind::Interp => Runner::Interpreter,
        EngineKind::Jit => {
            let work = match &tuner {
                Some(tuner) if host.style().redraws => {
                    let progress = Progress {
                        done: tuner.progress(),
                        all: Tuner::PARTS,
                    };
                    host.working_through("measuring schedules", progress)
                }
                Some(_) | None => host.working("compiling"),
            };
            let started = host.now();
            let config = Config {
                profiler: profiler.clone(),
                cache: if args.is_cached {
                    cache::open(host)
                } else {
                    None
                },
                tuner: tuner.clone(),
                ..args.config.clone()
            };
            let engine = Engine::new(&config).map_err(|found| reject(args, host, &found, file))?;
            let engine = Arc::new(engine);
            let code = (engine.is_cut(graph, &bound))
                .and_then(|is_cut| match is_cut {
                    true => Ok(Compilation::Parts(Executable::new(
                        engine.clone(),
                        graph.clone(),
                    )?)),
                    false => {
                        let (program, segments) = engine.compile_and_cut(graph, &bound)?;
                        Ok(Compilation::Program(program, segments))
                    }
                })
                .map_err(|found| interpreted().err().unwrap_or(found));
            let code = code.map_err(|found| reject(args, host, &found, file))?;
            compile += host.now().saturating_sub(started);
            drop(work);
            let _work = host.working("packing weights");
            let started = host.now();
            let runner = match code {
                Compilation::Program(program, segments) => fits(args, &program)
                    .map_err(|found| interpreted().err().unwrap_or(found))
                    .and_then(|()| {
                        Compiled::new(&program, &arrays).map_err(|why| failed(&why, &interpreted))
                    })
                    .map(|compiled| Runner::Code(Box::new(compiled), segments, engine)),
                Compilation::Parts(executable) => Parts::new(executable, &arrays)
                    .map_err(|why| stopped(why, &interpreted))
                    .map(|parts| Runner::Parts(parts, engine)),
            };
            let runner = runner.map_err(|found| reject(args, host, &found, file))?;
            binding += host.now().saturating_sub(started);
            runner
        }
    };
    let work = host.working(match &runner {
        Runner::Interpreter => "interpreting",
        Runner::Code(..) | Runner::Parts(..) => "running",
    });
    let results = match &mut runner {
        Runner::Interpreter => interpreted(),
        Runner::Code(compiled, ..) => {
            let results = compiled.run(&arrays);
            let results = results.and_then(|()| compiled.take_results());
            results.map_err(|why| failed(&why, &interpreted))
        }
        Runner::Parts(parts, _) => parts.run().map_err(|why| stopped(why, &interpreted)),
    };
    drop(work);
    let results = results.map_err(|found| reject(args, host, &found, file))?;
    let is_timed = args.bench || profiler.is_some();
    let printed = match (is_timed, args.outputs.is_some()) {
        (true, _) => {
            let cuts = runner.segments().map(|found| bench::Cuts::of(&found, file));
            let tuned = tuner.map(|tuner| bench::Tuned::of(tuner.choices(), file));
            let subject = bench::Subject {
                cuts,
                tuned,
                compile,
                bind: binding,
                interface: arrays.values().chain(&results).map(bytes).sum(),
                threads: runner.threads(),
                isa: runner.name(),
                workspace: runner.workspace(),
            };
            let mut once = || match &mut runner {
                Runner::Interpreter => interpreted().map(drop),
                Runner::Code(compiled, ..) => compiled
                    .run(&arrays)
                    .map_err(|why| failed(&why, &interpreted)),
                Runner::Parts(parts, _) => {
                    let results = parts.run().map_err(|why| stopped(why, &interpreted));
                    results.map(drop)
                }
            };
            let work = host.working("timing runs");
            // Compiled code allocates new outputs in this run, because the first ones were taken.
            let warmed = if engine == EngineKind::Jit {
                once()
            } else {
                Ok(())
            };
            if let Some(profiler) = &profiler {
                profiler.clear();
            }
            let times = warmed.and_then(|()| bench::measure(host, subject, &mut once));
            drop(work);
            let times = times.map_err(|found| reject(args, host, &found, file))?;
            match profiler.as_deref().zip(runner.engine()) {
                None => match args.form {
                    Form::Text => times.text(),
                    Form::Json => times.json(),
                },
                Some((profiler, engine)) => {
                    let profile = Profile {
                        rows: profiler.rows(),
                        events: profiler.events(),
                        runs: times.runs,
                        run: times.run,
                        peaks: Peaks::measure(engine.pool(), engine.target()),
                        target: engine.target(),
                        file,
                    };
                    if let Some(Some(path)) = &args.steps {
                        write(host, path, profile.trace().as_bytes())?;
                    }
                    match args.form {
                        Form::Text => profile.text(),
                        Form::Json => profile.json(),
                    }
                }
            }
        }
        (false, true) => String::new(),
        (false, false) => match args.form {
            Form::Text => show::text(graph, &results, args.full),
            Form::Json => show::json(graph, &results, args.full),
        },
    };
    if let Some(path) = &args.outputs {
        save(host, path, graph, &results)?;
    }
    mind_cli::print(host, &printed);
    Ok(())
}

/// Returns the default engine: the interpreter for MIL programs that were not imported and modules at loops level,
/// otherwise machine code.
fn usual_engine(g: &Graph) -> EngineKind {
    let is_lowered = |op| {
        mind_loops::ops::OPS
            .iter()
            .any(|def| std::ptr::eq(*def, g.def(op)))
    };
    let is_program = mind_mil::structure::program(g).is_some();
    if is_program || g.ops(g.body()).any(is_lowered) {
        EngineKind::Interp
    } else {
        EngineKind::Jit
    }
}

/// Checks the memory of a run.
///
/// # Errors
///
/// Errors if it exceeds the limit.
fn fits(args: &Args, program: &Program) -> Result<(), Diagnostics> {
    let outputs: usize = program.outputs().iter().map(Port::bytes).sum();
    let needed = program.workspace_bytes().saturating_add(outputs as u64);
    if needed <= args.memory_limit {
        return Ok(());
    }
    let limit = args.memory_limit;
    let text = format!("a run needs {needed} bytes for its values, more than the allowed {limit}");
    let mut error = Diagnostic::error(Span::FILE, text);
    error.code = Some(Code(6004));
    Err(error.help("`--memory-limit` allows more").into())
}

/// Returns the interpreter's error for a failure of compiled code, because the interpreter knows the op.
fn failed(
    why: &mind_jit::program::RunError,
    interpreted: &dyn Fn() -> Result<Vec<Tensor>, Diagnostics>,
) -> Diagnostics {
    if let mind_jit::program::RunError::OutOfMemory { .. } = why {
        return compiled::refused(why);
    }
    match interpreted() {
        Err(found) => found,
        Ok(_) => compiled::refused(why),
    }
}

/// Returns the error for a failure of a module that runs in parts.
fn stopped(
    why: ExecutionError,
    interpreted: &dyn Fn() -> Result<Vec<Tensor>, Diagnostics>,
) -> Diagnostics {
    match why {
        ExecutionError::Run(why) => failed(&why, interpreted),
        ExecutionError::Compile(found) => interpreted().err().unwrap_or(found),
        other => Diagnostic::error(Span::FILE, other.to_string()).into(),
    }
}

/// Loads and verifies the module, whose open dimensions may be determined by the arrays of `archive`; also returns the time it
/// took.
fn load(
    args: &Args,
    archive: Option<&ArchiveFile<'_>>,
    host: &mut dyn Host,
) -> Result<(Loaded, Duration), u8> {
    let mut given = mind_cli::read_module(host, &args.file, &args.load)?;
    let types = archive.iter().flat_map(|archive| archive.types());
    let shapes = types.map(|(name, own)| (name.clone(), own.shape.clone()));
    given.options.shapes = shapes.collect();
    let length = given.bytes.len();
    let is_parallel = args.config.threads.is_none_or(|threads| threads.get() > 1);
    if length >= LARGE && is_parallel {
        host.expect_memory(length.saturating_mul(2).saturating_add(OF_OPS));
    }
    let started = host.now();
    let session = Session::default();
    let loaded = load_module(
        &session.formats,
        mind_cli::input_name(&args.file),
        given.bytes,
        &given.options,
    );
    let taken = host.now().saturating_sub(started);
    match loaded {
        Ok(mut loaded) => {
            mind_cli::report(host, &loaded.warnings, &loaded.file, args.diagnostics);
            let read = weights::read(&mut loaded.graph, &given.path, host);
            read.map_err(|found| reject(args, host, &found, &loaded.file))?;
            let threaded = mind_mil::state::thread(&mut loaded.graph);
            threaded.map_err(|found| reject(args, host, &found, &loaded.file))?;
            Ok((loaded, taken))
        }
        Err(rejected) => Err(reject(args, host, &rejected.diagnostics, &rejected.file)),
    }
}

/// Specialises a MIL program to the shapes of its arrays; returns the extents of `--dim` that are still to be applied.
///
/// # Errors
///
/// Returns the exit code after reporting arrays that do not match.
fn close<'a>(
    args: &'a Args,
    loaded: &mut Loaded,
    given: &Arrays,
    host: &mut dyn Host,
) -> Result<&'a [(String, usize)], u8> {
    if loaded.format.reads_dims() {
        return Ok(&[]);
    }
    if !mind_mil::specialize::is_open(&loaded.graph) {
        return Ok(&args.dims);
    }
    let arrays = arrays::gather(
        args,
        &args.dims,
        &loaded.graph,
        loaded.format,
        given.clone(),
        host,
    );
    let (arrays, _) = arrays.map_err(|found| reject(args, host, &found, &loaded.file))?;
    let shape = |name: &str| Some(arrays.get(name)?.shape().to_vec());
    let closed = mind_mil::specialize::specialize(&mut loaded.graph, &shape);
    closed.map_err(|found| reject(args, host, &found, &loaded.file))?;
    Ok(&[])
}

/// Imports a MIL program, so that it can be compiled. A program with ops that cannot be imported is left as it is and
/// interpreted, with a note that names the ops.
///
/// # Errors
///
/// Returns the exit code after reporting such ops, if `--engine jit` is set.
fn import(args: &Args, loaded: &mut Loaded, host: &mut dyn Host) -> Result<(), u8> {
    let is_program = mind_mil::structure::program(&loaded.graph).is_some();
    if args.engine == Some(EngineKind::Interp) || !is_program {
        return Ok(());
    }
    let mut own = loaded.graph.clone();
    match mind_from_mil::import(&mut own) {
        Ok(_) => loaded.graph = own,
        Err(found) if args.engine == Some(EngineKind::Jit) => {
            return Err(reject(args, host, &found, &loaded.file));
        }
        Err(found) => {
            let mut all = found.iter();
            if let Some(first) = all.next() {
                let message = format!("interpreted: {}", first.message);
                let note = Diagnostic::new(Severity::Note, first.span, message);
                let note = all.fold(note, |note, other| note.note(other.message.as_str()));
                mind_cli::report_one(host, note, &loaded.file, args.diagnostics);
            }
        }
    }
    Ok(())
}

/// Reports diagnostics and returns the exit code.
fn reject(args: &Args, host: &mut dyn Host, found: &Diagnostics, file: &SourceFile) -> u8 {
    mind_cli::report(host, found, file, args.diagnostics);
    REJECTED
}

fn run_diagnostic(g: &Graph, error: &RunError) -> Diagnostics {
    let diagnostic = error.diagnostic(g);
    let diagnostic = match &error.error {
        EvalError::UnboundDim(symbol) => diagnostic.help(format!(
            "no input has dimension {symbol}: `--dim {symbol}=8` gives it"
        )),
        EvalError::TooLarge { .. } => diagnostic.help("`--memory-limit` allows more"),
        EvalError::OutOfMemory { .. } => diagnostic.help(MORE_MEMORY),
        _ => diagnostic,
    };
    diagnostic.into()
}

fn save(host: &mut dyn Host, path: &str, g: &Graph, results: &[Tensor]) -> Result<(), u8> {
    let archive = npz::write(show::array_names(g).into_iter().zip(results));
    let archive = archive.map_err(|error| unwritten(host, path, &error.to_string()))?;
    write(host, path, &archive)
}

/// Writes a file.
///
/// # Errors
///
/// Returns the exit code after reporting the error.
fn write(host: &mut dyn Host, path: &str, contents: &[u8]) -> Result<(), u8> {
    let written = host.write(Path::new(path), contents);
    written.map_err(|error| unwritten(host, path, &error.to_string()))
}

/// Reports why a file cannot be written; returns the exit code.
fn unwritten(host: &mut dyn Host, path: &str, reason: &str) -> u8 {
    mind_cli::print_error(host, &format!("error: {path}: {reason}\n"));
    REJECTED
}

fn bytes(tensor: &Tensor) -> u64 {
    (tensor.count() * tensor.dtype().size()) as u64
}
