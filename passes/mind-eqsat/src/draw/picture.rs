//! What a drawing of an e-graph shows.

use mind_ir::graph::Graph;
use rustc_hash::FxHashMap;

use crate::context::Context;
use crate::egraph::facts::Facts;
use crate::egraph::language::Head;
use crate::egraph::provenance::Origin;
use crate::expr::{attr_text, constant_text};
use crate::extract::{Choice, ClassIx, Dense, DenseNode, What};
use crate::fusion::body::Group;
use crate::load::Loaded;
use crate::report::FOLDING;

/// The most classes that are drawn.
const CLASSES: usize = 150;

/// An e-graph ready to be drawn: its classes, those that the result needs first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Picture {
    pub(super) classes: Vec<PictureClass>,
    /// What is left out.
    pub(super) note: Option<String>,
}

/// A class of a picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PictureClass {
    /// Its type, its constant and the facts known of it.
    pub(super) title: String,
    pub(super) nodes: Vec<PictureNode>,
    /// How many steps lie between it and what is given.
    pub(super) layer: usize,
}

/// An e-node of a picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PictureNode {
    pub(super) label: String,
    /// Whether the result uses it.
    pub(super) chosen: bool,
    /// The rule that made it.
    pub(super) rule: Option<String>,
    /// The classes that it reads, as far as they are drawn.
    pub(super) children: Vec<usize>,
}

/// The e-graph of a region, and what is chosen of it.
pub(crate) fn picture(
    g: &Graph,
    cx: &Context<'_>,
    loaded: &Loaded<'_>,
    dense: &Dense,
    choice: &Choice,
    groups: &[Group],
) -> Picture {
    let mut order: Vec<ClassIx> = (0..dense.classes.len() as ClassIx).collect();
    order.sort_by_key(|&class| (!choice.needs(class), class));
    let left_out = order.len().saturating_sub(CLASSES);
    order.truncate(CLASSES);
    order.sort_unstable();
    let places: FxHashMap<ClassIx, usize> = order
        .iter()
        .enumerate()
        .map(|(at, &class)| (class, at))
        .collect();
    let layers = layers(loaded, dense);
    let classes = order.iter().map(|&class| {
        let nodes = dense.class(class).nodes.iter().map(|&number| {
            let node = dense.node(number);
            let children = node.children.iter();
            PictureNode {
                label: label(g, loaded, groups, node),
                chosen: choice.needs(class) && choice.node(class) == Some(number),
                rule: rule(cx, loaded, node),
                children: children
                    .filter_map(|child| places.get(child).copied())
                    .collect(),
            }
        });
        PictureClass {
            title: title(loaded, dense, class),
            nodes: nodes.collect(),
            layer: layers[class as usize],
        }
    });
    Picture {
        classes: classes.collect(),
        note: (left_out > 0).then(|| format!("{left_out} more classes are not drawn")),
    }
}

/// How many steps lie between each class and what is given, over e-nodes that a choice may use.
fn layers(loaded: &Loaded<'_>, dense: &Dense) -> Vec<usize> {
    let mut layers = vec![0; dense.classes.len()];
    let mut order: Vec<ClassIx> = (0..dense.classes.len() as ClassIx).collect();
    order.sort_by_key(|&class| (dense.class(class).rank, class));
    for class in order {
        let nodes = dense.class(class).nodes.iter();
        let usable = nodes.filter(|&&node| dense.selectable(loaded, node));
        let below = usable.flat_map(|&node| &dense.node(node).children);
        let below = below.map(|&child| layers[child as usize] + 1);
        layers[class as usize] = below.max().unwrap_or(0);
    }
    layers
}

fn title(loaded: &Loaded<'_>, dense: &Dense, class: ClassIx) -> String {
    let store = &loaded.egraph.analysis.store;
    let ty = store.type_text(dense.class(class).ty);
    let first = dense
        .class(class)
        .nodes
        .iter()
        .find_map(|&node| dense.node(node).id);
    let Some(id) = first else {
        return ty;
    };
    let data = loaded.egraph[loaded.egraph.find(id)].data;
    let facts = Facts::NAMES
        .iter()
        .filter(|(_, fact)| data.facts.has(*fact));
    let facts: String = facts.map(|(name, _)| format!(", {name}")).collect();
    format!("{ty}{facts}")
}

fn label(g: &Graph, loaded: &Loaded<'_>, groups: &[Group], node: &DenseNode) -> String {
    let store = &loaded.egraph.analysis.store;
    match node.what {
        What::Group(group) => {
            let group = &groups[group as usize];
            format!("{} of {} ops", group.kind, group.members.len())
        }
        What::Node {
            head: Head::Leaf,
            payload,
        } => format!("%{}", g.label(loaded.leaves[payload as usize].0)),
        What::Node {
            head: Head::Const,
            payload,
        } => constant_text(store.constants.get(payload)),
        What::Node {
            head: Head::Op(op),
            payload,
        } => {
            let def = store.ops.def(op);
            let attrs = store.payload(payload).attrs.iter().zip(def.attrs);
            let attrs = attrs.map(|(&attr, row)| {
                format!(" {}={}", row.name, attr_text(store.attr(attr), store))
            });
            format!("{}{}", def.name, attrs.collect::<String>())
        }
    }
}

fn rule(cx: &Context<'_>, loaded: &Loaded<'_>, node: &DenseNode) -> Option<String> {
    let provenance = &loaded.egraph.analysis.provenance;
    match provenance.origin(node.id?) {
        Origin::Program => None,
        Origin::Folding => Some(FOLDING.to_owned()),
        Origin::Rule(number) => {
            let rule = provenance.application(number).rule;
            Some(cx.rules.name(rule).to_owned())
        }
    }
}
