//! Pictures.

use std::fmt::Write;

use super::drawing::{Drawing, Node};
use super::escape::escape;
use super::layout::{Area, LINE, Layout, PADDING};
use super::palette::{STYLE, group_colour};

/// The drawing as a file of its own.
pub fn svg(drawing: &Drawing) -> String {
    let (open, rest) = figure(drawing);
    format!("{open}<style>{}</style>{rest}\n", escape(STYLE))
}

/// The drawing as part of a page that holds [`STYLE`].
pub fn svg_figure(drawing: &Drawing) -> String {
    let (open, rest) = figure(drawing);
    format!("{open}{rest}")
}

/// The opening tag, and all that follows it.
fn figure(drawing: &Drawing) -> (String, String) {
    let layout = Layout::of(drawing);
    let extra = if drawing.left_out > 0 { 2 * LINE } else { 0 };
    let (width, height) = (layout.width.max(320), layout.height + extra);
    let open = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">"
    );
    let mut rest = String::from("<title>What computes what</title>");
    // Writing to a string cannot fail.
    for &(from, to) in &drawing.edges {
        let (a, b) = (layout.areas[from], layout.areas[to]);
        let (x, y, u, v) = (a.centre(), a.y + a.height, b.centre(), b.y);
        let middle = (y + v) / 2;
        let _ = write!(
            rest,
            "<path class=\"edge\" d=\"M{x} {y}C{x} {middle} {u} {middle} {u} {v}\"/>"
        );
    }
    for (node, area) in drawing.nodes.iter().zip(&layout.areas) {
        draw(&mut rest, node, *area);
    }
    if drawing.left_out > 0 {
        let (left_out, y) = (drawing.left_out, layout.height + LINE);
        let _ = write!(
            rest,
            "<text x=\"16\" y=\"{y}\">{left_out} more ops are not drawn</text>"
        );
    }
    rest.push_str("</svg>");
    (open, rest)
}

fn draw(out: &mut String, node: &Node, area: Area) {
    let Area {
        x,
        y,
        width,
        height,
    } = area;
    let (kind, mark) = (node.kind.class(), node.mark.class());
    let _ = write!(out, "<g class=\"{kind} {mark}\">");
    // Text on a group's colour is dark on every screen.
    let (fill, ink) = match node.group {
        Some(group) => (
            format!(" style=\"fill:{}\"", group_colour(group)),
            " style=\"fill:#1c2430\"",
        ),
        None => (String::new(), ""),
    };
    let _ = write!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\"{fill}/>"
    );
    let lines = std::iter::once(&node.title).chain(&node.lines);
    for (number, line) in lines.enumerate() {
        let class = if number == 0 { " class=\"title\"" } else { "" };
        let (left, base) = (x + PADDING, y + PADDING + LINE * number + LINE - 4);
        let line = escape(line).replace("  ", "\u{a0}\u{a0}");
        let _ = write!(
            out,
            "<text{class}{ink} x=\"{left}\" y=\"{base}\">{line}</text>"
        );
    }
    out.push_str("</g>");
}
