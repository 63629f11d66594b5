//! A language server for mic@1, mic@2, Core text, MIL and rule files.
//!
//! [`run`] serves the Language Server Protocol over standard input and output; [`serve`] over any connection. One
//! thread handles messages in order. A changed document is analysed when the next request needs it, or when no message
//! is pending.
//!
//! All features use the parsers of the compiler: their diagnostics, the names that they record
//! ([`mind_text::SourceMap`]), and the verified module. For example, hover shows the type that the verifier inferred.

mod actions;
mod analysis;
mod capabilities;
mod complete;
mod diagnostics;
mod document;
mod format;
mod hover;
mod inlay;
mod language;
mod names;
mod position;
mod refusal;
mod rename;
mod rules;
mod server;
mod signature;
mod symbols;
mod tokens;
mod view;

pub use server::serve;

use clap::Command;
use lsp_server::Connection;

/// Returns the command line of the tool.
pub fn command() -> Command {
    Command::new("mind-lsp")
        .about("A language server for mic@1, mic@2, Core text, MIL and rule files")
        .long_about(
            "A language server for mic@1, mic@2, Core text, MIL and rule files.\n\nIt speaks the Language Server \
             Protocol over standard input and output, and is started by an editor.",
        )
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(
            "Exit status: 0 after shutdown and exit, 1 when the editor leaves without them, 2 usage.",
        )
        .arg(
            // Editors that support several transports pass the one they use.
            mind_cli::flag("stdio", "the transport, which is the only one"),
        )
        .args(mind_cli::style::args())
}

/// Serves standard input and output until the editor exits. Returns the exit code.
///
/// The exit code is 1 if the editor exits without a shutdown request. Invalid arguments, and those for help or the
/// version, end the program immediately.
pub fn run(args: &[String]) -> u8 {
    let named = std::iter::once("mind-lsp").chain(args.iter().map(String::as_str));
    if let Err(shown) = command().try_get_matches_from(named) {
        // A write error means that nobody reads the output.
        let _ = shown.print();
        return u8::try_from(shown.exit_code()).unwrap_or(2);
    }
    let (connection, threads) = Connection::stdio();
    let served = serve(&connection);
    drop(connection);
    match (served, threads.join()) {
        (Ok(()), Ok(())) => 0,
        (Err(error), _) => {
            eprintln!("mind-lsp: {error}");
            1
        }
        (Ok(()), Err(error)) => {
            eprintln!("mind-lsp: {error}");
            1
        }
    }
}
