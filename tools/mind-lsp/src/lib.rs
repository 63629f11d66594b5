//! A language server for mic@1, mic@2, Core text, MIL and rule files.
//!
//! [`run`] speaks the Language Server Protocol over standard input and output; [`serve`] over any
//! connection. One thread handles messages in order; a document is read again when the next request
//! needs it, or when no message waits.
//!
//! What a feature shows comes from the readers that the compiler itself uses: their diagnostics, the
//! names they record while reading ([`mind_text::SourceMap`]), and the verified module.

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

/// The command line of the tool.
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
            // Editors that offer several transports say which one they chose.
            mind_cli::flag("stdio", "the transport, which is the only one"),
        )
        .args(mind_cli::style::args())
}

/// Serves standard input and output until the editor leaves, and returns the exit code.
///
/// It is 1 when the editor left without asking for shutdown first. Arguments that are wrong, and those that ask for help
/// or the version, end the call at once.
pub fn run(args: &[String]) -> u8 {
    let named = std::iter::once("mind-lsp").chain(args.iter().map(String::as_str));
    if let Err(shown) = command().try_get_matches_from(named) {
        // A stream that is closed has no reader.
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
