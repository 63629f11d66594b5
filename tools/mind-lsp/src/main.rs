//! The `mind-lsp` server.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Help, the version and mistakes end the process here.
    mind_lsp::command().get_matches();
    mind_lsp::run()
}
