//! SVG.

use std::fmt::Write;

use crate::drawing::{DrawBox, Drawing, Fill};
use crate::geometry::{Area, Point};
use crate::layout::{LINE, Layout, MARGIN, PADDING, TOP, title};
use crate::style::{STYLE, group_colour};
use crate::text::{escape, label};

/// The length of an arrow's head, and half of its width.
const HEAD: (i64, i64) = (7, 4);
/// The distance of a text's baseline from the upper border of its row.
const BASE: i64 = 13;

/// Returns the drawing as an SVG file.
pub fn svg(drawing: &Drawing) -> String {
    let (open, rest) = figure(drawing);
    format!("{open}<style>{}</style>{rest}\n", escape(STYLE))
}

/// Returns the drawing for embedding in a page that contains [`STYLE`].
pub fn svg_figure(drawing: &Drawing) -> String {
    let (open, rest) = figure(drawing);
    format!("{open}{rest}")
}

/// Returns the opening tag, and the rest.
fn figure(drawing: &Drawing) -> (String, String) {
    let layout = Layout::new(drawing);
    let (width, height) = (layout.width, layout.height);
    let open = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">"
    );
    let mut out = String::from(
        "<title>Data flow</title>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
    );
    // Writing to a string is infallible.
    for (&times, area) in drawing.frames.iter().zip(&layout.frames) {
        out.push_str("<g class=\"frame\">");
        rectangle(&mut out, *area, "rx=\"10\"");
        let (x, y) = (area.x + PADDING, area.y + area.height / 2 + 6);
        text(&mut out, "times", (x, y), "", &title(times));
        out.push_str("</g>\n");
    }
    let edges = drawing.graph.edge_weights().zip(&layout.routes);
    let (plain, chosen): (Vec<_>, Vec<_>) = edges.partition(|(edge, _)| !edge.chosen);
    for (edge, route) in plain.into_iter().chain(chosen) {
        arrow(&mut out, route, edge.chosen);
    }
    for (own, area) in drawing.boxes().zip(&layout.boxes) {
        draw(&mut out, own, *area);
    }
    if let Some(note) = &drawing.note {
        text(&mut out, "note", (MARGIN, height - MARGIN), "", note);
    }
    out.push_str("</svg>");
    (open, out)
}

fn arrow(out: &mut String, route: &[Point], chosen: bool) {
    let [.., before, tip] = route else { return };
    let chosen = if chosen { " chosen" } else { "" };
    let _ = write!(
        out,
        "<path class=\"edge{chosen}\" d=\"M{} {}",
        route[0].x, route[0].y
    );
    for pair in route.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let _ = if a.x == b.x {
            write!(out, "V{}", b.y)
        } else if a.y == b.y {
            write!(out, "H{}", b.x)
        } else {
            let middle = (a.y + b.y) / 2;
            write!(out, "C{} {middle} {} {middle} {} {}", a.x, b.x, b.x, b.y)
        };
    }
    let (length, half) = HEAD;
    let (x, y) = (tip.x, tip.y);
    let (along, across) = if before.y == y {
        ((length * (before.x - x).signum(), 0), (0, half))
    } else {
        ((0, length * (before.y - y).signum()), (half, 0))
    };
    let _ = writeln!(
        out,
        "\"/><path class=\"head{chosen}\" d=\"M{x} {y}L{} {}L{} {}Z\"/>",
        x + along.0 - across.0,
        y + along.1 - across.1,
        x + along.0 + across.0,
        y + along.1 + across.1
    );
}

fn draw(out: &mut String, own: &DrawBox, area: Area) {
    let (fill, mark) = (own.fill.class(), own.mark.class());
    let _ = write!(out, "<g class=\"{fill} {mark}\">");
    let colour = match own.fill {
        Fill::Group(number) => {
            let colour = group_colour(number);
            format!("rx=\"6\" style=\"fill:{colour};stroke:{colour}\"")
        }
        Fill::Input | Fill::Param | Fill::Constant | Fill::Op | Fill::Output => {
            "rx=\"6\"".to_owned()
        }
    };
    rectangle(out, area, &colour);
    for (number, row) in own.rows.iter().enumerate() {
        let top = area.y + TOP + LINE * number as i64;
        if row.chosen {
            let backdrop = Area {
                x: area.x + 3,
                y: top,
                width: area.width - 6,
                height: LINE,
            };
            rectangle(out, backdrop, "class=\"chosen\" rx=\"3\"");
        }
        let class = if number == 0 { "title" } else { "" };
        text(out, class, (area.x + PADDING, top + BASE), "", &row.text);
        let right = (area.x + area.width - PADDING, top + BASE);
        text(out, "aside", right, " text-anchor=\"end\"", &row.aside);
    }
    out.push_str("</g>\n");
}

fn rectangle(out: &mut String, area: Area, rest: &str) {
    let Area {
        x,
        y,
        width,
        height,
    } = area;
    let _ = write!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" {rest}/>"
    );
}

fn text(out: &mut String, class: &str, (x, y): (i64, i64), rest: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let class = match class {
        "" => String::new(),
        class => format!(" class=\"{class}\""),
    };
    let _ = write!(
        out,
        "<text{class} x=\"{x}\" y=\"{y}\"{rest}>{}</text>",
        label(text)
    );
}
