//! The `mind-run` tool.

use std::process::ExitCode;

fn main() -> ExitCode {
    mind_host::main(mind_run::run)
}
