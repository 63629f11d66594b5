//! MIL options: weight files for passes, and the report on the neural engine.

use clap::{Arg, ArgMatches};
use mind_cli::{output, value};
use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_driver::host::FileSystem;
use mind_driver::mil::weights;
use mind_ir::Graph;
use mind_pass::Pipeline;

/// Returns the arguments.
pub(super) fn args() -> Vec<Arg> {
    let report = value(
        "ane-report",
        "FORM",
        "print, instead of the module, which of its MIL ops run on the neural engine, and why",
    );
    let report = report.value_parser(["text", "json"]);
    vec![super::args::optional(report, "text")]
}

/// Returns whether the report on the neural engine is printed instead of the module.
pub(super) fn is_report(matches: &ArgMatches) -> bool {
    matches.contains_id("ane-report")
}

/// Checks the extension of the report's file, if the report is printed.
///
/// # Errors
///
/// Errors if it is the extension of a module, or `.json` for a text report.
pub(super) fn check_report_name(matches: &ArgMatches, path: &str) -> Result<(), String> {
    match matches.get_one::<String>("ane-report").map(String::as_str) {
        Some("json") => output::check_name(path, "a report as JSON", &["json"]),
        Some(_) => {
            output::check_not_module(path, "a report as text; `--ane-report=json` writes JSON")
        }
        None => Ok(()),
    }
}

/// Returns whether the pipeline lowers to MIL.
pub(super) fn is_lowered_to(pipeline: &Pipeline) -> bool {
    let mut steps = pipeline.steps.iter();
    steps.any(|step| step.pass.name == mind_to_mil::PASS.name)
}

/// Reads the weight files of a MIL program in the file `path`, if a pass imports it.
///
/// # Errors
///
/// Errors if weights cannot be read.
pub(super) fn read_weights(
    pipeline: &Pipeline,
    g: &mut Graph,
    path: &str,
    files: &mut dyn FileSystem,
) -> Result<(), Diagnostics> {
    let importing = mind_from_mil::PASSES;
    let mut steps = pipeline.steps.iter();
    if steps.any(|step| importing.iter().any(|pass| pass.name == step.pass.name)) {
        weights::read(g, path, files)?;
    }
    Ok(())
}

/// Returns the report on the neural engine, if requested.
///
/// # Errors
///
/// Errors if the module is not a MIL program.
pub(super) fn report(matches: &ArgMatches, g: &Graph) -> Option<Result<String, Diagnostic>> {
    let form = matches.get_one::<String>("ane-report")?;
    if mind_mil::structure::program(g).is_none() {
        let error = Diagnostic::error(Span::FILE, "this module is not a MIL program");
        return Some(Err(error.help("`--lower-to-mil` makes one")));
    }
    let report = mind_to_mil::ane::report(g);
    Some(Ok(match form.as_str() {
        "json" => report.json(),
        _ => report.text(),
    }))
}
