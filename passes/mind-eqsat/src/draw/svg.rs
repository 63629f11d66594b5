//! Pictures as SVG.

use std::fmt::Write;

use super::layout::{Area, TITLE_HEIGHT, layout};
use super::picture::Picture;

impl Picture {
    /// The picture as SVG: a box per class, chosen e-nodes filled, lines from e-nodes to the classes they
    /// read, the first of each with the rule that made the e-node.
    pub fn to_svg(&self) -> String {
        let layout = layout(self);
        let (width, height) = (layout.width.max(200), layout.height + TITLE_HEIGHT);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"11\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        for (class, area) in self.classes.iter().zip(&layout.classes) {
            rectangle(
                &mut out,
                *area,
                "fill=\"#f6f6f6\" stroke=\"#888\" stroke-dasharray=\"3\"",
            );
            text(&mut out, area.x + 4, area.y + 12, "#444", &class.title);
        }
        for (class, areas) in self.classes.iter().zip(&layout.nodes) {
            for (node, area) in class.nodes.iter().zip(areas) {
                let own = node.rule.iter().filter(|_| node.children.is_empty());
                own.for_each(|rule| text(&mut out, area.x, area.y + 34, "#a40", rule));
                for (at, &child) in node.children.iter().enumerate() {
                    let rule = node.rule.as_deref().filter(|_| at == 0);
                    edge(&mut out, *area, layout.classes[child], rule);
                }
            }
        }
        for (class, areas) in self.classes.iter().zip(&layout.nodes) {
            for (node, area) in class.nodes.iter().zip(areas) {
                let style = match node.chosen {
                    true => "class=\"chosen\" fill=\"#cde8cd\" stroke=\"#262\"",
                    false => "fill=\"white\" stroke=\"#aaa\"",
                };
                rectangle(&mut out, *area, style);
                text(&mut out, area.x + 8, area.y + 15, "black", &node.label);
            }
        }
        if let Some(note) = &self.note {
            text(&mut out, 8, height - 4, "#444", note);
        }
        out.push_str("</svg>\n");
        out
    }
}

// Writing to a string cannot fail.

fn rectangle(out: &mut String, area: Area, style: &str) {
    let Area {
        x,
        y,
        width,
        height,
    } = area;
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\" {style}/>"
    );
}

fn text(out: &mut String, x: usize, y: usize, colour: &str, text: &str) {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" fill=\"{colour}\">{text}</text>"
    );
}

/// A line from an e-node to a class, from whichever side the class lies on.
fn edge(out: &mut String, node: Area, class: Area, rule: Option<&str>) {
    let below = class.y > node.y;
    let (from_x, to_x) = (node.x + node.width / 2, class.x + class.width / 2);
    let (from_y, to_y) = match below {
        true => (node.y + node.height, class.y),
        false => (node.y, class.y + class.height),
    };
    let _ = writeln!(
        out,
        "<line x1=\"{from_x}\" y1=\"{from_y}\" x2=\"{to_x}\" y2=\"{to_y}\" stroke=\"#99b\"/>"
    );
    if let Some(rule) = rule {
        text(out, (from_x + to_x) / 2, (from_y + to_y) / 2, "#a40", rule);
    }
}
