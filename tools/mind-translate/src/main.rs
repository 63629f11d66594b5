//! The `mind-translate` tool.

use std::process::ExitCode;

fn main() -> ExitCode {
    mind_host::main(mind_translate::run)
}
