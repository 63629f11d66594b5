//! The rule reference.

use std::fmt::Write;

use mind_driver::session::registry;
use mind_rules::{FastMath, RuleSet, SHIPPED};

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
         [numerics.md](numerics.md#what-may-be-rewritten): `exact` rules keep every bit and always act, the \
         others wait for `--fast-math`. What a rule says stands in `passes/mind-rules/rules/`; how to write \
         one, in [add-a-rule.md](add-a-rule.md).\n",
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

/// The comment that a file starts with.
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

/// `passes/mind-rules/src/shipped/index.rs`: the ops that each shipped rule names.
///
/// Panics: a shipped rule file is wrong, or names more than 128 ops.
pub fn index() -> String {
    let rules = RuleSet::shipped(&registry()).unwrap_or_else(|errors| panic!("{errors}"));
    let uses = rules.uses();
    let mut ops: Vec<&str> = uses
        .iter()
        .flat_map(|form| form.needs.iter().chain(&form.makes).copied())
        .collect();
    ops.sort_unstable();
    ops.dedup();
    assert!(ops.len() <= 128, "an op per bit of u128");
    let bits = |names: &[&str]| {
        let bit = |name: &&str| 1u128 << ops.partition_point(|own| own < name);
        names.iter().map(bit).fold(0, |all, bit| all | bit)
    };
    let mut text = String::from(
        "// Generated from the rule files by `cargo run -p xtask`.\n\n\
         use super::row::{FormRow, Row};\nuse crate::ruleset::rule_info::Engine;\n\npub(super) static OPS: &[&str] = &[\n",
    );
    // Writing to a string cannot fail.
    for op in &ops {
        let _ = writeln!(text, "    {op:?},");
    }
    text.push_str("];\n\npub(super) static RULES: &[Row] = &[\n");
    for (number, info) in rules.infos().iter().enumerate() {
        let file = SHIPPED.iter().position(|(name, _)| *name == info.file);
        let from = file.and_then(|file| SHIPPED[file].1.find(&info.text));
        let (Some(file), Some(from)) = (file, from) else {
            continue;
        };
        let class = match info.class {
            FastMath::EXACT => Vec::new(),
            class => class.names(),
        };
        let mut forms: Vec<(u128, u128)> = uses
            .iter()
            .filter(|form| form.rule.index() == number)
            .map(|form| (bits(&form.needs), bits(&form.makes)))
            .collect();
        forms.sort_unstable();
        forms.dedup();
        let forms: Vec<String> = forms
            .into_iter()
            .map(|(needs, makes)| format!("FormRow {{ needs: {needs:#x}, makes: {makes:#x} }}"))
            .collect();
        let _ = writeln!(
            text,
            "    Row {{ name: {:?}, file: {file}, text: ({from}, {}), line: {}, engine: Engine::{:?}, class: &{class:?}, \
             forms: &[{}] }},",
            info.name,
            from + info.text.len(),
            info.line,
            info.engine,
            forms.join(", ")
        );
    }
    text.push_str("];\n");
    text
}
