//! MIL ops that replace several ops of core. They stay in the module of core until its ops are lowered.

use mind_convert::Refusal;
use mind_core::ops::control::yields;
use mind_core::ops::fused::Fused;
use mind_ir::builder::Builder;
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::tensor::{FloatNum, Tensor};
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::{OpId, Ty, ValueId, with_float};
use mind_mil::signature::definition;
use mind_mil::{Attributes, MilOp, Opset};
use rustc_hash::FxHashMap;

use crate::compose;
use crate::config::Config;
use crate::counted::count_scans;
use crate::emit::Argument;
use crate::emit::Emit;
use crate::{places, recurrent, runtime_shape, shapes, split, suppressed};

/// The value of an argument.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    /// The operand at an index.
    Operand(usize),
    /// A tuple of the operands from the first index to before the second.
    Tuple(usize, usize),
    Number(f64),
    /// A constant: its shape and numbers.
    Numbers(Vec<usize>, Vec<f64>),
    Int(i64),
    Ints(Vec<i64>),
    Flag(bool),
    Flags(Vec<bool>),
    Word(&'static str),
    Tensor(Tensor),
}

/// A MIL op over values of core.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    row: &'static MilOp,
    operands: Vec<ValueId>,
    args: Vec<(&'static str, Given)>,
}

impl Found {
    pub(crate) fn new(row: &'static MilOp) -> Found {
        Found {
            row,
            operands: Vec::new(),
            args: Vec::new(),
        }
    }

    /// Binds an argument to a value of core.
    pub(crate) fn operand(&mut self, name: &'static str, value: ValueId) {
        let at = self.operands.len();
        self.operands.push(value);
        self.args.push((name, Given::Operand(at)));
    }

    /// Binds an argument to a tuple of values of core.
    pub(crate) fn operands(&mut self, name: &'static str, values: &[ValueId]) {
        let at = self.operands.len();
        self.operands.extend_from_slice(values);
        self.args
            .push((name, Given::Tuple(at, self.operands.len())));
    }

    /// Binds an argument to `given`.
    pub(crate) fn give(&mut self, name: &'static str, given: Given) {
        self.args.push((name, given));
    }

    /// Returns the name of the op.
    pub(crate) fn name(&self) -> &'static str {
        self.row.name
    }

    /// Returns the value of core that is bound to the first argument.
    pub(crate) fn first(&self) -> Option<ValueId> {
        self.operands.first().copied()
    }

    /// Returns the number that is bound to an argument.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        let mut args = self.args.iter();
        args.find_map(|(own, given)| match given {
            Given::Number(number) if *own == name => Some(*number),
            _ => None,
        })
    }

    /// Returns all numbers that are bound to arguments.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> {
        self.args.iter().flat_map(|(_, given)| match given {
            Given::Number(number) => std::slice::from_ref(number).iter().copied(),
            Given::Numbers(_, list) => list.iter().copied(),
            _ => [].iter().copied(),
        })
    }

    /// Emits the op over the operands of `op`, which have been lowered. It has as many results as `op`.
    pub(crate) fn emit(&self, op: OpId, e: &mut Emit<'_, '_>) -> Result<Vec<ValueId>, Refusal> {
        let operands = e.g().operands(op).to_vec();
        let dtype = e.dtype(operands[0]);
        let mut args = Vec::with_capacity(self.args.len());
        for (name, given) in &self.args {
            args.push((*name, argument(given, &operands, dtype, e)));
        }
        let results = e.g().results(op);
        let is_open = |value: ValueId| e.g().ty(value).shape.contains(&Dim::Dynamic);
        if results.len() == 1 && !results.into_iter().any(is_open) {
            return Ok(vec![e.op(self.row, &args)?]);
        }
        e.several(self.row, &args, op)
    }
}

fn argument<'a>(
    given: &'a Given,
    operands: &'a [ValueId],
    dtype: DType,
    e: &mut Emit<'_, '_>,
) -> Argument<'a> {
    match given {
        Given::Operand(at) => Argument::Value(operands[*at]),
        Given::Tuple(first, end) => Argument::Values(&operands[*first..*end]),
        Given::Number(number) => Argument::Number(*number, dtype),
        Given::Numbers(shape, list) => {
            let list = with_float!(dtype, T => {
                let list = list.iter().map(|&number| <T as FloatNum>::from_f64(number));
                let list: Vec<T> = list.collect();
                Tensor::of(shape.clone(), list)
            }, else unreachable!("numbers of a program are floats"));
            Argument::Value(e.constant(&list))
        }
        Given::Int(number) => Argument::Int(*number),
        Given::Ints(list) => Argument::Ints(list),
        Given::Flag(flag) => Argument::Flag(*flag),
        Given::Flags(flags) => Argument::Flags(flags),
        Given::Word(word) => Argument::Word(word),
        Given::Tensor(tensor) => Argument::Value(e.constant(tensor)),
    }
}

/// Matches a composition of core ops that ends with an op, as a MIL op of the opset.
pub(crate) type Recognizer = fn(&Graph, OpId, Opset) -> Option<Found>;

/// A MIL op with its position and the values it replaces.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) found: Found,
    /// The op before which it is inserted.
    pub(crate) anchor: OpId,
    /// The types of its results.
    pub(crate) types: Vec<TensorType>,
    /// The values that its results replace, each with the index of the result.
    pub(crate) replaced: Vec<(ValueId, usize)>,
}

/// Replaces compositions of core ops by MIL ops in all blocks, and returns the arguments of these by op.
pub(crate) fn recognize(g: &mut Graph, config: &Config) -> FxHashMap<OpId, Found> {
    let mut all = FxHashMap::default();
    let in_opset = |row: &MilOp| definition(row.signatures, config.opset).is_some();
    inline_fused(g);
    let ops: Vec<OpId> = g.walk().collect();
    // Layers first, because the ops of their steps must not be matched separately.
    for &op in &ops {
        let whole = g.parent(op).and_then(|_| {
            let layer = recurrent::found(g, op, config);
            layer.or_else(|| suppressed::found(g, op, config))
        });
        if let Some(whole) = whole.filter(|whole| in_opset(whole.found.row)) {
            all.insert(place(g, &whole), whole.found);
        }
    }
    count_scans(g);
    let ops: Vec<OpId> = g.walk().collect();
    // In reverse order, because a longer composition ends later.
    for &op in ops.iter().rev() {
        if g.parent(op).is_none() || g.results(op).len() != 1 || all.contains_key(&op) {
            continue;
        }
        let found = compose::found(g, op, config.float).or_else(|| {
            let tables = [
                shapes::RECOGNIZERS,
                places::RECOGNIZERS,
                runtime_shape::RECOGNIZERS,
            ];
            let mut recognizers = tables.into_iter().flatten();
            recognizers.find_map(|own| own(g, op, config.opset))
        });
        let found = found.map(|found| (vec![op], found));
        let found = found.or_else(|| split::found(g, op));
        if let Some((roots, found)) = found.filter(|(_, found)| in_opset(found.row)) {
            let placed = ending(g, &roots, found);
            all.insert(place(g, &placed), placed.found);
        }
    }
    all
}

/// Inlines fused ops, because compositions may cross their boundaries.
fn inline_fused(g: &mut Graph) {
    let fused: Vec<OpId> = g.walk().filter(|&op| g.is::<Fused>(op)).collect();
    for op in fused {
        let yielded = yields(g, op, 0).iter().copied();
        let same = g.results(op).into_iter().map(|value| g.type_id(value));
        if same.eq(yielded.map(|value| g.type_id(value))) {
            g.inline(op);
        }
    }
}

/// Returns an op that replaces `roots`, with one result for each.
fn ending(g: &Graph, roots: &[OpId], found: Found) -> Placed {
    let results: Vec<ValueId> = roots.iter().map(|&root| g.result(root)).collect();
    let anchor = match roots {
        [one] => *one,
        _ => {
            let block = g.parent(roots[0]).expect("a root is in a block");
            let mut ops = g.ops(block);
            ops.find(|op| roots.contains(op))
                .expect("the roots stand in one block")
        }
    };
    Placed {
        found,
        anchor,
        types: results
            .iter()
            .map(|&value| g.ty(value).to_owned())
            .collect(),
        replaced: results.into_iter().zip(0..).collect(),
    }
}

/// Inserts an op at its position and erases the ops that become dead.
fn place(g: &mut Graph, placed: &Placed) -> OpId {
    let found = &placed.found;
    let types = placed.types.iter().map(|ty| g.intern_type(ty.view()));
    let types: Vec<Ty> = types.collect();
    let unnamed = g.intern("");
    let attrs = Attributes::list(&[], [unnamed; 2]);
    let mut b = Builder::before(g, placed.anchor);
    let new = b.create_typed(&found.row.def, &found.operands, &attrs, &types);
    let mut unread = vec![placed.anchor];
    for &(old, at) in &placed.replaced {
        unread.extend(g.defining_op(old));
        let result = g.results(new).get(at);
        g.replace_all_uses(old, result);
    }
    for op in unread {
        erase_unread(g, op);
    }
    new
}

/// Erases an op without uses, and its operands that become dead.
fn erase_unread(g: &mut Graph, op: OpId) {
    let is_read = g
        .results(op)
        .into_iter()
        .any(|value| !g.uses(value).is_empty());
    if is_read || g.parent(op).is_none() || !g.def(op).has(Trait::Pure) {
        return;
    }
    let sources: Vec<OpId> = g
        .operands(op)
        .iter()
        .filter_map(|&value| g.defining_op(value))
        .collect();
    g.erase(op);
    for source in sources {
        erase_unread(g, source);
    }
}
