//! The data of a drawing.

use std::collections::{HashMap, HashSet};

use petgraph::graph::{DiGraph, NodeIndex};

/// Boxes and edges.
///
/// Boxes are in reading order: an edge to a later box points down, one to an earlier box up.
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    /// The boxes and edges.
    pub graph: DiGraph<DrawBox, Edge>,
    /// Frames around boxes, each with the repeat count of its contents.
    pub frames: Vec<usize>,
    /// A line below the drawing.
    pub note: Option<String>,
}

/// A box.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DrawBox {
    /// Identifies the box in drawings of other states of the same graph.
    pub key: String,
    /// Equal for boxes that differ only in names, which is how repeated parts are found.
    pub like: String,
    /// The text, the title first.
    pub rows: Vec<BoxLine>,
    /// Its role.
    pub fill: Fill,
    /// Its difference from another drawing.
    pub mark: Mark,
    /// The number of ops that it represents.
    pub ops: usize,
    /// The index of its frame in [`Drawing::frames`].
    pub frame: Option<usize>,
}

/// A line of text in a box.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BoxLine {
    /// The text.
    pub text: String,
    /// Dimmed text at the right border.
    pub aside: String,
    /// Whether it is highlighted.
    pub chosen: bool,
}

impl BoxLine {
    /// A row of `text` alone.
    pub fn new(text: impl Into<String>) -> BoxLine {
        BoxLine::with_aside(text, "")
    }

    /// A row of `text` with `aside` at the right border.
    pub fn with_aside(text: impl Into<String>, aside: impl Into<String>) -> BoxLine {
        BoxLine {
            text: text.into(),
            aside: aside.into(),
            chosen: false,
        }
    }
}

/// An arrow from one box to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Edge {
    /// The row of the target that it points to; `None` for the whole box.
    pub row: Option<usize>,
    /// Whether it is highlighted.
    pub chosen: bool,
}

/// The role of a box, which decides its colour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Fill {
    /// An input, which changes per call.
    Input,
    /// A weight.
    Param,
    /// A constant.
    Constant,
    /// A computation.
    #[default]
    Op,
    /// A fused group, coloured by its number.
    Group(usize),
    /// The results.
    Output,
}

impl Fill {
    /// Returns its class in markup.
    pub fn class(self) -> &'static str {
        match self {
            Fill::Input => "input",
            Fill::Param => "param",
            Fill::Constant => "constant",
            Fill::Op => "op",
            Fill::Group(_) => "group",
            Fill::Output => "output",
        }
    }
}

/// The difference of a box from another drawing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Mark {
    /// It is in both.
    #[default]
    Same,
    /// It is only in the later drawing.
    New,
    /// It is only in the earlier drawing.
    Gone,
    /// Its text differs.
    Changed,
}

impl Mark {
    /// Returns its class in markup.
    pub fn class(self) -> &'static str {
        match self {
            Mark::Same => "same",
            Mark::New => "new",
            Mark::Gone => "gone",
            Mark::Changed => "changed",
        }
    }
}

impl PartialEq for Drawing {
    fn eq(&self, other: &Drawing) -> bool {
        let edges = |drawing: &Drawing| {
            let edges = drawing.graph.raw_edges().iter();
            edges
                .map(|edge| (edge.source(), edge.target(), edge.weight))
                .collect::<Vec<_>>()
        };
        self.boxes().eq(other.boxes())
            && edges(self) == edges(other)
            && (&self.frames, &self.note) == (&other.frames, &other.note)
    }
}

impl Eq for Drawing {}

impl Drawing {
    /// Returns the boxes in reading order.
    pub fn boxes(&self) -> impl Iterator<Item = &DrawBox> {
        self.graph.node_weights()
    }

    /// Adds a box after all others, and returns its index.
    pub fn add(&mut self, own: DrawBox) -> NodeIndex {
        self.graph.add_node(own)
    }

    /// Adds an edge to `to` from each of `sources`, without duplicates.
    pub fn connect(&mut self, sources: impl Iterator<Item = NodeIndex>, to: NodeIndex, edge: Edge) {
        let mut known = HashSet::new();
        for source in sources.filter(|&source| known.insert(source)) {
            self.graph.add_edge(source, to, edge);
        }
    }

    /// Marks the differences between drawings of a graph before and after a change.
    pub fn mark_changes(before: &mut Drawing, after: &mut Drawing) {
        let known = before.graph.node_weights();
        let known: HashMap<String, Vec<BoxLine>> = known
            .map(|own| (own.key.clone(), own.rows.clone()))
            .collect();
        let mut marks: HashMap<&str, Mark> = HashMap::new();
        for own in after.graph.node_weights_mut() {
            own.mark = match known.get(&own.key) {
                None => Mark::New,
                Some(rows) if *rows != own.rows => Mark::Changed,
                Some(_) => Mark::Same,
            };
        }
        marks.extend(after.boxes().map(|own| (own.key.as_str(), own.mark)));
        for own in before.graph.node_weights_mut() {
            own.mark = marks.get(own.key.as_str()).copied().unwrap_or(Mark::Gone);
        }
    }
}
