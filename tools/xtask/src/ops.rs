//! The op reference, a page per dialect, and the support table.

use std::fmt::Write;

use mind_driver::session::registry;
use mind_ir::opdef::{AttrDef, DOC_SECTIONS, OpDef, Registry, Results, Trait};

/// `docs/ops/<dialect>.md` for every dialect.
pub fn documents() -> Vec<(String, String)> {
    let registry: Registry = registry();
    let page = |dialect: &mind_ir::opdef::Dialect| {
        let mut text = format!("# The `{}` dialect\n\n{}\n\n", dialect.name, dialect.doc);
        text.push_str("Generated from the op tables by `cargo run -p xtask`.\n\n");
        text.push_str(&table(dialect.ops));
        dialect.ops.iter().for_each(|def| describe(&mut text, def));
        (format!("docs/ops/{}.md", dialect.name), text)
    };
    registry.dialects().iter().map(page).collect()
}

fn table(ops: &[&OpDef]) -> String {
    let mut text =
        String::from("| op | Core text | mic@1 | mic@2 | profile |\n|---|---|---|---|---|\n");
    for def in ops {
        let name = |name: Option<&str>| name.map_or("–".to_owned(), |name| format!("`{name}`"));
        let profile = if def.has(Trait::Extended) {
            "extended"
        } else {
            "core-v1"
        };
        let names = [def.names.core, def.names.mic1, def.names.mic2]
            .map(name)
            .join(" | ");
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| [`{}`](#{}) | {names} | {profile} |",
            def.name,
            anchor(def.name)
        );
    }
    text
}

/// Returns the anchor of a heading with this text.
fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}

fn describe(text: &mut String, def: &OpDef) {
    let _ = write!(text, "\n## `{}`\n\n", def.name);
    let lines: Vec<&str> = def.doc.lines().map(str::trim).collect();
    for paragraph in lines
        .split(|line| line.is_empty())
        .filter(|lines| !lines.is_empty())
    {
        for line in paragraph {
            let item = DOC_SECTIONS.iter().find(|start| line.starts_with(**start));
            match item {
                Some(start) => {
                    let _ = writeln!(text, "- **{start}**{}", &line[start.len()..]);
                }
                None if paragraph
                    .iter()
                    .any(|line| DOC_SECTIONS.iter().any(|s| line.starts_with(s))) =>
                {
                    let _ = writeln!(text, "  {line}");
                }
                None => {
                    let _ = writeln!(text, "{line}");
                }
            }
        }
        text.push('\n');
    }
    for (operand, repeat) in def.all_operands() {
        let (name, class) = (operand.name, operand.class.text());
        let _ = writeln!(text, "- operand `{name}`: {class}{}", repeat.text());
    }
    if let Some(row) = mind_mil::ops::row(def) {
        let params: Vec<String> = row.params.iter().map(|own| format!("`{own}`")).collect();
        let params = params.join(", ");
        let _ = writeln!(text, "- arguments, in the order of `segments`: {params}");
    }
    for attr in def.attrs {
        let default = attr.default_text();
        let default = default.map_or(String::new(), |text| format!(", `{text}` if absent"));
        let _ = writeln!(
            text,
            "- attribute `{}`{}: {}{default}",
            attr.name,
            mic1_key(def, attr),
            attr.kind.text()
        );
    }
    let results = match def.results {
        Results::None => "none".to_owned(),
        Results::One => "one".to_owned(),
        Results::Named(names) => format!("`{}`", names.join("`, `")),
        Results::Many => "as many as the body yields".to_owned(),
    };
    let _ = writeln!(text, "- results: {results}");
    let traits: Vec<String> = def.traits.iter().map(|each| format!("{each:?}")).collect();
    let _ = writeln!(text, "- traits: {}", traits.join(", "));
}

/// Returns the mic@1 spelling of an attribute, if mic@1 has the op.
fn mic1_key(def: &OpDef, attr: &AttrDef) -> String {
    match (def.names.mic1, attr.key) {
        (None, _) => String::new(),
        (Some(_), Some(key)) => format!(" (mic@1 `{key}=`)"),
        (Some(_), None) => " (mic@1 without a key)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::documents;

    #[test]
    fn every_section_is_a_list_item() {
        let is_label = |word: &str| {
            let name = word.strip_suffix(':').unwrap_or("");
            name.starts_with(char::is_uppercase) && name.chars().all(char::is_alphabetic)
        };
        for (name, text) in documents() {
            for line in text.lines() {
                let continued = line
                    .strip_prefix("  ")
                    .and_then(|rest| rest.split(' ').next());
                let is_section = continued.is_some_and(is_label);
                assert!(
                    !is_section,
                    "{name}: this section continues another one: {line}"
                );
            }
        }
    }
}
