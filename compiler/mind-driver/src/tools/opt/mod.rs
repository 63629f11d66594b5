//! `mind-opt`: verify, optimise, print.

mod args;
mod check_rules;
mod chunks;
mod expected;
mod listing;
mod reproducer;
mod rules;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::ArgMatches;
use mind_diag::{Diagnostic, Diagnostics, SourceFile, Span};
use mind_ir::Graph;
use mind_ir::verify::VerifyConfig;
use mind_pass::{
    Failure, Manager, PassError, Pipeline, Rewriting, Shared, Statistics, parse_pipeline,
};
use mind_text::Format;

use super::cli::{self, DONE, DiagnosticFormat, REJECTED, USAGE};
use crate::emit::emit;
use crate::host::Host;
use crate::load::{LoadOptions, decode, parse_and_verify};
use crate::session::{PASSES, Session};
use watch::{Printing, Timed, Watch};

/// Runs the tool; see `--help`.
pub fn run(args: &[String], host: &mut dyn Host) -> u8 {
    let matches = match cli::parse(args::command(), args, host) {
        Ok(matches) => matches,
        Err(code) => return code,
    };
    let session = Session::default();
    if let Some(code) = list(&matches, &session, host) {
        return code;
    }
    if let Some(code) = check_rules::run(&matches, &session, host) {
        return code;
    }
    match optimise(&matches, &session, host) {
        Ok(code) | Err(code) => code,
    }
}

/// Does what the command line asks for with a module, and gives the exit code. Errors too are printed.
fn optimise(matches: &ArgMatches, session: &Session, host: &mut dyn Host) -> Result<u8, u8> {
    let mut pipeline = args::pipeline(matches, host)?;
    let options = cli::load_options(matches);
    let asked = rules::read(matches, host, &options.limits)?;
    let path = matches
        .get_one::<String>("FILE")
        .map_or("-", String::as_str);
    let name = cli::input_name(path);
    let format = DiagnosticFormat::of(matches);
    let bytes = cli::read_input(host, path, options.limits.bytes)?;
    let text = decode(name, bytes, &options.limits).map_err(|rejected| {
        cli::report(host, &rejected.diagnostics, &rejected.file, format);
        REJECTED
    })?;
    let file = SourceFile::new(name, text);
    let mut rewriting = Rewriting::default();
    if matches.get_flag("run-reproducer") {
        (pipeline, rewriting) = reproduced(&file, host)?;
    }
    rewriting.append(asked);
    let shared = Shared::default();
    rules::prepare(&rewriting, &session.registry, &shared, format, host)?;
    check_rules::admit(&rewriting, session, format, host)?;
    let run = Run {
        matches,
        session,
        pipeline: &pipeline,
        rewriting: &rewriting,
        shared: &shared,
        options,
        file: &file,
    };
    Ok(run.all(host))
}

/// Answers the arguments that need no module.
fn list(matches: &ArgMatches, session: &Session, host: &mut dyn Host) -> Option<u8> {
    if matches.get_flag("lit-features") {
        cli::print(host, listing::lit_features());
        return Some(DONE);
    }
    if matches.get_flag("show-dialects") {
        cli::print(host, &listing::dialects(&session.registry));
        return Some(DONE);
    }
    let listed = match matches.get_one::<String>("list-rules") {
        Some(wanted) => match rules::listed(matches, session, wanted, host) {
            Ok(listed) => listed,
            Err(code) => return Some(code),
        },
        None => listing::passes(matches.get_one::<String>("list-passes")?),
    };
    Some(match listed {
        Ok(text) => {
            cli::print(host, &text);
            DONE
        }
        Err(message) => cli::usage_error(host, &message),
    })
}

/// The pipeline inside a reproducer and what was asked of rewriting, or the exit code after the failure
/// has been printed.
fn reproduced(file: &SourceFile, host: &mut dyn Host) -> Result<(Pipeline, Rewriting), u8> {
    let Some(read) = reproducer::read(file.text()) else {
        cli::print_error(
            host,
            &format!("error: {} is not a reproducer\n", file.name()),
        );
        return Err(REJECTED);
    };
    match parse_pipeline(read.pipeline, &PASSES) {
        Ok(pipeline) => Ok((pipeline, read.rewriting)),
        Err(found) => {
            let file = SourceFile::new("<pipeline of the reproducer>", read.pipeline);
            cli::report(host, &found, &file, DiagnosticFormat::Text);
            Err(USAGE)
        }
    }
}

/// One call of the tool on a file.
struct Run<'a> {
    matches: &'a ArgMatches,
    session: &'a Session,
    pipeline: &'a Pipeline,
    rewriting: &'a Rewriting,
    shared: &'a Shared,
    options: LoadOptions,
    file: &'a SourceFile,
}

/// What the parts of a file came to.
#[derive(Default)]
struct Outcome {
    printed: Vec<String>,
    found: Diagnostics,
    statistics: Statistics,
    times: Vec<Timed>,
    steps: usize,
}

impl Run<'_> {
    fn all(&self, host: &mut dyn Host) -> u8 {
        let mut outcome = Outcome::default();
        let text = self.file.text();
        let parts = match self.matches.get_flag("split-input-file") {
            true => chunks::chunks(text),
            false => std::iter::once(0..text.len()).collect(),
        };
        for part in parts {
            self.part(part, &mut outcome, host);
        }
        if self.matches.get_flag("verify-diagnostics") {
            return self.check_expected(&outcome.found, host);
        }
        cli::report(
            host,
            &outcome.found,
            self.file,
            DiagnosticFormat::of(self.matches),
        );
        if outcome.found.has_errors() {
            return REJECTED;
        }
        let text = chunks::join(&outcome.printed);
        let code = cli::write_output(host, self.matches.get_one("output"), &text);
        self.report_numbers(&outcome, host);
        code
    }

    fn part(&self, part: std::ops::Range<usize>, outcome: &mut Outcome, host: &mut dyn Host) {
        let printing = Printing::of(self.matches);
        let keep = self.matches.contains_id("pass-pipeline-crash-reproducer");
        let formats = &self.session.formats;
        let mut watch = Watch::new(host, formats, &printing, keep, outcome.steps);
        let text = &self.file.text()[part.clone()];
        let parsed = parse_and_verify(formats, text, part.start as u32, &self.options);
        watch.mark("parse and verify");
        let (format, mut g) = match parsed {
            Ok(parsed) => parsed,
            Err(found) => return outcome.found.append(found),
        };
        if let Err(found) = self.passes(&mut g, &mut watch, outcome) {
            return outcome.found.append(found);
        }
        let wanted = self
            .matches
            .get_one::<String>("to")
            .and_then(|name| Format::parse(name));
        match emit(formats, &g, format, wanted) {
            Ok(emitted) => {
                outcome.printed.push(emitted.text);
                emitted
                    .note
                    .into_iter()
                    .for_each(|note| outcome.found.push(note));
            }
            Err(found) => outcome.found.append(found),
        }
        watch.mark("print");
        let printing = Timed {
            name: "print between passes".into(),
            time: watch.printing_time,
        };
        outcome.steps = watch.step;
        outcome.times.append(&mut watch.times);
        outcome.times.push(printing);
    }

    /// Runs the passes; a failure is also written to the reproducer, where one is asked for.
    fn passes(
        &self,
        g: &mut Graph,
        watch: &mut Watch<'_>,
        outcome: &mut Outcome,
    ) -> Result<(), Diagnostics> {
        let manager = Manager {
            registry: &self.session.registry,
            verify_each: self
                .matches
                .get_one::<String>("verify-each")
                .is_none_or(|on| on == "true"),
            verify: VerifyConfig {
                profile: self.options.profile,
            },
            rewriting: self.rewriting,
            shared: self.shared,
        };
        let reproducer = self
            .matches
            .get_one::<String>("pass-pipeline-crash-reproducer");
        let (statistics, remarks) = (&mut outcome.statistics, &mut outcome.found);
        let result = match reproducer {
            None => manager.run(self.pipeline, g, statistics, remarks, watch),
            Some(_) => {
                let run = || manager.run(self.pipeline, g, statistics, remarks, watch);
                catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(crashed(self.pipeline)))
            }
        };
        let Err(failure) = result else { return Ok(()) };
        if let Some(path) = reproducer {
            let left = self.pipeline.steps.get(watch.done..).unwrap_or_default();
            let version = env!("CARGO_PKG_VERSION");
            let text = reproducer::render(&watch.input, left, self.rewriting, version, path);
            let written = watch
                .host
                .write(std::path::Path::new(path), text.as_bytes());
            let message = match written {
                Ok(()) => format!("note: replay with: mind-opt --run-reproducer {path}\n"),
                Err(error) => format!("error: {path}: {error}\n"),
            };
            cli::print_error(watch.host, &message);
        }
        Err(failure_diagnostics(failure))
    }

    fn check_expected(&self, found: &Diagnostics, host: &mut dyn Host) -> u8 {
        match expected::check(self.file, found) {
            Ok(()) => DONE,
            Err(differences) => {
                differences
                    .iter()
                    .for_each(|line| cli::print_error(host, &format!("{line}\n")));
                REJECTED
            }
        }
    }

    fn report_numbers(&self, outcome: &Outcome, host: &mut dyn Host) {
        if let Some(form) = self.matches.get_one::<String>("timing") {
            let pipeline = self.pipeline.text();
            let text = watch::render_times(&outcome.times, &pipeline, form == "json");
            cli::print_error(host, &text);
        }
        if let Some(form) = self.matches.get_one::<String>("stats") {
            cli::print_error(
                host,
                &render_statistics(&outcome.statistics, form == "json"),
            );
        }
    }
}

/// The failure that stands for a panic inside a pass.
fn crashed(pipeline: &Pipeline) -> Failure {
    let pass = pipeline
        .steps
        .last()
        .map_or("the pipeline", |step| step.pass.name);
    let diagnostic = Diagnostic::error(Span::FILE, "a pass crashed; this is a bug of the compiler");
    Failure::Pass {
        pass,
        error: PassError::Rejected(Box::new(diagnostic)),
    }
}

fn failure_diagnostics(failure: Failure) -> Diagnostics {
    match failure {
        Failure::Pass {
            pass: _,
            error: PassError::Rejected(diagnostic),
        } => (*diagnostic).into(),
        Failure::Pass { pass, error } => {
            Diagnostic::error(Span::FILE, format!("`{pass}` failed: {error}")).into()
        }
        Failure::Invalid { pass, mut found } => {
            let message = format!("`{pass}` left a module that breaks the rules below");
            let help = "this is a bug of the compiler; please report it with the input";
            found.push(Diagnostic::error(Span::FILE, message).help(help));
            found.sort_by_place();
            found
        }
    }
}

fn render_statistics(statistics: &Statistics, json: bool) -> String {
    if json {
        let rows: Vec<_> = statistics
            .iter()
            .map(|(pass, name, count)| serde_json::json!({"pass": pass, "name": name, "count": count}))
            .collect();
        return format!("{}\n", serde_json::Value::from(rows));
    }
    let row = |(pass, name, count)| format!("{count:>10}  {pass}  {name}\n");
    statistics.iter().map(row).collect()
}
