//! `mind-opt`: verifies, optimises and prints modules.
//!
//! This file parses the arguments, runs the pipeline and prints the result. Other modes and reports have their own
//! modules: `check_rules`, `diff`, `egraph` (`--dump-egraph`), `listing`, `remarks`, `report` and `timing`. `mlir`
//! translates options of mlir-opt, `chunks` and `expected` implement `--split-input-file` and `--verify-diagnostics`,
//! `reproducer` writes crash reproducers, and `rewrites` and `watch` observe the passes.

mod args;
#[cfg_attr(not(feature = "egraph"), path = "check_rules/absent.rs")]
mod check_rules;
mod chunks;
mod diff;
#[cfg_attr(not(feature = "egraph"), path = "egraph/absent.rs")]
mod egraph;
mod expected;
mod listing;
#[cfg_attr(not(feature = "mil"), path = "mil/absent.rs")]
mod mil;
pub mod mlir;
mod remarks;
#[cfg_attr(not(feature = "report"), path = "report/absent.rs")]
mod report;
mod reproducer;
mod rewrites;
mod timing;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use clap::ArgMatches;
use mind_cli::{DONE, DiagnosticFormat, REJECTED, ToolInfo, USAGE};
use mind_cli::{binary, constants, output, rules};
use mind_diag::{Diagnostic, Diagnostics, SourceFile, Span};
use mind_driver::emit::emit;
use mind_driver::failure;
use mind_driver::formats::{Format, FormatInfo, LoadOptions, WriteBinary};
use mind_driver::history;
use mind_driver::host::Host;
use mind_driver::interface::left_out;
use mind_driver::load::{Parsed, WithoutText, decode, parse, verified, warnings, without_text};
use mind_driver::session::{PASSES, Session};
use mind_ir::Graph;
use mind_ir::verify::VerifyConfig;
use mind_pass::{
    Failure, Manager, PassError, Pipeline, RewriteOptions, RuleCounts, RunCache, Statistics,
    parse_pipeline,
};

use report::{Recording, Subject};
use rewrites::Rewrites;
use watch::{Printing, Timed, Watch};

/// The tool.
pub const TOOL: ToolInfo = ToolInfo {
    name: "mind-opt",
    run,
    command,
};

/// Returns the command line of the tool.
pub fn command() -> clap::Command {
    args::command()
}

/// Runs the tool; see `--help`.
pub fn run(args: &[String], host: &mut dyn Host) -> u8 {
    let args = match mlir::translated(args, &args::command()) {
        Ok(args) => args,
        Err(message) => return mind_cli::usage_error(host, &message),
    };
    let matches = match mind_cli::parse(args::command(), &args, host) {
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

/// Processes a module as the command line specifies.
///
/// # Errors
///
/// Returns the exit code; errors have been reported.
fn optimise(matches: &ArgMatches, session: &Session, host: &mut dyn Host) -> Result<u8, u8> {
    let mut pipeline = args::pipeline(matches, host)?;
    if let Some(code) = diff::run(matches, &pipeline, session, host) {
        return Ok(code);
    }
    check_names(matches, host)?;
    let bytes = requested_bytes(matches, host)?;
    let mut options = mind_cli::load_options(matches);
    options.bound = constants::read(matches, options.limits.bytes, host)?;
    // MIL has no integer dot products.
    options.keeps_dequantized = mil::is_lowered_to(&pipeline);
    let asked = rules::read(matches, host, &options.limits)?;
    let path = matches
        .get_one::<String>("FILE")
        .map_or("-", String::as_str);
    let name = mind_cli::input_name(path);
    let format = DiagnosticFormat::of(matches);
    let given = mind_cli::read_module(host, path, &options)?;
    let whole = match given.options.from {
        Some(row) => without_text(row, name, given.bytes, &given.options),
        None => Err(given.bytes),
    };
    let (file, whole) = match whole {
        Ok(WithoutText {
            file,
            format,
            graph,
            warnings,
        }) => (file, Some((format, graph, warnings))),
        Err(bytes) => {
            let limits = given
                .options
                .from
                .map_or(options.limits, |row| row.limits(&options.limits));
            let text = decode(name, bytes, &limits).map_err(|rejected| {
                mind_cli::report(host, &rejected.diagnostics, &rejected.file, format);
                REJECTED
            })?;
            (SourceFile::new(name, text), None)
        }
    };
    let reads_dims = given.options.from.is_some_and(FormatInfo::reads_dims);
    if !given.options.dims.is_empty() && !reads_dims {
        let message = "`--dim` is for ONNX models and StableHLO; `--specialize=dims=NAME:EXTENT` gives the extents of other modules";
        return Err(mind_cli::usage_error(host, message));
    }
    let mut rewriting = RewriteOptions::default();
    if matches.get_flag("run-reproducer") {
        (pipeline, rewriting) = reproduced(&file, host)?;
    }
    rewriting.append(asked);
    let shared = RunCache::default();
    let rewrites = Rewrites::from_args(matches, &file, &rewriting);
    let rewrites = rewrites.map_err(|message| mind_cli::usage_error(host, &message))?;
    let named = rewrites.named();
    rules::prepare(&rewriting, &named, &session.registry, &shared, format, host)?;
    rules::admit(&rewriting, session, format, host)?;
    let run = Run {
        matches,
        session,
        pipeline: &pipeline,
        rewriting: &rewriting,
        shared: &shared,
        options: given.options,
        file: &file,
        path: &given.path,
        bytes,
    };
    Ok(run.all(whole, rewrites, host))
}

/// Checks the extensions of the files that are written besides the module.
///
/// # Errors
///
/// Returns the exit code after reporting a wrong extension.
fn check_names(matches: &ArgMatches, host: &mut dyn Host) -> Result<(), u8> {
    let page = report::path(matches);
    let page = page.map_or(Ok(()), |path| {
        output::check_name(path, "a page", &["html", "htm"])
    });
    let report = match output::file(matches) {
        Some(path) => mil::check_report_name(matches, path),
        None => Ok(()),
    };
    page.and(report)
        .map_err(|message| mind_cli::usage_error(host, &message))
}

/// Returns the writer and path of a binary output format; `None` for a text format.
///
/// # Errors
///
/// Returns the exit code after reporting arguments that cannot be combined.
fn requested_bytes(
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<Option<(WriteBinary, String)>, u8> {
    let output = args::output(matches);
    let row = match mil::is_report(matches) {
        true => output.to,
        false => output::format(&output, None, host)?,
    };
    let refused = |host: &mut dyn Host, message: &str| Err(mind_cli::usage_error(host, message));
    let Some(write) = row.and_then(FormatInfo::binary) else {
        return match binary::given(matches) {
            Some(name) => refused(host, &format!("`--{name}` applies only to `--to onnx`")),
            None => Ok(None),
        };
    };
    if matches.get_flag("split-input-file") || mil::is_report(matches) {
        let message = "`--split-input-file` and `--ane-report` print text, but an ONNX model is a binary file";
        return refused(host, message);
    }
    Ok(Some((write, binary::output(matches, host)?)))
}

/// Handles the arguments that need no module.
fn list(matches: &ArgMatches, session: &Session, host: &mut dyn Host) -> Option<u8> {
    if matches.get_flag("lit-features") {
        mind_cli::print(host, listing::lit_features());
        return Some(DONE);
    }
    if matches.get_flag("show-dialects") {
        mind_cli::print(host, &listing::dialects(&session.registry));
        return Some(DONE);
    }
    let listed = match matches.get_one::<String>("list-rules") {
        Some(wanted) => match listing::requested_rules(matches, session, wanted, host) {
            Ok(listed) => listed,
            Err(code) => return Some(code),
        },
        None => listing::passes(matches.get_one::<String>("list-passes")?),
    };
    Some(match listed {
        Ok(text) => {
            mind_cli::print(host, &text);
            DONE
        }
        Err(message) => mind_cli::usage_error(host, &message),
    })
}

/// Reads the pipeline and the rewrite options of a reproducer.
///
/// # Errors
///
/// Returns the exit code after reporting the failure.
fn reproduced(file: &SourceFile, host: &mut dyn Host) -> Result<(Pipeline, RewriteOptions), u8> {
    let Some(read) = reproducer::read(file.text()) else {
        mind_cli::print_error(
            host,
            &format!("error: {} is not a reproducer\n", file.name()),
        );
        return Err(REJECTED);
    };
    match parse_pipeline(read.pipeline, &PASSES) {
        Ok(pipeline) => Ok((pipeline, read.rewriting)),
        Err(found) => {
            let file = SourceFile::new("<pipeline of the reproducer>", read.pipeline);
            mind_cli::report(host, &found, &file, DiagnosticFormat::Text);
            Err(USAGE)
        }
    }
}

/// A module read from a binary file, with the format it is equivalent to, and its warnings.
type Whole = (&'static FormatInfo, Result<Graph, Diagnostics>, Diagnostics);

/// One run of the tool on a file.
struct Run<'a> {
    matches: &'a ArgMatches,
    session: &'a Session,
    pipeline: &'a Pipeline,
    rewriting: &'a RewriteOptions,
    shared: &'a RunCache,
    options: LoadOptions,
    file: &'a SourceFile,
    /// The path of the file; weight files are relative to its folder.
    path: &'a str,
    /// The writer and path of a binary output format.
    bytes: Option<(WriteBinary, String)>,
}

/// The accumulated results of the parts of a file.
struct Outcome<'a> {
    printed: Vec<String>,
    /// The serialized module of a binary format.
    written: Option<binary::Written>,
    found: Diagnostics,
    statistics: Statistics,
    times: Vec<Timed>,
    steps: usize,
    rewrites: Rewrites<'a>,
    /// The output of `--explain`.
    explained: String,
    /// The page of `--report`.
    report: String,
}

impl<'a> Run<'a> {
    /// Processes a module read from a binary file, or else the parts of the text; returns the exit code.
    fn all(&self, mut whole: Option<Whole>, rewrites: Rewrites<'a>, host: &mut dyn Host) -> u8 {
        let mut outcome = Outcome {
            printed: Vec::new(),
            written: None,
            found: Diagnostics::new(),
            statistics: Statistics::default(),
            times: Vec::new(),
            steps: 0,
            rewrites,
            explained: String::new(),
            report: String::new(),
        };
        let text = self.file.text();
        let parts = if whole.is_none() && self.matches.get_flag("split-input-file") {
            chunks::chunks(text)
        } else {
            std::iter::once(0..text.len()).collect()
        };
        for part in parts {
            self.part(part, whole.take(), &mut outcome, host);
        }
        outcome.rewrites.remarks.take(&mut outcome.found);
        if self.matches.get_flag("verify-diagnostics") {
            return self.check_expected(&outcome.found, host);
        }
        mind_cli::report(
            host,
            &outcome.found,
            self.file,
            DiagnosticFormat::of(self.matches),
        );
        mind_cli::print_error(host, &outcome.rewrites.listing);
        if outcome.found.has_errors() {
            return REJECTED;
        }
        mind_cli::print_error(host, &outcome.explained);
        if let Err(code) = self.draw(&outcome.rewrites, host) {
            return code;
        }
        if let Some(path) = report::path(self.matches)
            && mind_cli::write_output(host, Some(path), &outcome.report) != DONE
        {
            return REJECTED;
        }
        let code = match &outcome.written {
            Some(written) => written.store(host),
            None => {
                let text = chunks::join(&outcome.printed);
                mind_cli::write_output(host, self.matches.get_one("output"), &text)
            }
        };
        self.report_numbers(&outcome, host);
        code
    }

    /// Writes the drawing of `--dump-egraph`.
    ///
    /// # Errors
    ///
    /// Returns the exit code if no region was drawn or the file cannot be written.
    fn draw(&self, rewrites: &Rewrites<'_>, host: &mut dyn Host) -> Result<(), u8> {
        let Some(path) = egraph::path(self.matches) else {
            return Ok(());
        };
        let drawn = rewrites.drawing.as_ref();
        let Some(text) = drawn.and_then(|drawing| drawing.text.as_ref()) else {
            let help = "only `fold` and `fuse` build e-graphs, one per region of some hundred ops";
            mind_cli::print_error(
                host,
                &format!("error: the region to draw does not exist: {help}\n"),
            );
            return Err(REJECTED);
        };
        match mind_cli::write_output(host, Some(path), text) {
            DONE => Ok(()),
            code => Err(code),
        }
    }

    fn part(
        &self,
        part: std::ops::Range<usize>,
        whole: Option<Whole>,
        outcome: &mut Outcome<'a>,
        host: &mut dyn Host,
    ) {
        let printing = Printing::of(self.matches);
        let keep = self.matches.contains_id("pass-pipeline-crash-reproducer");
        let formats = &self.session.formats;
        outcome.rewrites.history.clear();
        let rewrites = &mut outcome.rewrites;
        let mut watch = Watch::new(host, rewrites, formats, &printing, keep, outcome.steps);
        watch.recording = report::recording(self.matches);
        let text = &self.file.text()[part.clone()];
        let parsed = match whole {
            Some((format, graph, warnings)) => verified(graph, &self.options).map(|graph| Parsed {
                format,
                graph,
                warnings,
            }),
            None => parse(formats, text, part.start as u32, &self.options),
        };
        watch.mark("parse and verify");
        let Parsed {
            format,
            graph: mut g,
            warnings: own,
        } = match parsed {
            Ok(parsed) => parsed,
            Err(found) => return outcome.found.append(found),
        };
        outcome.found.append(own);
        outcome.found.append(warnings(format, &g));
        outcome
            .found
            .append(mind_driver::mil::left_out(self.pipeline, &g));
        if let Err(found) = mil::read_weights(self.pipeline, &mut g, self.path, watch.host) {
            return outcome.found.append(found);
        }
        if let Err(found) = self.passes(&mut g, &mut watch, &mut outcome.statistics) {
            return outcome.found.append(found);
        }
        if let Some(mut recording) = watch.recording.take() {
            recording.finish(formats, &g);
            outcome.report = self.report(&recording, &watch.rewrites.history, &|| watch.host.now());
            watch.mark("report");
        }
        if let Some(report) = mil::report(self.matches, &g) {
            match report {
                Ok(text) => outcome.printed.push(text),
                Err(error) => outcome.found.push(error),
            }
            return;
        }
        // Names without a format were rejected before reading.
        let row = args::output(self.matches).format(Some(format));
        let row = row.ok().flatten();
        let wanted = row.and_then(FormatInfo::text);
        let printed = match &self.bytes {
            Some((write, path)) => {
                let note = row.and_then(|row| left_out(row, &g));
                note.into_iter().for_each(|note| outcome.found.push(note));
                let written = binary::written(*write, &g, path, self.matches);
                written.map(|mut written| {
                    outcome.found.append(std::mem::take(&mut written.notes));
                    outcome.written = Some(written);
                    Format::Core
                })
            }
            None => emit(formats, &g, format, wanted).map(|emitted| {
                outcome.printed.push(emitted.text);
                outcome.found.append(emitted.warnings);
                emitted
                    .note
                    .into_iter()
                    .for_each(|note| outcome.found.push(note));
                emitted.format
            }),
        };
        match printed.map(|format| watch.rewrites.explanation(&g, format)) {
            Ok(Ok(text)) => outcome.explained.push_str(&text),
            Ok(Err(message)) => outcome.found.push(Diagnostic::error(Span::FILE, message)),
            Err(found) => outcome.found.append(found),
        }
        watch.mark("print");
        let printing = Timed {
            name: "print between passes".into(),
            time: watch.printing_time,
            cpu: None,
        };
        outcome.steps = watch.step;
        outcome.times.append(&mut watch.times);
        outcome.times.push(printing);
    }

    /// Returns the page of `--report`.
    fn report(
        &self,
        recording: &Recording,
        rewrites: &[history::Record],
        now: &dyn Fn() -> Duration,
    ) -> String {
        let rules = mind_transforms::rules(&self.session.registry, self.rewriting);
        report::page(&Subject {
            file: self.file,
            pipeline: self.pipeline.text(),
            recording,
            rewrites,
            rules: rules.as_ref().ok(),
            now,
        })
    }

    /// Runs the passes; a failure is also written to the crash reproducer, if one is requested.
    fn passes(
        &self,
        g: &mut Graph,
        watch: &mut Watch<'_, '_>,
        statistics: &mut Statistics,
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
        let run = || manager.run(self.pipeline, g, statistics, watch);
        let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            let failure = self.crashed(watch);
            if reproducer.is_none() {
                mind_cli::print_error(watch.host, &internal_error(watch.rewrites, self.file));
                resume_unwind(panic);
            }
            Err(failure)
        });
        let Err(failure) = result else { return Ok(()) };
        if let Some(path) = reproducer {
            let left = self.pipeline.steps.get(watch.done..).unwrap_or_default();
            let version = env!("CARGO_PKG_VERSION");
            let text = reproducer::render(&watch.input, left, self.rewriting, version, path);
            let written = watch
                .host
                .write(std::path::Path::new(path), text.as_bytes());
            match written {
                Ok(()) => {
                    let path = mind_cli::shell_word(path);
                    mind_cli::note(
                        watch.host,
                        &format!("replay with: mind-opt --run-reproducer {path}"),
                    );
                }
                Err(error) => {
                    mind_cli::print_error(watch.host, &format!("error: {path}: {error}\n"))
                }
            }
        }
        Err(failure::diagnostics(failure))
    }

    /// Returns the failure for a panic in a pass.
    fn crashed(&self, watch: &Watch<'_, '_>) -> Failure {
        let step = self.pipeline.steps.get(watch.done);
        let pass = step.map_or("the pipeline", |step| step.pass.name);
        let message = "it crashed; this is a bug of the compiler";
        Failure::Pass {
            pass,
            error: PassError::Rejected(Box::new(Diagnostic::error(watch.rewrites.at, message))),
        }
    }

    fn check_expected(&self, found: &Diagnostics, host: &mut dyn Host) -> u8 {
        match expected::check(self.file, found) {
            Ok(()) => DONE,
            Err(differences) => {
                differences
                    .iter()
                    .for_each(|line| mind_cli::print_error(host, &format!("{line}\n")));
                REJECTED
            }
        }
    }

    fn report_numbers(&self, outcome: &Outcome<'_>, host: &mut dyn Host) {
        if let Some(form) = self.matches.get_one::<String>("timing") {
            let pipeline = self.pipeline.text();
            let rules = &outcome.rewrites.times;
            let text = match form.as_str() {
                "json" => timing::trace(&outcome.times, rules, &pipeline),
                _ => timing::table(&outcome.times, rules, &pipeline),
            };
            mind_cli::print_error(host, &text);
        }
        if let Some(form) = self.matches.get_one::<String>("stats") {
            mind_cli::print_error(
                host,
                &render_statistics(&outcome.statistics, form == "json"),
            );
        }
    }
}

/// Returns the message for a panic in a pass without a crash reproducer.
fn internal_error(rewrites: &Rewrites<'_>, file: &SourceFile) -> String {
    let place = history::place_text(file, rewrites.at);
    format!(
        "internal error: `{}` crashed near {place}; this is a bug of the compiler\n\
         note: `--pass-pipeline-crash-reproducer=FILE` writes a file that replays it; please report it\n",
        rewrites.pass
    )
}

fn render_statistics(statistics: &Statistics, json: bool) -> String {
    if json {
        let counts = statistics.iter().map(
            |(pass, name, count)| serde_json::json!({"pass": pass, "name": name, "count": count}),
        );
        let rules = statistics.rules().map(|(pass, rule, counts)| {
            serde_json::json!({
                "pass": pass,
                "rule": rule,
                "matched": counts.matched,
                "applied": counts.applied,
                "refused": counts.refused,
                "chosen": counts.chosen,
                "saved_ps": counts.saved,
            })
        });
        let rows: Vec<_> = counts.chain(rules).collect();
        return format!("{}\n", serde_json::Value::from(rows));
    }
    let row = |(pass, name, count)| format!("{count:>10}  {pass}  {name}\n");
    let mut out: String = statistics.iter().map(row).collect();
    if statistics.rules().next().is_some() {
        out.push_str("   matched   applied   refused    chosen      saved ps\n");
    }
    for (pass, rule, counts) in statistics.rules() {
        let RuleCounts {
            matched,
            applied,
            refused,
            chosen,
            saved,
        } = counts;
        out.push_str(&format!(
            "{matched:>10}{applied:>10}{refused:>10}{chosen:>10}{saved:>14}  {pass}  {rule}\n"
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use mind_driver::host::FileSystem;
    use mind_pass::{Changed, Options, Pass, PassCx, PassInfo, Step};

    use super::*;

    struct Crash;

    impl Pass for Crash {
        fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
            let last = g.ops(g.body()).next_back();
            cx.watch.visit(last.map_or(Span::FILE, |op| g.span(op)));
            panic!("a planted crash");
        }
    }

    static CRASH: PassInfo = PassInfo {
        name: "crash",
        alias: None,
        summary: "Panics",
        example: "--crash",
        options: &[],
        enters_regions: false,
        make: |_| Box::new(Crash),
    };

    #[derive(Default)]
    struct Memory {
        stdout: Vec<u8>,
        stderr: Vec<u8>,
        written: Vec<u8>,
    }

    impl FileSystem for Memory {
        fn read(&mut self, _: &Path, _: u64) -> std::io::Result<Vec<u8>> {
            Err(std::io::ErrorKind::NotFound.into())
        }

        fn read_stdin(&mut self, _: u64) -> std::io::Result<Vec<u8>> {
            Ok(Vec::new())
        }

        fn write(&mut self, _: &Path, bytes: &[u8]) -> std::io::Result<()> {
            self.written = bytes.to_owned();
            Ok(())
        }

        fn create_dir(&mut self, _: &Path) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Host for Memory {
        fn stdout(&mut self) -> &mut dyn std::io::Write {
            &mut self.stdout
        }

        fn stderr(&mut self) -> &mut dyn std::io::Write {
            &mut self.stderr
        }

        fn now(&self) -> Duration {
            Duration::ZERO
        }

        fn stderr_is_terminal(&self) -> bool {
            false
        }
    }

    /// Runs `cse`, a crashing pass and `dce` on a small module; returns the exit code, or `None` if it panicked, and
    /// the host.
    fn crash(args: &[&str]) -> (Option<u8>, Memory) {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let mut host = Memory::default();
        let matches = mind_cli::parse(args::command(), &args, &mut host).expect("arguments");
        let text = "%0 = Input {name=x} : tensor<f32[4]>\n%1 = Neg (%0)\noutputs: %1\n";
        let file = SourceFile::new("m.core", text);
        let mut pipeline = parse_pipeline("cse,dce", &PASSES).expect("a pipeline");
        let options = Options::new(&CRASH, &[]);
        pipeline.steps.insert(
            1,
            Step {
                pass: &CRASH,
                options,
            },
        );
        let session = Session::default();
        let (rewriting, shared) = (RewriteOptions::default(), RunCache::default());
        let rewrites = Rewrites::from_args(&matches, &file, &rewriting).expect("arguments");
        let run = Run {
            matches: &matches,
            session: &session,
            pipeline: &pipeline,
            rewriting: &rewriting,
            shared: &shared,
            options: mind_cli::load_options(&matches),
            file: &file,
            path: "m.core",
            bytes: None,
        };
        let code = catch_unwind(AssertUnwindSafe(|| run.all(None, rewrites, &mut host)));
        (code.ok(), host)
    }

    #[test]
    fn a_crash_names_pass_and_place_and_goes_on() {
        let (code, host) = crash(&["-"]);
        assert_eq!(code, None, "the panic goes on");
        let stderr = String::from_utf8(host.stderr).unwrap();
        assert!(
            stderr.contains("internal error: `crash` crashed near m.core:3"),
            "{stderr}"
        );
        assert!(
            stderr.contains("--pass-pipeline-crash-reproducer=FILE"),
            "{stderr}"
        );
        assert!(host.stdout.is_empty());
    }

    #[test]
    fn a_reproducer_holds_the_pass_that_crashed_and_those_after_it() {
        let (code, host) = crash(&["--pass-pipeline-crash-reproducer=r.core", "-"]);
        assert_eq!(code, Some(REJECTED));
        let stderr = String::from_utf8(host.stderr).unwrap();
        assert!(stderr.contains("`crash` failed: it crashed"), "{stderr}");
        let written = String::from_utf8(host.written).unwrap();
        assert!(written.contains("# pipeline: crash,dce\n"), "{written}");
    }
}
