//! What is drawn of a module.

use std::collections::HashMap;

use mind_core::ops::input::Input;
use mind_ir::attr::{Attr, Padding};
use mind_ir::opdef::Trait;
use mind_ir::{BlockId, Graph, OpId, ValueId};

/// The most ops that are drawn.
const OPS: usize = 400;
/// The most lines of a body that are shown.
const BODY_LINES: usize = 14;
/// The most characters of a line.
const LINE: usize = 44;

/// A module as boxes and arrows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Drawing {
    /// The boxes, each after those that it reads.
    pub nodes: Vec<Node>,
    /// Arrows from a box to one that reads it.
    pub edges: Vec<(usize, usize)>,
    /// How many ops are not drawn.
    pub left_out: usize,
}

/// A box.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// What it stands for, the same in drawings of the same module at other times.
    pub key: String,
    /// Its heading.
    pub title: String,
    /// The lines below that.
    pub lines: Vec<String>,
    /// What it is.
    pub kind: Kind,
    /// How it differs from another drawing.
    pub mark: Mark,
    /// The number of the fusion group that it is.
    pub group: Option<usize>,
}

/// What a box is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// What changes per call.
    Input,
    /// A weight.
    Param,
    /// A constant.
    Constant,
    /// Anything that computes.
    Op,
    /// What a module or function gives back.
    Output,
}

impl Kind {
    /// Its class in markup.
    pub fn class(self) -> &'static str {
        match self {
            Kind::Input => "input",
            Kind::Param => "param",
            Kind::Constant => "constant",
            Kind::Op => "op",
            Kind::Output => "output",
        }
    }
}

/// How a box differs from another drawing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mark {
    /// It is in both.
    #[default]
    Same,
    /// It is not in the drawing before.
    New,
    /// It is not in the drawing after.
    Gone,
    /// It reads or says something else.
    Changed,
}

impl Mark {
    /// Its class in markup.
    pub fn class(self) -> &'static str {
        match self {
            Mark::Same => "same",
            Mark::New => "new",
            Mark::Gone => "gone",
            Mark::Changed => "changed",
        }
    }
}

impl Drawing {
    /// The drawing of a verified module.
    pub fn of(g: &Graph) -> Drawing {
        let mut made = Made {
            g,
            drawing: Drawing::default(),
            places: HashMap::new(),
            groups: 0,
        };
        for block in blocks(g) {
            made.block(block);
        }
        made.drawing
    }

    /// Marks what differs between the drawings of a module before and after something happened to it.
    pub fn mark_changes(before: &mut Drawing, after: &mut Drawing) {
        let known: HashMap<&str, &Node> = before
            .nodes
            .iter()
            .map(|node| (node.key.as_str(), node))
            .collect();
        let marks: Vec<Mark> = after
            .nodes
            .iter()
            .map(|node| match known.get(node.key.as_str()) {
                None => Mark::New,
                Some(own) if own.title != node.title || own.lines != node.lines => Mark::Changed,
                Some(_) => Mark::Same,
            })
            .collect();
        let left: HashMap<String, Mark> = after
            .nodes
            .iter()
            .zip(&marks)
            .map(|(node, &mark)| (node.key.clone(), mark))
            .collect();
        for node in &mut before.nodes {
            node.mark = left.get(&node.key).copied().unwrap_or(Mark::Gone);
        }
        for (node, mark) in after.nodes.iter_mut().zip(marks) {
            node.mark = mark;
        }
    }
}

/// The blocks that are drawn: the module's own, or those of the functions that are all it holds.
fn blocks(g: &Graph) -> Vec<BlockId> {
    let mut blocks = vec![g.body()];
    loop {
        let only_holds = |&block: &BlockId| {
            let mut ops = g
                .ops(block)
                .filter(|&op| !g.def(op).has(Trait::Terminator))
                .peekable();
            ops.peek().is_some()
                && ops.all(|op| !g.regions(op).is_empty() && g.operands(op).is_empty())
        };
        if !blocks.iter().all(only_holds) {
            return blocks;
        }
        let inner = blocks.iter().flat_map(|&block| g.ops(block));
        let inner = inner.flat_map(|op| g.regions(op).iter().map(|&region| g.block(region)));
        let inner: Vec<BlockId> = inner.collect();
        if inner.is_empty() {
            return blocks;
        }
        blocks = inner;
    }
}

struct Made<'g> {
    g: &'g Graph,
    drawing: Drawing,
    /// The box of each value.
    places: HashMap<ValueId, usize>,
    groups: usize,
}

impl Made<'_> {
    fn block(&mut self, block: BlockId) {
        let g = self.g;
        for value in g.arguments(block) {
            let lines = vec![g.type_text(value)];
            self.add(
                format!("%{}", g.label(value)),
                "argument".to_owned(),
                lines,
                Kind::Input,
                None,
            );
            self.places.insert(value, self.drawing.nodes.len() - 1);
        }
        for op in g.ops(block) {
            if self.drawing.nodes.len() >= OPS {
                self.drawing.left_out += 1;
                continue;
            }
            self.op(op);
        }
    }

    fn op(&mut self, op: OpId) {
        let g = self.g;
        let (kind, group) = (kind(g, op), self.group(op));
        let results = g.results(op).into_iter();
        let labels: Vec<String> = results
            .clone()
            .map(|value| format!("%{}", g.label(value)))
            .collect();
        let key = match labels.first() {
            Some(label) => label.clone(),
            None => format!("end of {}", self.drawing.nodes.len()),
        };
        let title = match kind {
            Kind::Output => "outputs".to_owned(),
            _ => format!("{} {}", labels.join(", "), name(g, op)),
        };
        let mut lines: Vec<String> = results.map(|value| cut(&g.type_text(value))).collect();
        lines.extend(attributes(g, op));
        if kind == Kind::Op && !g.operands(op).is_empty() {
            lines.push(cut(&format!("of {}", reads(g, op))));
        }
        body(g, op, &mut lines);
        let own = self.drawing.nodes.len();
        let mut sources: Vec<usize> = g
            .operands(op)
            .iter()
            .filter_map(|value| self.places.get(value).copied())
            .collect();
        sources.dedup();
        self.drawing
            .edges
            .extend(sources.into_iter().map(|source| (source, own)));
        let key = if kind == Kind::Output {
            "outputs".to_owned()
        } else {
            key
        };
        self.add(key, title, lines, kind, group);
        self.places
            .extend(g.results(op).into_iter().map(|value| (value, own)));
    }

    /// The number of the group that an op over a body is.
    fn group(&mut self, op: OpId) -> Option<usize> {
        let is_group = self.g.def(op).has(Trait::BodyOverOperands);
        is_group.then(|| {
            self.groups += 1;
            self.groups - 1
        })
    }

    fn add(
        &mut self,
        key: String,
        title: String,
        lines: Vec<String>,
        kind: Kind,
        group: Option<usize>,
    ) {
        let (title, mark) = (cut(&title), Mark::Same);
        self.drawing.nodes.push(Node {
            key,
            title,
            lines,
            kind,
            mark,
            group,
        });
    }
}

fn kind(g: &Graph, op: OpId) -> Kind {
    let def = g.def(op);
    if def.has(Trait::Terminator) {
        return Kind::Output;
    }
    if def.has(Trait::Constant) {
        return Kind::Constant;
    }
    match g.view::<Input>(op) {
        Some(input) if input.param(g) => Kind::Param,
        Some(_) => Kind::Input,
        None => Kind::Op,
    }
}

/// The op as Core text names it.
fn name(g: &Graph, op: OpId) -> &'static str {
    let def = g.def(op);
    def.names.core.unwrap_or(def.name)
}

fn reads(g: &Graph, op: OpId) -> String {
    let labels = g
        .operands(op)
        .iter()
        .map(|&value| format!("%{}", g.label(value)));
    labels.collect::<Vec<_>>().join(", ")
}

/// The attributes that say something, a line each.
fn attributes(g: &Graph, op: OpId) -> impl Iterator<Item = String> {
    let rows = g.attrs(op).iter().zip(g.def(op).attrs);
    let said = rows.filter(|(attr, row)| row.default.as_ref() != Some(*attr));
    said.map(|(attr, row)| cut(&format!("{}={}", row.name, text(g, attr))))
}

fn text(g: &Graph, attr: &Attr<'_>) -> String {
    match *attr {
        Attr::Int(value) => value.to_string(),
        Attr::Bool(value) => value.to_string(),
        Attr::Float(bits) => f64::from_bits(bits).to_string(),
        Attr::Str(sym) => g.name(sym).to_owned(),
        Attr::Ints(list) => format!("{list:?}"),
        Attr::Dims(list) => mind_ir::types::shape_text(list, g.symbols()),
        Attr::Padding(Padding::Valid) => "valid".to_owned(),
        Attr::Padding(Padding::Same) => "same".to_owned(),
        Attr::Padding(Padding::Custom(pads)) => format!("{pads:?}"),
        Attr::Literal(literal) => match literal.count {
            Some(count) => format!("{count} elements"),
            None => "one element, repeated".to_owned(),
        },
    }
}

/// What the op's regions hold, a line each op.
fn body(g: &Graph, op: OpId, lines: &mut Vec<String>) {
    for &region in g.regions(op) {
        let ops: Vec<OpId> = g.ops(g.block(region)).collect();
        for &inner in ops.iter().take(BODY_LINES) {
            let results = g.results(inner).into_iter();
            let labels: Vec<String> = results
                .map(|value| format!("%{}", g.label(value)))
                .collect();
            let line = match labels.is_empty() {
                true => format!("  yield {}", reads(g, inner)),
                false => format!(
                    "  {} = {} {}",
                    labels.join(", "),
                    name(g, inner),
                    reads(g, inner)
                ),
            };
            lines.push(cut(&line));
        }
        if ops.len() > BODY_LINES {
            lines.push(format!("  ... {} more", ops.len() - BODY_LINES));
        }
    }
}

/// A line with the end of a long one left out.
fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE) {
        Some(_) => line.chars().take(LINE - 3).chain("...".chars()).collect(),
        None => line.to_owned(),
    }
}
