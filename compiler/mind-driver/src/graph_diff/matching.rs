//! Pairs the ops of two modules.

use std::collections::{HashMap, VecDeque};

use mind_ir::attr::{Attr, Literal, Padding};
use mind_ir::types::Dim;
use mind_ir::{BlockId, Graph, OpId, ValueId};

use super::statements::is_end;

/// Pairs of ops in the bodies of two modules.
pub(super) struct Matching {
    forth: HashMap<OpId, OpId>,
    back: HashMap<OpId, OpId>,
}

impl Matching {
    pub(super) fn new(a: &Graph, b: &Graph) -> Matching {
        let mut matching = Matching {
            forth: HashMap::new(),
            back: HashMap::new(),
        };
        matching.pair_equal(a, b);
        matching.pair_by(a, b, |g, op| {
            g.results(op)
                .into_iter()
                .next()
                .map(|value| (g.label(value), g.def(op).name))
        });
        matching.pair_by(a, b, |g, op| Some((0, g.def(op).name)));
        matching.pair_by(a, b, |g, op| {
            let value = g.results(op).into_iter().next()?;
            Some((g.label(value), ""))
        });
        matching
    }

    /// Returns the op of the second module that is paired with an op of the first.
    pub(super) fn partner(&self, op: OpId) -> Option<OpId> {
        self.forth.get(&op).copied()
    }

    /// Returns the op of the first module that is paired with an op of the second.
    pub(super) fn partner_of_new(&self, op: OpId) -> Option<OpId> {
        self.back.get(&op).copied()
    }

    /// Returns whether two paired ops have different attributes, types, bodies or operands.
    pub(super) fn differs(&self, a: &Graph, b: &Graph, x: OpId, y: OpId) -> bool {
        if head(a, x) != head(b, y) || a.operands(x).len() != b.operands(y).len() {
            return true;
        }
        let mut pairs = a.operands(x).iter().zip(b.operands(y));
        !pairs.all(|(&x, &y)| self.same_value(a, b, x, y))
    }

    fn same_value(&self, a: &Graph, b: &Graph, x: ValueId, y: ValueId) -> bool {
        match (a.defining_op(x), b.defining_op(y)) {
            (Some(op), Some(other)) => {
                let place = |g: &Graph, op: OpId, value: ValueId| {
                    g.results(op).iter().position(|own| own == value)
                };
                self.partner(op) == Some(other) && place(a, op, x) == place(b, other, y)
            }
            _ => false,
        }
    }

    fn pair(&mut self, x: OpId, y: OpId) {
        self.forth.insert(x, y);
        self.back.insert(y, x);
    }

    /// Pairs equal ops whose operands are equal too, in order.
    fn pair_equal(&mut self, a: &Graph, b: &Graph) {
        let mut numbers = HashMap::new();
        let (old, new) = (classes(a, &mut numbers), classes(b, &mut numbers));
        let mut free: HashMap<usize, VecDeque<OpId>> = HashMap::new();
        for (op, class) in old {
            free.entry(class).or_default().push_back(op);
        }
        for (op, class) in new {
            if let Some(partner) = free.get_mut(&class).and_then(VecDeque::pop_front) {
                self.pair(partner, op);
            }
        }
    }

    /// Pairs unpaired ops with equal keys, in order.
    fn pair_by<K: std::hash::Hash + Eq>(
        &mut self,
        a: &Graph,
        b: &Graph,
        key: impl Fn(&Graph, OpId) -> Option<K>,
    ) {
        let mut free: HashMap<K, VecDeque<OpId>> = HashMap::new();
        for op in a.ops(a.body()).filter(|op| !self.forth.contains_key(op)) {
            if let Some(key) = key(a, op) {
                free.entry(key).or_default().push_back(op);
            }
        }
        for op in b.ops(b.body()) {
            let partner = if self.back.contains_key(&op) {
                None
            } else {
                key(b, op)
                    .and_then(|key| free.get_mut(&key))
                    .and_then(VecDeque::pop_front)
            };
            partner
                .into_iter()
                .for_each(|partner| self.pair(partner, op));
        }
    }
}

/// The text of an op without its operands, and the class and result index of each operand.
type Shape = (String, Vec<(usize, usize)>);

/// Returns the class of each op (value numbering): ops of a class are equal and their operands have the same classes.
fn classes(g: &Graph, numbers: &mut HashMap<Shape, usize>) -> Vec<(OpId, usize)> {
    let mut of: HashMap<ValueId, (usize, usize)> = HashMap::new();
    let mut all = Vec::new();
    for op in g.ops(g.body()) {
        let operands = g
            .operands(op)
            .iter()
            .map(|value| of.get(value).copied().unwrap_or((usize::MAX, 0)));
        let key = (head(g, op), operands.collect());
        let next = numbers.len();
        let class = *numbers.entry(key).or_insert(next);
        of.extend(
            g.results(op)
                .into_iter()
                .enumerate()
                .map(|(place, value)| (value, (class, place))),
        );
        all.push((op, class));
    }
    all
}

/// Returns the text of an op without its operands.
fn head(g: &Graph, op: OpId) -> String {
    if is_end(g, op) {
        return "outputs".to_owned();
    }
    let mut text = signature(g, op);
    for &region in g.regions(op) {
        let block = g.block(region);
        let mut names: HashMap<ValueId, usize> = HashMap::new();
        body(g, block, &mut names, &mut text);
    }
    text
}

fn signature(g: &Graph, op: OpId) -> String {
    let attrs: Vec<String> = g.attrs(op).iter().map(|attr| attribute(g, attr)).collect();
    let types: Vec<String> = g
        .results(op)
        .into_iter()
        .map(|value| g.type_text(value))
        .collect();
    format!("{}{attrs:?}{types:?}", g.def(op).name)
}

/// Appends the text of a body, whose values are numbered in order of definition.
fn body(g: &Graph, block: BlockId, names: &mut HashMap<ValueId, usize>, text: &mut String) {
    let name = |names: &mut HashMap<ValueId, usize>, value: ValueId| {
        let next = names.len();
        *names.entry(value).or_insert(next)
    };
    g.arguments(block).into_iter().for_each(|value| {
        name(names, value);
    });
    for op in g.ops(block) {
        let operands: Vec<usize> = g
            .operands(op)
            .iter()
            .map(|&value| name(names, value))
            .collect();
        text.push_str(&format!("({}{operands:?}", signature(g, op)));
        g.results(op).into_iter().for_each(|value| {
            name(names, value);
        });
        for &region in g.regions(op) {
            body(g, g.block(region), names, text);
        }
        text.push(')');
    }
}

/// Returns the text of an attribute with names in the place of the module's symbol ids.
fn attribute(g: &Graph, attr: &Attr<'_>) -> String {
    match *attr {
        Attr::Str(sym) => format!("{:?}", g.name(sym)),
        Attr::Dims(list) => {
            let dims = list
                .iter()
                .map(|dim: &Dim| dim.display(g.symbols()).to_string());
            format!("{:?}", dims.collect::<Vec<_>>())
        }
        Attr::Literal(Literal {
            dtype,
            count,
            bytes,
        }) => format!("{dtype}{count:?}{bytes:?}"),
        Attr::Padding(Padding::Custom(pads)) => format!("{pads:?}"),
        ref other => format!("{other:?}"),
    }
}
