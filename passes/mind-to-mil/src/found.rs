//! Ops of MIL that stand in a module of core until its ops are lowered.

use mind_ir::builder::Builder;
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::tensor::{FloatNum, Tensor};
use mind_ir::types::DType;
use mind_ir::{OpId, Ty, ValueId, with_float};
use mind_mil::signature::definition;
use mind_mil::{Attributes, MilOp, Opset};
use rustc_hash::FxHashMap;

use crate::compose;
use crate::config::Config;
use crate::emit::Argument;
use crate::emit::Emit;
use crate::refuse::Refused;
use crate::{places, shapes, split};

/// What an argument is given.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    /// An operand, by its position.
    Operand(usize),
    /// The operands from the first to before the second.
    Tuple(usize, usize),
    Number(f64),
    Numbers(Vec<f64>),
    Int(i64),
    Ints(Vec<i64>),
    Flag(bool),
    Flags(Vec<bool>),
    Word(&'static str),
    Tensor(Tensor),
}

/// An op of MIL over values of core.
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

    /// Gives an argument a value of core.
    pub(crate) fn operand(&mut self, name: &'static str, value: ValueId) {
        let at = self.operands.len();
        self.operands.push(value);
        self.args.push((name, Given::Operand(at)));
    }

    /// Gives an argument a tuple of values of core.
    pub(crate) fn operands(&mut self, name: &'static str, values: &[ValueId]) {
        let at = self.operands.len();
        self.operands.extend_from_slice(values);
        self.args
            .push((name, Given::Tuple(at, self.operands.len())));
    }

    /// Gives an argument a constant.
    pub(crate) fn give(&mut self, name: &'static str, given: Given) {
        self.args.push((name, given));
    }

    /// The op over the operands of `op`, which have been lowered; as many results as that has.
    pub(crate) fn emit(
        &self,
        op: OpId,
        e: &mut Emit<'_, '_>,
    ) -> Result<Vec<ValueId>, Box<Refused>> {
        let operands = e.g().operands(op).to_vec();
        let dtype = e.dtype(operands[0]);
        let mut args = Vec::with_capacity(self.args.len());
        for (name, given) in &self.args {
            args.push((*name, argument(given, &operands, dtype, e)));
        }
        match e.g().results(op).len() {
            1 => Ok(vec![e.op(self.row, &args)?]),
            _ => e.several(self.row, &args, op),
        }
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
        Given::Numbers(list) => {
            let list = with_float!(dtype, T => {
                let list = list.iter().map(|&number| <T as FloatNum>::from_f64(number));
                let list: Vec<T> = list.collect();
                Tensor::of(vec![list.len()], list)
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

/// What `op` ends, as an op that the opset has.
pub(crate) type Recognizer = fn(&Graph, OpId, Opset) -> Option<Found>;

/// Puts ops of MIL in the place of what core says in several ops, wherever they stand; what they are given, by op.
pub(crate) fn recognize(g: &mut Graph, config: &Config) -> FxHashMap<OpId, Found> {
    let mut all = FxHashMap::default();
    let ops: Vec<OpId> = g.walk().collect();
    // What ends later is longer.
    for &op in ops.iter().rev() {
        if g.parent(op).is_none() || g.results(op).len() != 1 {
            continue;
        }
        let alone = |found: Found| (vec![op], found);
        let found = compose::found(g, op, config.float).or_else(|| {
            let mut recognizers = shapes::RECOGNIZERS.iter().chain(places::RECOGNIZERS);
            recognizers.find_map(|own| own(g, op, config.opset))
        });
        let found = found.map(alone).or_else(|| split::found(g, op));
        let in_opset = |row: &MilOp| definition(row.signatures, config.opset).is_some();
        if let Some((roots, found)) = found.filter(|(_, found)| in_opset(found.row)) {
            let placed = place(g, &roots, &found);
            all.insert(placed, found);
        }
    }
    all
}

/// Puts an op in the place of `roots`, a result for each, and takes out what nothing reads then.
fn place(g: &mut Graph, roots: &[OpId], found: &Found) -> OpId {
    let results: Vec<ValueId> = roots.iter().map(|&root| g.result(root)).collect();
    let types = results.iter().map(|&value| g.type_id(value));
    let types: Vec<Ty> = types.map(|ty| ty.expect("a verified type")).collect();
    let unnamed = g.intern("");
    let attrs = Attributes::list(&[], [unnamed; 2]);
    let first = match roots {
        [one] => *one,
        _ => {
            let block = g.parent(roots[0]).expect("a root stands in a block");
            let mut ops = g.ops(block);
            ops.find(|op| roots.contains(op))
                .expect("the roots stand in one block")
        }
    };
    let mut b = Builder::before(g, first);
    let new = b.create_typed(&found.row.def, &found.operands, &attrs, &types);
    let values: Vec<ValueId> = g.results(new).into_iter().collect();
    for (old, new) in results.into_iter().zip(values) {
        g.replace_all_uses(old, new);
    }
    for &root in roots {
        erase_unread(g, root);
    }
    new
}

/// Takes out an op that nothing reads, and what it alone read.
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
