//! The `mind-opt` tool.

use std::process::ExitCode;

fn main() -> ExitCode {
    mind_host::main(mind_opt::run)
}
