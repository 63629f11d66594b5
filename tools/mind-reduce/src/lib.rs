//! `mind-reduce`: reduces a module while an interestingness test, a command or a built-in one, still succeeds.
//!
//! Passes and engines run in a separate process per case, so that crashes and hangs are ordinary results.

mod args;
mod case;
mod fault;
mod oracle;
#[cfg(test)]
mod planted;
pub mod reduction;
mod suspect;

use mind_cli::rules;
use mind_cli::{REJECTED, ToolInfo};
use mind_diag::{Diagnostics, SourceFile};
use mind_driver::emit::emit;
use mind_driver::host::Host;
use mind_driver::load::{Loaded, load_module};
use mind_driver::session::{PASSES, Session};
use mind_ir::Graph;
use mind_ir::verify::VerifyConfig;
use mind_pass::{PassRegistry, RunCache};

use self::args::{Args, EngineKind, Test};
use self::case::{CaseTask, Setup};
use self::fault::Runner;
use self::oracle::{Oracle, Trouble, in_processes};
use crate::reduction::{Config, Reduced, reduce};

/// Runs the tool; see `--help`.
pub fn run(args: &[String], host: &mut dyn Host) -> u8 {
    run_with(&PASSES, args, host)
}

/// Runs the tool with other passes. Cases run in processes of the same program, which must call this function with the
/// same passes.
pub fn run_with(passes: &PassRegistry, args: &[String], host: &mut dyn Host) -> u8 {
    if args == [case::FLAG] {
        return case::run(passes, host);
    }
    match reduce_file(passes, args, host) {
        Ok(code) | Err(code) => code,
    }
}

/// The tool.
pub const TOOL: ToolInfo = ToolInfo {
    name: "mind-reduce",
    run,
    command,
};

/// Returns the command line of the tool.
pub fn command() -> clap::Command {
    args::command()
}

/// # Errors
///
/// The exit code, after the reason has been reported.
fn reduce_file(passes: &PassRegistry, args: &[String], host: &mut dyn Host) -> Result<u8, u8> {
    let matches = mind_cli::parse(args::command(), args, host)?;
    let args = Args::of(&matches, passes, host)?;
    let given = mind_cli::read_module(host, &args.path, &args.load)?;
    let session = Session::default();
    let loaded = load_module(
        &session.formats,
        mind_cli::input_name(&args.path),
        given.bytes,
        &given.options,
    );
    let Loaded {
        file,
        format,
        graph,
        warnings,
    } = loaded.map_err(|rejected| {
        mind_cli::report(host, &rejected.diagnostics, &rejected.file, args.form);
        REJECTED
    })?;
    mind_cli::report(host, &warnings, &file, args.form);
    let rewriting = rules::read(&matches, host, &args.load.limits)?;
    let shared = RunCache::default();
    rules::prepare(&rewriting, &[], &session.registry, &shared, args.form, host)?;
    rules::admit(&rewriting, &session, args.form, host)?;
    if args.engine == Some(EngineKind::Jit) {
        let engine = Runner::compiler();
        engine.map_err(|found| refuse(host, &found, &file, &args))?;
    }
    let setup = Setup {
        pipeline: args.pipeline.clone(),
        rewriting,
        task: match args.test {
            Test::Command(_) => CaseTask::Output,
            Test::Crash if args.engine.is_none() => CaseTask::Passes,
            Test::Crash | Test::Differs => CaseTask::Results,
        },
        engine: args.engine.unwrap_or(EngineKind::Interp),
        profile: args.load.profile,
        padding: args.load.padding,
    };
    let oracle = Oracle {
        test: args.test.clone(),
        format,
        setup: &setup,
        session: &session,
        verify: VerifyConfig {
            profile: args.load.profile,
        },
        evaluate: in_processes(&setup, args.child),
        time: args.child.time,
    };
    let task = Task {
        graph: &graph,
        file: &file,
        oracle: &oracle,
        args: &args,
    };
    let text = if args.bisect {
        task.bisected(host)
    } else {
        task.shrunk(host)
    }?;
    Ok(mind_cli::write_output(host, args.output.as_ref(), &text))
}

/// A module with its interestingness test.
struct Task<'a> {
    graph: &'a Graph,
    file: &'a SourceFile,
    oracle: &'a Oracle<'a>,
    args: &'a Args,
}

impl Task<'_> {
    /// Returns the text of the smallest interesting module that was found.
    ///
    /// # Errors
    ///
    /// The exit code, after the reason has been reported.
    fn shrunk(&self, host: &mut dyn Host) -> Result<String, u8> {
        let Task {
            graph,
            file,
            oracle,
            args,
        } = *self;
        let before = ops(graph);
        let kind = oracle.kind(graph, host);
        let Some(kind) = kind.map_err(|trouble| stop(host, &trouble))? else {
            let why = oracle.not_interesting(graph, host);
            return Err(stop(host, &why.unwrap_or_else(|trouble| trouble)));
        };
        let (mut trouble, shows) = (None, host.style().redraws && !host.style().quiet);
        let _work = (!shows).then(|| host.working("reducing"));
        let config = Config {
            trials: args.trials,
            verify: oracle.verify,
        };
        let reduced = reduce(graph, &config, &mut |candidate| {
            if trouble.is_some() || !oracle.is_sound(candidate) {
                return false;
            }
            if shows {
                mind_cli::print_error(host, &format!("\r{:>8} ops  ", ops(candidate)));
            }
            let found = oracle.kind(candidate, host).unwrap_or_else(|found| {
                trouble = Some(found);
                None
            });
            found.is_some_and(|found| found == kind)
        });
        if shows {
            mind_cli::print_error(host, "\r");
        }
        if let Some(trouble) = trouble {
            return Err(stop(host, &trouble));
        }
        let formats = &oracle.session.formats;
        let emitted = emit(
            formats,
            &reduced.graph,
            oracle.format,
            args.format(oracle.format),
        );
        let emitted = emitted.map_err(|found| refuse(host, &found, file, args))?;
        let Reduced {
            trials,
            kept,
            stopped,
            ..
        } = reduced;
        let after = ops(&reduced.graph);
        let text = format!(
            "{before} ops are {after} now: {kept} of {trials} smaller modules were interesting"
        );
        mind_cli::note(host, &text);
        if stopped {
            mind_cli::note(
                host,
                "`--trials` was reached; run it on the result to go on",
            );
        }
        Ok(emitted.text)
    }

    /// Returns a description of the first bad rewrite.
    ///
    /// # Errors
    ///
    /// The exit code, after the reason has been reported.
    fn bisected(&self, host: &mut dyn Host) -> Result<String, u8> {
        let from = self.args.load.from;
        let found = suspect::first_bad(self.file, from, self.oracle, host);
        let found = found.map_err(|trouble| stop(host, &trouble))?;
        let replay = self
            .args
            .replay(&self.oracle.setup.rewriting, found.number());
        Ok(found.text(&replay))
    }
}

/// Returns the number of ops of a module, including those in bodies.
fn ops(g: &Graph) -> usize {
    g.walk().count()
}

fn stop(host: &mut dyn Host, trouble: &Trouble) -> u8 {
    mind_cli::print_error(host, &format!("error: {trouble}\n"));
    REJECTED
}

fn refuse(host: &mut dyn Host, found: &Diagnostics, file: &SourceFile, args: &Args) -> u8 {
    mind_cli::report(host, found, file, args.form);
    REJECTED
}
