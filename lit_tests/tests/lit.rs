//! Runs the test files of this package's folder.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use lit_tests::{Config, Semantics, Transformation, config, harness};
use mind_driver::equivalence::same_results;
use mind_driver::formats::FormatInfo;
use mind_driver::session::{PASSES, Session};

fn main() -> ExitCode {
    let scratch =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lit-{}", std::process::id()));
    let outcome = harness::main(Config {
        root: Path::new(env!("CARGO_MANIFEST_DIR")).to_owned(),
        tools: config::TOOLS,
        features: config::features(config::TOOLS, &scratch),
        scratch: scratch.clone(),
        semantics: Some(Semantics { is_pass, compare }),
        bless: mind_snapshot::updates(),
        time_limit: Duration::from_secs(120),
    });
    // What is left behind is no failure of a test.
    let _ = std::fs::remove_dir_all(scratch);
    outcome
}

/// Returns whether an argument of `mind-opt` asks for a pass that may change the module.
fn is_pass(arg: &str) -> bool {
    let name = arg
        .trim_start_matches('-')
        .split('=')
        .next()
        .unwrap_or_default();
    arg.starts_with("-O")
        || name == "pass-pipeline"
        || (name != "verify" && PASSES.get(name).is_some())
}

/// Runs a module before and after in the interpreter; what went to a file is for the test to compare.
fn compare(transformation: &Transformation<'_>) -> Result<(), String> {
    let Transformation {
        input,
        output,
        args,
    } = *transformation;
    let printed_elsewhere = |arg: &String| arg == "-o" || arg == "--verify-diagnostics";
    if output.is_empty() && args.iter().any(printed_elsewhere) {
        return Ok(());
    }
    let from = args.iter().find_map(|arg| arg.strip_prefix("--from="));
    same_results(
        &Session::default(),
        input,
        from.and_then(FormatInfo::named),
        output,
    )
}
