//! The language of Graphviz.

use std::fmt::Write;

use super::drawing::{Drawing, Kind};
use super::palette::group_colour;

/// The drawing as a digraph.
pub fn dot(drawing: &Drawing) -> String {
    let mut text = String::from(
        "digraph module {\n  rankdir=TB;\n  node [shape=box, style=filled, fontname=\"monospace\", fontsize=10];\n",
    );
    // Writing to a string cannot fail.
    for (number, node) in drawing.nodes.iter().enumerate() {
        let lines = std::iter::once(&node.title).chain(&node.lines);
        let label: String = lines.map(|line| quoted(line) + "\\l").collect();
        let fill = node.group.map_or(fill(node.kind), group_colour);
        let _ = writeln!(
            text,
            "  n{number} [label=\"{label}\", fillcolor=\"{fill}\"];"
        );
    }
    for (from, to) in &drawing.edges {
        let _ = writeln!(text, "  n{from} -> n{to};");
    }
    if drawing.left_out > 0 {
        let _ = writeln!(
            text,
            "  rest [label=\"{} more ops are not drawn\", style=dashed];",
            drawing.left_out
        );
    }
    text.push_str("}\n");
    text
}

fn fill(kind: Kind) -> &'static str {
    match kind {
        Kind::Input => "#dcebff",
        Kind::Param => "#e7e0fb",
        Kind::Constant => "#e9e9e4",
        Kind::Op => "#eef1f6",
        Kind::Output => "#d9f2e1",
    }
}

/// The inside of a quoted string.
fn quoted(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for c in line.chars() {
        if matches!(c, '"' | '\\') {
            text.push('\\');
        }
        text.push(if c.is_control() { '\u{fffd}' } else { c });
    }
    text
}
