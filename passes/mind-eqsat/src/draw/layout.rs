//! Placing the classes of a picture: in layers, what is given at the top.

use super::picture::{Picture, PictureClass, PictureNode};

/// The width of a character, in pixels.
const CHARACTER: usize = 7;
/// The height of an e-node's box.
pub(super) const NODE_HEIGHT: usize = 22;
/// The height of a class's title.
pub(super) const TITLE_HEIGHT: usize = 16;
/// The space around boxes inside a class.
pub(super) const PADDING: usize = 8;
const BETWEEN_CLASSES: usize = 24;
const BETWEEN_LAYERS: usize = 64;

/// A rectangle, in pixels from the top left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Area {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// Where everything stands.
pub(super) struct Layout {
    pub(super) width: usize,
    pub(super) height: usize,
    /// By class.
    pub(super) classes: Vec<Area>,
    /// By class and e-node.
    pub(super) nodes: Vec<Vec<Area>>,
}

/// Places the classes of `picture`, those of a layer by the middle of what they read.
pub(super) fn layout(picture: &Picture) -> Layout {
    let mut classes = vec![Area::default(); picture.classes.len()];
    let depth = picture
        .classes
        .iter()
        .map(|class| class.layer + 1)
        .max()
        .unwrap_or(0);
    let (mut width, mut y) = (0, PADDING);
    for layer in 0..depth {
        let mut row: Vec<usize> = (0..classes.len())
            .filter(|&class| picture.classes[class].layer == layer)
            .collect();
        if row.is_empty() {
            continue;
        }
        row.sort_by_key(|&class| {
            (
                middle(&picture.classes[class], layer, picture, &classes),
                class,
            )
        });
        let mut x = PADDING;
        for class in row {
            let area = Area {
                x,
                y,
                width: class_width(&picture.classes[class]),
                height: TITLE_HEIGHT + NODE_HEIGHT + 2 * PADDING,
            };
            classes[class] = area;
            x += area.width + BETWEEN_CLASSES;
        }
        width = width.max(x);
        y += TITLE_HEIGHT + NODE_HEIGHT + 2 * PADDING + BETWEEN_LAYERS;
    }
    let nodes = picture.classes.iter().zip(&classes);
    let nodes = nodes
        .map(|(class, area)| place_nodes(class, *area))
        .collect();
    Layout {
        width: width.max(text_width("")),
        height: y,
        classes,
        nodes,
    }
}

/// The mean position of what a class reads in the layers above.
fn middle(class: &PictureClass, layer: usize, picture: &Picture, placed: &[Area]) -> usize {
    let read = class.nodes.iter().flat_map(|node| &node.children);
    let above = read.filter(|&&child| picture.classes[child].layer < layer);
    let centres: Vec<usize> = above
        .map(|&child| placed[child].x + placed[child].width / 2)
        .collect();
    centres.iter().sum::<usize>() / centres.len().max(1)
}

fn place_nodes(class: &PictureClass, area: Area) -> Vec<Area> {
    let mut x = area.x + PADDING;
    let place = |node: &PictureNode| {
        let own = Area {
            x,
            y: area.y + TITLE_HEIGHT + PADDING,
            width: text_width(&node.label),
            height: NODE_HEIGHT,
        };
        x += own.width + PADDING;
        own
    };
    class.nodes.iter().map(place).collect()
}

fn class_width(class: &PictureClass) -> usize {
    let nodes = class
        .nodes
        .iter()
        .map(|node| text_width(&node.label) + PADDING);
    let nodes = nodes.sum::<usize>() + PADDING;
    nodes.max(text_width(&class.title))
}

fn text_width(text: &str) -> usize {
    text.chars().count() * CHARACTER + 2 * PADDING
}
