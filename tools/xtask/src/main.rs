//! `cargo run -p xtask`: writes the generated documents.

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    for (path, text) in xtask::documents() {
        let full = xtask::root().join(&path);
        let written = full.parent().map_or(Ok(()), std::fs::create_dir_all);
        if let Err(error) = written.and_then(|()| std::fs::write(&full, text)) {
            let _ = writeln!(std::io::stderr(), "error: {path}: {error}");
            return ExitCode::FAILURE;
        }
        // Write errors are ignored, because the list is only informative.
        let _ = writeln!(std::io::stdout(), "{path}");
    }
    ExitCode::SUCCESS
}
