//! The diagnostic codes.

use std::fmt::Write;

use mind_diag::CATALOGUE;

/// `docs/diagnostics.md`.
pub fn document() -> String {
    let mut text = String::from(
        "# Diagnostic codes\n\nGenerated from the catalogue by `cargo run -p xtask`. Codes are stable: \
         added, never renumbered. The last column is the help of an error that names none nearer to its place.\n\n\
         | code | set off by | always shown | way out |\n|---|---|---|---|\n",
    );
    for info in CATALOGUE {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            info.code, info.title, info.shows, info.help
        );
    }
    text
}
