//! `cargo run -p xtask`: writes the generated documents.

use std::process::ExitCode;

fn main() -> ExitCode {
    for (path, text) in xtask::documents() {
        let full = xtask::root().join(&path);
        let written = full.parent().map_or(Ok(()), std::fs::create_dir_all);
        if let Err(error) = written.and_then(|()| std::fs::write(&full, text)) {
            eprintln!("error: {path}: {error}");
            return ExitCode::FAILURE;
        }
        println!("{path}");
    }
    ExitCode::SUCCESS
}
