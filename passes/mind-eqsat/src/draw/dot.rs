//! Pictures in the language of Graphviz.

use std::fmt::Write;

use super::picture::Picture;

impl Picture {
    /// The picture in the language of Graphviz: a cluster per class, chosen e-nodes filled, edges from
    /// e-nodes to the classes they read, labelled with the rule that made the e-node.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph egraph {\n  compound=true;\n  rankdir=BT;\n");
        out.push_str("  node [shape=box, fontname=\"monospace\", fontsize=10];\n");
        out.push_str("  edge [fontname=\"monospace\", fontsize=8];\n");
        // Writing to a string cannot fail.
        if let Some(note) = &self.note {
            let _ = writeln!(out, "  label={};", quoted(note));
        }
        for (at, class) in self.classes.iter().enumerate() {
            let _ = writeln!(out, "  subgraph cluster_{at} {{");
            let _ = writeln!(out, "    label={}; style=dotted;", quoted(&class.title));
            for (number, node) in class.nodes.iter().enumerate() {
                let style = match node.chosen {
                    true => ", style=filled, fillcolor=\"#cde8cd\"",
                    false => "",
                };
                let rule = node.rule.iter().filter(|_| node.children.is_empty());
                let rule: String = rule.map(|rule| format!("\n{rule}")).collect();
                let label = quoted(&format!("{}{rule}", node.label));
                let _ = writeln!(out, "    n{at}_{number} [label={label}{style}];");
            }
            out.push_str("  }\n");
        }
        for (at, class) in self.classes.iter().enumerate() {
            for (number, node) in class.nodes.iter().enumerate() {
                let label = node
                    .rule
                    .as_deref()
                    .map_or_else(String::new, |rule| format!(", label={}", quoted(rule)));
                for &child in &node.children {
                    let _ = writeln!(
                        out,
                        "  n{at}_{number} -> n{child}_0 [lhead=cluster_{child}{label}];"
                    );
                }
            }
        }
        out.push_str("}\n");
        out
    }
}

fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}
