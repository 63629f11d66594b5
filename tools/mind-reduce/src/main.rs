//! The `mind-reduce` tool.

use std::process::ExitCode;

fn main() -> ExitCode {
    mind_host::main(mind_reduce::run)
}
