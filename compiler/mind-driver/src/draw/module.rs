//! Draws a module as boxes and edges.

use mind_core::ops::input::Input;
use mind_draw::{BoxLine, DrawBox, Drawing, Edge, Fill, cut};
use mind_ir::attr::{Attr, AttrKind, Padding};
use mind_ir::opdef::Trait;
use mind_ir::{BlockId, Graph, OpId, ValueId};
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashMap;

/// Limit on the rows of a body.
const BODY_ROWS: usize = 14;
/// Limit on the characters of a row.
const ROW: usize = 44;

/// Draws a verified module with a box for each op.
pub fn module(g: &Graph) -> Drawing {
    let mut translation = Translation {
        g,
        drawing: Drawing::default(),
        boxes: FxHashMap::default(),
        groups: 0,
    };
    for block in blocks(g) {
        translation.block(block);
    }
    translation.drawing
}

/// Returns the blocks to draw: the module's body, or the bodies of its functions if it holds nothing else.
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

struct Translation<'g> {
    g: &'g Graph,
    drawing: Drawing,
    /// The box of each value.
    boxes: FxHashMap<ValueId, NodeIndex>,
    groups: usize,
}

impl Translation<'_> {
    fn block(&mut self, block: BlockId) {
        let g = self.g;
        for value in g.arguments(block) {
            let (key, ty) = (label(g, value), g.type_text(value));
            let own = self.drawing.add(DrawBox {
                like: ty.clone(),
                rows: vec![
                    BoxLine::with_aside("argument", cut(&key, ROW)),
                    BoxLine::new(cut(&ty, ROW)),
                ],
                fill: Fill::Input,
                key,
                ..DrawBox::default()
            });
            self.boxes.insert(value, own);
        }
        for op in g.ops(block) {
            self.op(op);
        }
    }

    fn op(&mut self, op: OpId) {
        let g = self.g;
        let fill = self.fill(op);
        let labels = labels(g, g.results(op).into_iter());
        let is_leaf = matches!(fill, Fill::Input | Fill::Param | Fill::Constant);
        let types = g.results(op).into_iter().map(|value| g.type_text(value));
        let mut rows: Vec<String> = types.collect();
        // Ops are alike if they differ only in names and constants.
        let mut like = format!("{} {}", name(g, op), rows.join(" "));
        for attr in attributes(g, op) {
            if !is_leaf {
                like.extend([" ", &attr]);
            }
            rows.push(attr);
        }
        let operands = g.operands(op);
        if fill != Fill::Output && operands.len() > 1 {
            rows.push(format!("({})", labels_of(g, operands)));
        }
        let inner = body(g, op, &mut rows, &mut like);
        let (title, key) = match (fill, labels.as_str()) {
            (Fill::Output, _) => ("outputs", "outputs".to_owned()),
            (_, "") => (
                name(g, op),
                format!("{} {}", name(g, op), self.drawing.graph.node_count()),
            ),
            (_, labels) => (name(g, op), labels.to_owned()),
        };
        let rows = rows.iter().map(|row| BoxLine::new(cut(row, ROW)));
        let own = DrawBox {
            like,
            rows: std::iter::once(BoxLine::with_aside(title, cut(&labels, ROW)))
                .chain(rows)
                .collect(),
            fill,
            ops: if fill == Fill::Output {
                0
            } else {
                inner.max(1)
            },
            key,
            ..DrawBox::default()
        };
        let own = self.drawing.add(own);
        let sources = operands
            .iter()
            .filter_map(|value| self.boxes.get(value).copied());
        self.drawing.connect(sources, own, Edge::default());
        self.boxes
            .extend(g.results(op).into_iter().map(|value| (value, own)));
    }

    fn fill(&mut self, op: OpId) -> Fill {
        let def = self.g.def(op);
        if def.has(Trait::Terminator) {
            return Fill::Output;
        }
        if def.has(Trait::Constant) {
            return Fill::Constant;
        }
        if def.has(Trait::BodyOverOperands) {
            self.groups += 1;
            return Fill::Group(self.groups - 1);
        }
        match self.g.view::<Input>(op) {
            Some(input) if input.param(self.g) => Fill::Param,
            Some(_) => Fill::Input,
            None => Fill::Op,
        }
    }
}

/// Returns the op's name in Core text.
fn name(g: &Graph, op: OpId) -> &'static str {
    let def = g.def(op);
    def.names.core.unwrap_or(def.name)
}

fn label(g: &Graph, value: ValueId) -> String {
    format!("%{}", g.label(value))
}

fn labels(g: &Graph, values: impl Iterator<Item = ValueId>) -> String {
    values
        .map(|value| label(g, value))
        .collect::<Vec<_>>()
        .join(", ")
}

fn labels_of(g: &Graph, values: &[ValueId]) -> String {
    labels(g, values.iter().copied())
}

/// Returns the texts of the attributes that differ from their defaults.
fn attributes(g: &Graph, op: OpId) -> impl Iterator<Item = String> {
    let rows = g.attrs(op).iter().zip(g.def(op).attrs);
    // The colour of a box shows whether an input is a parameter.
    let is_input = g.view::<Input>(op).is_some();
    let set = rows.filter(move |(attr, row)| {
        row.default.as_ref() != Some(*attr) && !(is_input && row.kind == AttrKind::Bool)
    });
    set.map(|(attr, row)| format!("{}={}", row.name, text(g, attr)))
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
        Attr::DType(dtype) => dtype.name().to_owned(),
        Attr::Word(word) => word.to_owned(),
        Attr::Literal(literal) => match literal.count {
            Some(count) => format!("{count} elements"),
            None => "one element, repeated".to_owned(),
        },
    }
}

/// Adds a row for each op in the regions of `op` and appends their names to `like`; returns the number of ops.
fn body(g: &Graph, op: OpId, rows: &mut Vec<String>, like: &mut String) -> usize {
    let mut count = 0;
    for &region in g.regions(op) {
        let ops: Vec<OpId> = g.ops(g.block(region)).collect();
        for (at, &inner) in ops.iter().enumerate() {
            let reads = labels_of(g, g.operands(inner));
            let results = labels(g, g.results(inner).into_iter());
            let line = if results.is_empty() {
                format!("  yield {reads}")
            } else {
                count += 1;
                format!("  {results} = {} {reads}", name(g, inner))
            };
            like.extend([" ", name(g, inner)]);
            if at < BODY_ROWS {
                rows.push(line);
            }
        }
        if ops.len() > BODY_ROWS {
            rows.push(format!("  … {} more", ops.len() - BODY_ROWS));
        }
    }
    count
}
