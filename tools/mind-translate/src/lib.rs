//! `mind-translate`: translates modules and models between formats.

mod args;
mod model;
mod object;
mod tokens;

use clap::ArgMatches;
use clap::parser::ValueSource;
use mind_cli::{DONE, DiagnosticFormat, REJECTED, ToolInfo, USAGE, constants, output};
use mind_diag::{Diagnostics, SourceFile};
use mind_draw::Detail;
use mind_driver::failure;
use mind_driver::formats::{Format, FormatInfo, Read, Write, WriteOptions, described};
use mind_driver::host::Host;
use mind_driver::interface::left_out;
use mind_driver::load::{Loaded, load_module, verified, warnings};
use mind_driver::mil;
use mind_driver::mil::weights;
use mind_driver::patch::{self, Edit, PatchError};
use mind_driver::session::{PASSES, Session};
use mind_ir::Graph;
use mind_ir::listener::NoopListener;
use mind_ir::verify::VerifyConfig;
use mind_mil::check::Interface;
use mind_pass::{Manager, Options, Pipeline, RewriteOptions, RunCache, Statistics, parse_pipeline};
use mind_to_mil::{Extents, Renamed};

/// The tool.
pub const TOOL: ToolInfo = ToolInfo {
    name: "mind-translate",
    run,
    command,
};

/// Returns the command line of the tool.
pub fn command() -> clap::Command {
    args::command()
}

/// Runs the tool; see `--help`.
pub fn run(args: &[String], host: &mut dyn Host) -> u8 {
    match translate(args, host) {
        Ok(code) | Err(code) => code,
    }
}

/// Translates the input.
///
/// # Errors
///
/// Returns the exit code after reporting the error.
fn translate(args: &[String], host: &mut dyn Host) -> Result<u8, u8> {
    let matches = mind_cli::parse(args::command(), args, host)?;
    let word = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let path = word("FILE").unwrap_or("-");
    let options = mind_cli::load_options(&matches);
    let from = options.from.or_else(|| FormatInfo::of_path(path));
    let request = Request {
        from,
        to: requested_format(from, &matches, host)?,
    };
    args::check(&matches, &request).map_err(|why| mind_cli::usage_error(host, &why))?;
    let text = match request.task() {
        Task::Description => {
            let (_, document) = model::read(path, request.from, &matches, host)?;
            mind_irv2::write(&document)
        }
        Task::ModelAsC => model::c_text(path, &matches, host)?,
        Task::Module => return module(path, &request, &matches, host),
    };
    Ok(mind_cli::write_output(host, output::file(&matches), &text))
}

/// Returns the output format of the command line; `None` for the format of the input and for a report.
///
/// # Errors
///
/// Returns the exit code after reporting that no format is selected, or that the extension contradicts `--to`.
fn requested_format(
    from: Option<&'static FormatInfo>,
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<Option<&'static FormatInfo>, u8> {
    if matches.get_flag("token-report") {
        let path = output::file(matches);
        let named = path.map_or(Ok(()), |path| output::check_not_module(path, "a report"));
        return match named {
            Ok(()) => Ok(None),
            Err(message) => Err(mind_cli::usage_error(host, &message)),
        };
    }
    let format = output::format(&args::output(matches), from, host)?;
    if format.is_none() && !matches.contains_id("patch") {
        let message =
            "no output format: use `--to FORMAT`, or an extension of `-o` that selects one";
        return Err(mind_cli::usage_error(host, message));
    }
    Ok(format)
}

/// The formats of a translation.
struct Request {
    /// The input format, if specified by `--from` or by the extension.
    from: Option<&'static FormatInfo>,
    /// The output format, if specified.
    to: Option<&'static FormatInfo>,
}

/// The kind of a translation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    /// A module to another format, or its token report.
    Module,
    /// A description of a model to an IR v2 document.
    Description,
    /// A model to C.
    ModelAsC,
}

impl Request {
    fn task(&self) -> Task {
        let is_description = self.from.map(FormatInfo::is_description);
        match self.write() {
            Some(Write::Description) if is_description != Some(false) => Task::Description,
            Some(Write::C(_)) if is_description == Some(true) => Task::ModelAsC,
            Some(
                Write::Text(_)
                | Write::Program(_)
                | Write::Package
                | Write::Binary(_)
                | Write::C(_)
                | Write::Object(_)
                | Write::Drawing(_)
                | Write::Description,
            )
            | None => Task::Module,
        }
    }

    /// Returns the writer of the output format.
    fn write(&self) -> Option<Write> {
        self.to?.write
    }
}

/// The module that is translated.
struct Input {
    loaded: Loaded,
    /// The path that weight files are relative to.
    weights: String,
}

/// Reads the module at `path`.
///
/// # Errors
///
/// Returns the exit code after reporting the error.
fn load(
    path: &str,
    request: &Request,
    session: &Session,
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<Input, u8> {
    let mut options = mind_cli::load_options(matches);
    // MIL has no integer dot products.
    options.keeps_dequantized |=
        matches!(request.write(), Some(Write::Program(_) | Write::Package));
    let form = DiagnosticFormat::of(matches);
    if let Some(format) = request.from
        && matches!(format.read, Some(Read::Model))
    {
        let (files, document) = model::read(path, Some(format), matches, host)?;
        let file = files.config;
        let graph = verified(described(&document, &options), &options);
        let loaded = Loaded {
            graph: graph.map_err(|found| reject(host, &found, &file, form))?,
            file,
            format,
            warnings: Diagnostics::new(),
        };
        return Ok(Input {
            loaded,
            weights: path.to_owned(),
        });
    }
    options.bound = constants::read(matches, options.limits.bytes, host)?;
    let given = mind_cli::read_module(host, path, &options)?;
    let name = mind_cli::input_name(path);
    let loaded = load_module(&session.formats, name, given.bytes, &given.options);
    let loaded = loaded.map_err(|why| reject(host, &why.diagnostics, &why.file, form))?;
    mind_cli::report(host, &loaded.warnings, &loaded.file, form);
    Ok(Input {
        loaded,
        weights: given.path,
    })
}

/// Translates a module.
///
/// # Errors
///
/// Returns the exit code after reporting the error.
fn module(
    path: &str,
    request: &Request,
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<u8, u8> {
    let session = Session::default();
    let form = DiagnosticFormat::of(matches);
    let output = output::file(matches);
    let Input {
        mut loaded,
        weights,
    } = load(path, request, &session, matches, host)?;
    if matches.get_flag("token-report") {
        let text = tokens::report(&session.formats, &loaded.graph).text();
        return Ok(mind_cli::write_output(host, output, &text));
    }
    if let Some(edits) = matches.get_one::<String>("patch") {
        loaded.graph = patched(&loaded, edits, &session, matches, host)?;
    }
    prepared(&mut loaded, &session, matches, host)?;
    let Loaded {
        file,
        format: input,
        mut graph,
        ..
    } = loaded;
    let own = input.text().unwrap_or(Format::Core).info();
    // If several formats share the extension, that of the input is preferred.
    let asked = output::format(&args::output(matches), Some(input), host)?;
    let format = asked.unwrap_or(own);
    if matches!(format.write, Some(Write::Program(_) | Write::Package)) {
        lower(&mut graph, &session, (&file, format), matches, host)?;
    }
    if let Some(note) = left_out(format, &graph) {
        mind_cli::report(host, &note.into(), &file, form);
    }
    if let Some(Write::Package) = format.write {
        let written = package(&mut graph, &weights, matches, host);
        return written
            .map_err(|found| found.map_or(REJECTED, |found| reject(host, &found, &file, form)));
    }
    if let Some(write) = format.binary() {
        let path = mind_cli::binary::output(matches, host)?;
        let written = mind_cli::binary::written(write, &graph, &path, matches);
        let written = written.map_err(|found| reject(host, &found, &file, form))?;
        mind_cli::report(host, &written.notes, &file, form);
        return Ok(written.store(host));
    }
    if let Some(Write::Object(linking)) = format.write {
        let path = object::output(matches, host)?;
        let written = object::write(&session, graph, (linking, &path), matches, host);
        return written
            .map_err(|found| found.map_or(REJECTED, |found| reject(host, &found, &file, form)));
    }
    let name = matches.get_one::<String>("function");
    let options = WriteOptions {
        name: file.name(),
        input,
        function: name.map_or("module", String::as_str),
        has_main: matches.get_flag("main"),
        detail: if matches.get_flag("all-ops") {
            Detail::Complete
        } else {
            Detail::Folded
        },
    };
    let text = format
        .write
        .and_then(|write| write.text(&session, &graph, &options));
    let Some(text) = text else {
        let why = format!("`--to {}` is not written from a module", format.word);
        return Err(mind_cli::usage_error(host, &why));
    };
    let text = text.map_err(|found| reject(host, &found, &file, form))?;
    if format != input {
        mind_cli::report(host, &warnings(format, &graph), &file, form);
    }
    Ok(mind_cli::write_output(host, output, &text))
}

/// Lowers a module to MIL with the options of the command line.
///
/// # Errors
///
/// Returns the exit code after reporting the error.
fn lower(
    graph: &mut Graph,
    session: &Session,
    (file, format): (&SourceFile, &FormatInfo),
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<(), u8> {
    let mut config = lowering(matches, host)?;
    // The default interface is widened, because packages cannot describe the narrow integers of the neural engine.
    if matches!(format.write, Some(Write::Package)) && !is_given(matches, "io") {
        config.interface = Interface::Any;
    }
    for Renamed { kind, name, legal } in mind_to_mil::renamed(graph) {
        let message =
            format!("{kind} `{name}` is called `{legal}`, because MIL cannot use its own name");
        mind_cli::note(host, &message);
    }
    if config.interface == Interface::Any {
        for (kind, name) in mind_to_mil::truth_values(graph) {
            let message = format!(
                "{kind} `{name}` is int32 in place of bool, because a program neither takes nor gives truth values"
            );
            mind_cli::note(host, &message);
        }
    }
    let lowered = mil::lower(session, graph, &config)
        .map_err(|found| reject(host, &found, file, DiagnosticFormat::of(matches)))?;
    if lowered.doubles > 0 {
        let message = format!(
            "{} ops of f64 are computed in {}, because MIL has no wider float",
            lowered.doubles, config.float
        );
        mind_cli::note(host, &message);
    }
    Ok(())
}

/// Returns whether an option was specified.
fn is_given(matches: &ArgMatches, name: &str) -> bool {
    matches.value_source(name) == Some(ValueSource::CommandLine)
}

/// Applies the extents of `--dim` and runs the passes of `--pass-pipeline`.
///
/// # Errors
///
/// Returns the exit code after reporting the error.
fn prepared(
    loaded: &mut Loaded,
    session: &Session,
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<(), u8> {
    let form = DiagnosticFormat::of(matches);
    let dims = matches.get_many::<(String, usize)>("dim");
    let dims = dims.into_iter().flatten();
    // Some readers have applied them already.
    let dims = dims.filter(|_| !loaded.format.reads_dims());
    let dims: Vec<String> = dims
        .map(|(name, extent)| format!("{name}:{extent}"))
        .collect();
    let specialize = match dims.as_slice() {
        [] => None,
        dims => Some(format!("specialize{{dims={}}}", dims.join("+"))),
    };
    let named = matches.get_one::<String>("pass-pipeline").cloned();
    let mut pipeline = Pipeline::default();
    let texts = [("<--dim>", specialize), ("<pass-pipeline>", named)];
    for (name, text) in texts {
        let Some(text) = text else { continue };
        let parsed = parse_pipeline(&text, &PASSES).map_err(|found| {
            mind_cli::report(host, &found, &SourceFile::new(name, text), form);
            USAGE
        })?;
        pipeline.steps.extend(parsed.steps);
    }
    let notes = mil::left_out(&pipeline, &loaded.graph);
    mind_cli::report(host, &notes, &loaded.file, form);
    let manager = Manager {
        registry: &session.registry,
        verify_each: true,
        verify: VerifyConfig {
            profile: mind_cli::load_options(matches).profile,
        },
        rewriting: &RewriteOptions::default(),
        shared: &RunCache::default(),
    };
    let mut statistics = Statistics::default();
    let ran = manager.run(
        &pipeline,
        &mut loaded.graph,
        &mut statistics,
        &mut NoopListener,
    );
    ran.map_err(|failure| reject(host, &failure::diagnostics(failure), &loaded.file, form))
}

/// Returns the module with the edits of the file `path` applied.
///
/// # Errors
///
/// Returns the exit code after reporting the error.
fn patched(
    loaded: &Loaded,
    path: &str,
    session: &Session,
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<Graph, u8> {
    let (options, form) = (
        mind_cli::load_options(matches),
        DiagnosticFormat::of(matches),
    );
    let refuse = |host: &mut dyn Host, why: String| {
        mind_cli::print_error(
            host,
            &format!("error: {}: {why}\n", mind_cli::input_name(path)),
        );
        REJECTED
    };
    if matches!(loaded.format.text(), Some(Format::Mil | Format::MilPrimer)) {
        let why =
            "values of MIL have names, not ids; patch the module that it was made of".to_owned();
        return Err(refuse(host, why));
    }
    let bytes = mind_cli::read_input(host, path, options.limits.bytes)?;
    let text = String::from_utf8(bytes).map_err(|error| refuse(host, error.to_string()))?;
    let edits = Edit::read_all(&text).map_err(|error| refuse(host, error.to_string()))?;
    let config = VerifyConfig {
        profile: options.profile,
    };
    patch::apply(&loaded.graph, &edits, &session.registry, &config).map_err(|error| {
        if let PatchError::Invalid(found) = &error {
            mind_cli::report(host, found, &loaded.file, form);
        }
        refuse(host, error.to_string())
    })
}

fn reject(
    host: &mut dyn Host,
    found: &Diagnostics,
    file: &SourceFile,
    form: DiagnosticFormat,
) -> u8 {
    mind_cli::report(host, found, file, form);
    REJECTED
}

/// Returns the options of the lowering.
///
/// # Errors
///
/// Returns the exit code after reporting an invalid value.
fn lowering(matches: &ArgMatches, host: &mut dyn Host) -> Result<mind_to_mil::Config, u8> {
    let given = mind_to_mil::PASS.options.iter().filter_map(|option| {
        let value = matches.get_one::<String>(option.name)?;
        Some((option.name.to_owned(), value.clone()))
    });
    let mut config = mind_to_mil::config(&Options::new(
        &mind_to_mil::PASS,
        &given.collect::<Vec<_>>(),
    ));
    for given in matches.get_many::<String>("flexible").into_iter().flatten() {
        let Some(dimension) = flexible(given) else {
            let message = format!(
                "invalid `--flexible={given}`: expected for example DIM=1..32 or DIM=1,2,4"
            );
            return Err(mind_cli::usage_error(host, &message));
        };
        config.flexible.push(dimension);
    }
    if let Some(pairs) = matches.get_many::<String>("build-info") {
        config.build_info.clear();
        for pair in pairs {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(mind_cli::usage_error(
                    host,
                    &format!("invalid `--build-info={pair}`: expected KEY=VALUE"),
                ));
            };
            config.build_info.push((key.to_owned(), value.to_owned()));
        }
    }
    Ok(config)
}

/// Parses a dimension and its extents, for example `B=1..32` or `B=1,2,4`.
fn flexible(given: &str) -> Option<(String, Extents)> {
    let (name, extents) = given.split_once('=')?;
    let extent = |text: &str| {
        text.trim()
            .parse()
            .ok()
            .filter(|own| (1..=65536).contains(own))
    };
    let extents = match extents.split_once("..") {
        Some((least, most)) => {
            let (least, most) = (extent(least)?, extent(most)?);
            (least <= most).then_some(Extents::Range(least, most))?
        }
        None => Extents::Listed(extents.split(',').map(extent).collect::<Option<_>>()?),
    };
    Some((name.to_owned(), extents))
}

/// Writes a package to the folder of `-o`.
///
/// # Errors
///
/// Returns the diagnostics if the package format cannot express the program, or `None` after reporting a failure of the
/// host.
fn package(
    graph: &mut Graph,
    path: &str,
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<u8, Option<Diagnostics>> {
    let Some(folder) = output::file(matches) else {
        mind_cli::usage_error(
            host,
            "a package is a folder: name it with `-o NAME.mlpackage`",
        );
        return Ok(USAGE);
    };
    weights::read(graph, path, host).map_err(Some)?;
    mind_mil::names::assign_names(graph);
    let package = mind_coreml::package::package(graph).map_err(Some)?;
    let folder = std::path::Path::new(folder);
    let data = std::path::Path::new("Data").join("com.apple.CoreML");
    let weights = data.join("weights").join("weight.bin");
    let files: [(&std::path::Path, &[u8]); 3] = [
        (&weights, &package.weights),
        (&data.join("model.mlmodel"), &package.model),
        (
            std::path::Path::new("Manifest.json"),
            package.manifest.as_bytes(),
        ),
    ];
    match host.write_package(folder, &files) {
        Ok(()) => Ok(DONE),
        Err(error) => {
            mind_cli::print_error(host, &format!("error: {}: {error}\n", folder.display()));
            Err(None)
        }
    }
}
