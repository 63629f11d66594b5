//! Drawings of the e-graph of a region.

use mind_draw::{BoxLine, DrawBox, Drawing, Edge};
use mind_ir::graph::Graph;
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashMap;

use crate::context::Context;
use crate::egraph::language::Head;
use crate::egraph::provenance::Origin;
use crate::extract::{Choice, ClassIx, Dense, DenseNode, NodeContent};
use crate::fusion::body::Group;
use crate::load::Loaded;
use mind_ir::scalar::Facts;
use mind_rules::FOLDING;
use mind_rules::expr::{attr_text, constant_text};

/// The most classes in a drawing.
const CLASSES: usize = 150;
/// The most characters of an e-node's text.
const ROW: usize = 60;

/// Draws the e-graph of a region. Each class is a box with its type, its facts, and a row for each e-node with the rule
/// that added it. Edges run from child classes to the e-nodes that read them; chosen e-nodes are highlighted.
pub(crate) fn drawing(
    g: &Graph,
    cx: &Context<'_>,
    loaded: &Loaded<'_>,
    dense: &Dense,
    choice: &Choice,
    groups: &[Group],
) -> Drawing {
    let mut order: Vec<ClassIx> = (0..dense.classes.len() as ClassIx).collect();
    order.sort_by_key(|&class| (!choice.needs(class), class));
    let left_out = order.len().saturating_sub(CLASSES);
    order.truncate(CLASSES);
    // A class comes after its children; only cyclic e-nodes read later classes.
    order.sort_unstable_by_key(|&class| (dense.class(class).rank, class));
    let mut drawing = Drawing {
        note: (left_out > 0).then(|| format!("{left_out} more classes are not drawn")),
        ..Drawing::default()
    };
    let is_chosen =
        |class: ClassIx, number| choice.needs(class) && choice.node(class) == Some(number);
    let mut boxes: FxHashMap<ClassIx, NodeIndex> = FxHashMap::default();
    for &class in &order {
        let nodes = dense.class(class).nodes.iter().map(|&number| {
            let node = dense.node(number);
            BoxLine {
                text: mind_draw::cut(&label(g, loaded, groups, node), ROW),
                aside: rule(cx, loaded, node).unwrap_or_default(),
                chosen: is_chosen(class, number),
            }
        });
        let title = BoxLine::new(title(loaded, dense, class));
        let rows = std::iter::once(title).chain(nodes).collect();
        let own = drawing.add(DrawBox {
            rows,
            ..DrawBox::default()
        });
        boxes.insert(class, own);
    }
    for &class in &order {
        for (at, &number) in dense.class(class).nodes.iter().enumerate() {
            let edge = Edge {
                row: Some(at + 1),
                chosen: is_chosen(class, number),
            };
            let children = dense.node(number).children.iter();
            let children = children.filter_map(|child| boxes.get(child).copied());
            drawing.connect(children, boxes[&class], edge);
        }
    }
    drawing
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
    match node.content {
        NodeContent::Group(group) => {
            let group = &groups[group as usize];
            format!("{} of {} ops", group.kind, group.members.len())
        }
        NodeContent::Node {
            head: Head::Leaf,
            payload,
        } => format!("%{}", g.label(loaded.leaves[payload as usize].0)),
        NodeContent::Node {
            head: Head::Const,
            payload,
        } => constant_text(store.constants.get(payload)),
        NodeContent::Node {
            head: Head::Op(op),
            payload,
        } => {
            let def = store.ops.def(op);
            let attrs = store.payload(payload).attrs.iter().zip(def.attrs);
            let attrs = attrs.map(|(&attr, row)| {
                format!(
                    " {}={}",
                    row.name,
                    attr_text(store.attr(attr), store.symbols())
                )
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
