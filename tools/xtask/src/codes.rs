//! The diagnostic codes.

use std::fmt::Write;

use mind_diag::CATALOGUE;

/// `docs/diagnostics.md`.
pub fn document() -> String {
    let mut text = String::from(
        "# Diagnostic codes\n\nGenerated from the catalogue by `cargo run -p xtask`. Codes are stable: new ones are \
         added, but none is renumbered. The last column is the default help of an error.\n\n\
         | code | cause | always shown | help |\n|---|---|---|---|\n",
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
