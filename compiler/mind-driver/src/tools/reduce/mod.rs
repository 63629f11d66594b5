//! `mind-reduce`: a module made smaller while a command, or a fault that is built in, still finds it
//! interesting.

mod args;
mod fault;
mod oracle;
#[cfg(test)]
mod planted;
mod suspect;

use mind_diag::{Diagnostics, SourceFile};
use mind_ir::Graph;
use mind_ir::verify::VerifyConfig;
use mind_pass::Shared;
use mind_reduction::{Config, Reduced, reduce};

use self::args::Args;
use self::fault::Optimiser;
use self::oracle::{Oracle, Trouble};
use super::cli::{self, REJECTED};
use super::opt::rules;
use crate::emit::emit;
use crate::host::Host;
use crate::load::{Loaded, load_module};
use crate::session::Session;

/// Runs the tool; see `--help`.
pub fn run(args: &[String], host: &mut dyn Host) -> u8 {
    match reduce_file(args, host) {
        Ok(code) | Err(code) => code,
    }
}

/// The command line of the tool.
pub fn command() -> clap::Command {
    args::command()
}

/// Errors: the exit code, after the reason has been reported.
fn reduce_file(args: &[String], host: &mut dyn Host) -> Result<u8, u8> {
    let matches = cli::parse(args::command(), args, host)?;
    let args = Args::of(&matches, host)?;
    let bytes = cli::read_input(host, &args.path, args.load.limits.bytes)?;
    let session = Session::default();
    let loaded = load_module(
        &session.formats,
        cli::input_name(&args.path),
        bytes,
        &args.load,
    );
    let Loaded {
        file,
        format,
        graph,
    } = loaded.map_err(|rejected| {
        cli::report(host, &rejected.diagnostics, &rejected.file, args.form);
        REJECTED
    })?;
    let rewriting = rules::read(&matches, host, &args.load.limits)?;
    let shared = Shared::default();
    rules::prepare(&rewriting, &[], &session.registry, &shared, args.form, host)?;
    let optimiser = Optimiser {
        session: &session,
        pipeline: &args.pipeline,
        rewriting: &rewriting,
        shared: &shared,
        verify: VerifyConfig {
            profile: args.load.profile,
        },
    };
    let oracle = Oracle::new(&args, format, &optimiser)
        .map_err(|found| refuse(host, &found, &file, &args))?;
    let task = Task {
        graph: &graph,
        file: &file,
        oracle: &oracle,
        args: &args,
    };
    let text = match args.bisect {
        true => task.bisected(host),
        false => task.shrunk(host),
    }?;
    Ok(cli::write_output(host, args.output.as_ref(), &text))
}

/// A module, and what is asked of it.
struct Task<'a> {
    graph: &'a Graph,
    file: &'a SourceFile,
    oracle: &'a Oracle<'a>,
    args: &'a Args,
}

impl Task<'_> {
    /// The smallest module found that is still interesting, as text.
    ///
    /// Errors: the exit code, after the reason has been reported.
    fn shrunk(&self, host: &mut dyn Host) -> Result<String, u8> {
        let Task {
            graph,
            file,
            oracle,
            args,
        } = *self;
        let before = ops(graph);
        if !oracle
            .holds(graph, host)
            .map_err(|trouble| stop(host, &trouble))?
        {
            return Err(stop(host, &Trouble::NotInteresting(oracle.describe())));
        }
        let kind = oracle.kind(graph);
        let (mut trouble, shows) = (None, host.stderr_is_terminal());
        let config = Config {
            trials: args.trials,
            verify: oracle.verify(),
        };
        let reduced = reduce(graph, &config, &mut |candidate| {
            if trouble.is_some() {
                return false;
            }
            if shows {
                cli::print_error(host, &format!("\r{:>8} ops  ", ops(candidate)));
            }
            let held = match oracle.is_sound(candidate) {
                true => oracle.holds_as(&kind, candidate, host),
                false => Ok(false),
            };
            held.unwrap_or_else(|found| {
                trouble = Some(found);
                false
            })
        });
        if shows {
            cli::print_error(host, "\r");
        }
        if let Some(trouble) = trouble {
            return Err(stop(host, &trouble));
        }
        let formats = &oracle.session().formats;
        let emitted = emit(formats, &reduced.graph, oracle.format, args.to);
        let emitted = emitted.map_err(|found| refuse(host, &found, file, args))?;
        cli::print_error(host, &summary(before, &reduced));
        Ok(emitted.text)
    }

    /// The first bad rewrite, in words.
    ///
    /// Errors: the exit code, after the reason has been reported.
    fn bisected(&self, host: &mut dyn Host) -> Result<String, u8> {
        let found = suspect::first_bad(self.graph, self.file, self.oracle, host);
        let found = found.map_err(|trouble| stop(host, &trouble))?;
        Ok(found.text(
            &self.args.pipeline.text(),
            &self.oracle.optimiser.rewriting_flags(),
            self.file.name(),
        ))
    }
}

/// The ops of a module, those of bodies included.
fn ops(g: &Graph) -> usize {
    g.walk().count()
}

fn summary(before: usize, reduced: &Reduced) -> String {
    let Reduced {
        graph,
        trials,
        kept,
        stopped,
    } = reduced;
    let after = ops(graph);
    let mut text = format!(
        "note: {before} ops are {after} now: {kept} of {trials} smaller modules were interesting\n"
    );
    if *stopped {
        text.push_str("note: `--trials` was reached; run it on the result to go on\n");
    }
    text
}

fn stop(host: &mut dyn Host, trouble: &Trouble) -> u8 {
    cli::print_error(host, &format!("error: {trouble}\n"));
    REJECTED
}

fn refuse(host: &mut dyn Host, found: &Diagnostics, file: &SourceFile, args: &Args) -> u8 {
    cli::report(host, found, file, args.form);
    REJECTED
}
