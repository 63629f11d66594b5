//! Runs the test files of this package's folder.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use lit_tests::{Config, harness};

fn main() -> ExitCode {
    harness::main(Config {
        root: Path::new(env!("CARGO_MANIFEST_DIR")).to_owned(),
        scratch: Path::new(env!("CARGO_TARGET_TMPDIR")).join("lit"),
        tools: &[],
        features: [].into(),
        semantics: None,
        bless: std::env::var_os("MIND_BLESS").is_some_and(|value| value == "1"),
        time_limit: Duration::from_secs(120),
    })
}
