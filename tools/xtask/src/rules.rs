//! The rule reference.

use std::fmt::Write;

use mind_rules::SHIPPED;

/// An entry of a rule file.
struct Entry<'t> {
    name: &'t str,
    class: &'t str,
    engine: &'static str,
    source: &'t str,
}

/// `docs/rules.md`.
pub fn document() -> String {
    let mut text = String::from(
        "# Rules\n\nGenerated from the rule files by `cargo run -p xtask`. The classes are those of \
         [numerics.md](numerics.md#what-may-be-rewritten): `exact` rules keep every bit and are always enabled, the \
         others need `--fast-math`. The rules themselves are in `passes/mind-rules/rules/`; \
         [add-a-rule.md](add-a-rule.md) describes how to write one.\n",
    );
    for (file, rules) in SHIPPED {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## `{file}`\n\n{}\n\n", intro(rules));
        text.push_str("| rule | class | acts in | why it holds |\n|---|---|---|---|\n");
        for entry in entries(rules) {
            let Entry {
                name,
                class,
                engine,
                source,
            } = entry;
            let _ = writeln!(text, "| `{name}` | {class} | {engine} | {source} |");
        }
    }
    text
}

/// Returns the comment at the start of a file.
fn intro(rules: &str) -> String {
    let lines = rules.lines().map_while(|line| line.strip_prefix('#'));
    lines
        .map(str::trim)
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned()
}

fn entries(rules: &str) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for line in rules.lines() {
        let head = ["rule ", "fusion "]
            .iter()
            .find_map(|word| line.strip_prefix(word));
        match (head, entries.last_mut()) {
            (Some(name), _) => entries.push(Entry {
                name,
                class: "",
                engine: "e-graph",
                source: "",
            }),
            (None, Some(entry)) => {
                let line = line.trim();
                if let Some(class) = line.strip_prefix("class ") {
                    entry.class = class;
                }
                match line {
                    "engine both" => entry.engine = "e-graph, `canonicalize`",
                    "engine greedy" => entry.engine = "`canonicalize`",
                    _ => {}
                }
                if let Some(source) = line.strip_prefix("source ") {
                    entry.source = source.trim_matches('"');
                }
            }
            (None, None) => {}
        }
    }
    entries
}
