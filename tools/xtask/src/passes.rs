//! The pass reference.

use std::fmt::Write;

use mind_driver::session::{LEVELS, PASSES};

/// `docs/passes.md`.
pub fn document() -> String {
    let mut text =
        String::from("# Passes\n\nGenerated from the pass tables by `cargo run -p xtask`.\n");
    for info in PASSES.iter() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## `{}`\n\n{}.\n\n", info.name, info.summary);
        let _ = writeln!(text, "Example: `{}`\n", info.example);
        if !info.options.is_empty() {
            text.push_str("| option | takes | default | |\n|---|---|---|---|\n");
        }
        for option in info.options {
            let (name, kind, default) = (option.name, option.kind.text(), option.default);
            let _ = writeln!(
                text,
                "| `{name}` | {kind} | `{default}` | {} |",
                option.summary
            );
        }
    }
    text.push_str("\n## Named pipelines\n\nAll keep every bit of the results.\n\n");
    text.push_str("| flag | pipeline | |\n|---|---|---|\n");
    for level in LEVELS {
        let _ = writeln!(
            text,
            "| `-O{}` | `{}` | {} |",
            level.name, level.pipeline, level.summary
        );
    }
    text
}
