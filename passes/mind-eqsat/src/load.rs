//! Loads a region of the module into an e-graph.

use std::ops::Range;

use egg::Id;
use mind_ir::attr::Attr;
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::{OpId, Ty, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::egraph::analysis::{Eg, Knowledge, LeafData, add_typed};
use crate::egraph::constants::ConstId;
use crate::egraph::language::{Head, Node};
use crate::egraph::rebuild::rebuild;
use crate::egraph::store::{LiteralKey, Store};
use crate::region::Program;
use mind_ir::scalar::Facts;
use mind_rules::OpTable;
use mind_rules::constant_of;

/// The most bytes of a constant whose elements are read.
const CONSTANT_LIMIT: u64 = 1 << 20;

/// A region as an e-graph. Positions count from 1 within the region; 0 is before it.
///
/// An op is transparent if it is represented as an e-node; the results of all other ops are leaves.
pub(crate) struct Loaded<'r> {
    pub(crate) egraph: Eg<'r>,
    /// The class into which each value was put.
    pub(crate) classes: FxHashMap<ValueId, Id>,
    /// The value and position of each leaf. Inputs of the module have position 0, because they can be moved.
    pub(crate) leaves: Vec<(ValueId, u32)>,
    /// The transparent ops, in program order.
    pub(crate) ops: Vec<LoadedOp>,
    /// The first constant op of the program for each constant.
    pub(crate) constants: FxHashMap<ConstId, OpId>,
    /// The values that are read outside the region or by opaque ops, in program order.
    pub(crate) roots: Vec<ValueId>,
    /// The merged ops: each list holds the parts of one.
    pub(crate) merges: Vec<Vec<MergedPart>>,
    /// For each op of `ops`, the number of operands that read its result, and whether one of them is outside the region
    /// or in an opaque op.
    pub(crate) readers: Vec<(u32, bool)>,
}

/// A transparent op of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadedOp {
    pub(crate) position: u32,
    pub(crate) op: OpId,
    pub(crate) result: ValueId,
    /// The class into which its result was put.
    pub(crate) class: Id,
    /// The id of its e-node; `None` if the op equals one of its operands.
    pub(crate) node: Option<Id>,
}

/// A class that is a part of a merged op, and the classes that its new e-node reads.
#[derive(Clone, Debug)]
pub(crate) struct MergedPart {
    pub(crate) class: Id,
    pub(crate) children: SmallVec<[Id; 2]>,
}

/// Loads the region `range` of `program` into an e-graph over `store`. `exact` states that only exact rules will be
/// applied to it.
pub(crate) fn load<'r>(
    g: &Graph,
    program: &Program,
    table: &OpTable,
    range: Range<usize>,
    store: Store<'r>,
    exact: bool,
) -> Loaded<'r> {
    let mut loaded = Loaded {
        egraph: Eg::new(Knowledge::new(store, exact)),
        classes: FxHashMap::default(),
        leaves: Vec::new(),
        ops: Vec::new(),
        constants: FxHashMap::default(),
        roots: Vec::new(),
        merges: Vec::new(),
        readers: Vec::new(),
    };
    for (at, &op) in program.ops[range.clone()].iter().enumerate() {
        let position = at as u32 + 1;
        if g.def(op).has(Trait::Terminator) {
            continue;
        }
        match table.transparent(g.def(op)) {
            Some(number) => loaded.op(g, op, number, position),
            None => {
                for value in g.results(op) {
                    loaded.outer(g, value, position);
                }
            }
        }
    }
    rebuild(&mut loaded.egraph);
    let inside = |user: OpId| {
        program
            .position(user)
            .is_some_and(|position| range.contains(&position))
            && table.transparent(g.def(user)).is_some()
    };
    for at in 0..loaded.ops.len() {
        let result = loaded.ops[at].result;
        let mut uses = 0;
        let mut root = false;
        for (user, _) in g.uses(result) {
            uses += 1;
            root |= !inside(user);
        }
        if root {
            loaded.roots.push(result);
        }
        loaded.readers.push((uses, root));
    }
    loaded
}

impl Loaded<'_> {
    /// Returns whether an op of the region is a convolution.
    pub(crate) fn convolves(&self) -> bool {
        let store = &self.egraph.analysis.store;
        let mut nodes = self.ops.iter().filter_map(|own| own.node);
        nodes.any(|id| match self.egraph.nodes()[usize::from(id)].head {
            Head::Op(op) => store.costs.class(op).convolves(),
            Head::Leaf | Head::Const => false,
        })
    }

    /// Counts the operands of the program that read each class, by its current id.
    pub(crate) fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.egraph.nodes().len()];
        for (own, &(count, _)) in self.ops.iter().zip(&self.readers) {
            uses[usize::from(self.egraph.find(own.class))] += count;
        }
        uses
    }

    fn op(&mut self, g: &Graph, op: OpId, number: mind_rules::OpIx, position: u32) {
        let result = g.result(op);
        let children: SmallVec<[Id; 4]> = g
            .operands(op)
            .iter()
            .map(|&operand| self.class(g, operand))
            .collect();
        let store = &mut self.egraph.analysis.store;
        let ty = import_type(store, g, result);
        let Some(attrs) = store.import_attrs(g, op) else {
            self.outer(g, result, position);
            return;
        };
        let equals = g.def(op).fold.and_then(|_| {
            let types: SmallVec<[Ty; 4]> = children
                .iter()
                .map(|&child| self.egraph[child].data.ty)
                .collect();
            let signature = self.egraph.analysis.store.signature(number, &attrs, &types);
            signature
                .equals
                .filter(|&at| signature.ty == Some(ty) && types[at] == ty)
        });
        let (class, node) = match equals {
            Some(at) => (children[at], None),
            None => {
                let id = add_typed(&mut self.egraph, number, attrs, &children, ty);
                (id, Some(id))
            }
        };
        self.classes.insert(result, class);
        self.ops.push(LoadedOp {
            position,
            op,
            result,
            class,
            node,
        });
    }

    /// Returns the class of an operand; a value from before the region becomes a leaf.
    fn class(&mut self, g: &Graph, value: ValueId) -> Id {
        match self.classes.get(&value) {
            Some(&class) => class,
            None => self.outer(g, value, 0),
        }
    }

    /// Adds the result of an opaque op as a constant or a leaf.
    fn outer(&mut self, g: &Graph, value: ValueId, position: u32) -> Id {
        let movable = |op: OpId| g.def(op).has(Trait::Interface);
        let position = if g.defining_op(value).is_some_and(movable) {
            0
        } else {
            position
        };
        let store = &mut self.egraph.analysis.store;
        let ty = import_type(store, g, value);
        let constant = g.defining_op(value).and_then(|op| {
            let constant = import_constant(store, g, op, ty)?;
            self.constants.entry(constant).or_insert(op);
            Some(constant)
        });
        let node = match constant {
            Some(constant) => Node::nullary(Head::Const, constant),
            None => {
                let facts = leaf_facts(g, value);
                self.egraph.analysis.leaves.push(LeafData { ty, facts });
                self.leaves.push((value, position));
                Node::nullary(Head::Leaf, self.leaves.len() as u32 - 1)
            }
        };
        let class = self.egraph.add(node);
        self.classes.insert(value, class);
        class
    }
}

fn import_type(store: &mut Store<'_>, g: &Graph, value: ValueId) -> Ty {
    let ty = g.type_id(value).expect("a verified value has a type");
    store.scratch.import(g, ty)
}

/// Returns the facts of a leaf that follow from its op alone, for example that an `exp` is not negative.
fn leaf_facts(g: &Graph, value: ValueId) -> Facts {
    let scalar = g.defining_op(value).and_then(|op| g.def(op).scalar);
    match scalar {
        Some(function) if g.ty(value).dtype.is_float() => function.facts(&[], false),
        _ => Facts::NONE,
    }
}

/// Returns the id of the constant that `op` defines; `None` if `op` is not a constant, or a large one that is not a
/// splat.
fn import_constant(store: &mut Store<'_>, g: &Graph, op: OpId, ty: Ty) -> Option<ConstId> {
    let literal = match g.attrs(op) {
        &[Attr::Literal(literal)] => Some(LiteralKey::of(literal, ty)),
        _ => None,
    };
    if let Some(known) = literal.and_then(|key| store.literals.get(&key)) {
        return Some(*known);
    }
    let number = store
        .constants
        .intern(constant_of(g, op, ty, CONSTANT_LIMIT)?);
    if let Some(key) = literal {
        store.literals.insert(key, number);
    }
    Some(number)
}
