//! DOT, the language of Graphviz.

use std::fmt::Write;

use petgraph::visit::EdgeRef;

use crate::drawing::{DrawBox, Drawing, Mark};
use crate::layout::title;
use crate::style::fill_colour;
use crate::text::label;

/// Returns the drawing as a digraph.
pub fn dot(drawing: &Drawing) -> String {
    let mut out = String::from(
        "digraph {\n  rankdir=TB;\n  node [shape=plain, fontname=\"monospace\", fontsize=10];\n  \
         edge [color=\"#98a2b0\"];\n",
    );
    // Writing to a string is infallible.
    if let Some(note) = &drawing.note {
        let _ = writeln!(out, "  label=<{}>;", label(note));
    }
    for (number, own) in drawing.boxes().enumerate() {
        if own.frame.is_none() {
            node(&mut out, number, own);
        }
    }
    for (frame, &times) in drawing.frames.iter().enumerate() {
        let _ = writeln!(
            out,
            "  subgraph cluster_{frame} {{\n  label=<{}>; style=dashed;",
            title(times)
        );
        for (number, own) in drawing.boxes().enumerate() {
            if own.frame == Some(frame) {
                node(&mut out, number, own);
            }
        }
        out.push_str("  }\n");
    }
    for edge in drawing.graph.edge_references() {
        let (from, to) = (edge.source().index(), edge.target().index());
        let port = edge.weight().row;
        let port = port.map_or_else(String::new, |row| format!(":r{row}"));
        let style = if edge.weight().chosen {
            " [color=\"#2b8a3e\", penwidth=2]"
        } else {
            ""
        };
        let _ = writeln!(out, "  n{from} -> n{to}{port}{style};");
    }
    out.push_str("}\n");
    out
}

fn node(out: &mut String, number: usize, own: &DrawBox) {
    let border = match own.mark {
        Mark::Same => "#b4bcc8",
        Mark::New => "#1a7f37",
        Mark::Gone => "#b42318",
        Mark::Changed => "#9a6700",
    };
    let fill = fill_colour(own.fill);
    let _ = write!(
        out,
        "  n{number} [label=<<table border=\"1\" cellborder=\"0\" cellspacing=\"0\" bgcolor=\"{fill}\" color=\"{border}\">"
    );
    for (at, row) in own.rows.iter().enumerate() {
        let chosen = if row.chosen {
            " bgcolor=\"#cfe9d5\""
        } else {
            ""
        };
        let (text, aside) = (label(&row.text), label(&row.aside));
        let text = if at == 0 {
            format!("<b>{text}</b>")
        } else {
            text
        };
        let _ = write!(out, "<tr><td port=\"r{at}\" align=\"left\"{chosen}>{text}");
        if !aside.is_empty() {
            let _ = write!(out, "  <font color=\"#5f6b7a\">{aside}</font>");
        }
        out.push_str("</td></tr>");
    }
    out.push_str("</table>>];\n");
}
