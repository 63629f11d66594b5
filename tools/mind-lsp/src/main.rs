//! The `mind-lsp` server.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        // Editors that offer several transports say which one they chose.
        [] | ["--stdio"] => mind_lsp::run(),
        ["--version" | "-V"] => {
            println!("mind-lsp {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        ["--help" | "-h"] => {
            println!("{}", mind_lsp::HELP);
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{}", mind_lsp::HELP);
            ExitCode::from(2)
        }
    }
}
