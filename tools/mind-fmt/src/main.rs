//! The `mind-fmt` tool.

use std::process::ExitCode;

fn main() -> ExitCode {
    mind_host::main(mind_fmt::run)
}
