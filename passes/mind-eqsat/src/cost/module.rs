//! The price of a module or an op.

use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::types::TypeView;
use mind_ir::{BlockId, OpId, ValueId};
use smallvec::SmallVec;

use super::resolved::CostTable;
use super::work::{Price, Work};

/// Returns the price of a module: the sum over all ops of its body, dead ones included.
///
/// An op with regions counts as one kernel that does the work of all ops in them.
pub(crate) fn module_price(g: &Graph, table: &CostTable<'_>) -> Price {
    g.ops(g.body())
        .fold(Price::default(), |sum, op| sum.plus(op_price(g, table, op)))
}

/// Returns the price of `op` in the module.
pub(crate) fn op_price(g: &Graph, table: &CostTable<'_>, op: OpId) -> Price {
    let def = g.def(op);
    if def.has(Trait::Terminator) {
        return Price::default();
    }
    let operands = g.operands(op);
    let types: SmallVec<[TypeView<'_>; 4]> = operands.iter().map(|&value| g.ty(value)).collect();
    if g.regions(op).is_empty() {
        let class = table.class_of(def);
        let model = &table.model;
        return match *g.results(op).iter().collect::<SmallVec<[ValueId; 1]>>() {
            [result] => model.op(class, def.scalar, operands, &types, g.ty(result)),
            _ => Price::default(),
        };
    }
    let read = operands.iter().enumerate();
    let read = read.filter(|&(at, value)| !operands[..at].contains(value));
    let read = read.map(|(at, _)| types[at]);
    let moved = read.chain(g.results(op).into_iter().map(|value| g.ty(value)));
    let bytes = moved.fold(0u64, |sum, ty| sum.saturating_add(table.model.bytes(ty)));
    table.model.kernel(bytes, op_work(g, table, op))
}

/// Returns the work of `op`, or of all ops in its regions.
pub(crate) fn op_work(g: &Graph, table: &CostTable<'_>, op: OpId) -> Work {
    if !g.regions(op).is_empty() {
        let blocks = g.regions(op).iter().map(|&region| g.block(region));
        return blocks.fold(Work::default(), |sum, block| {
            sum.plus(block_work(g, table, block))
        });
    }
    let def = g.def(op);
    let [result] = *g.results(op).iter().collect::<SmallVec<[ValueId; 1]>>() else {
        return Work::default();
    };
    let types: SmallVec<[TypeView<'_>; 4]> =
        g.operands(op).iter().map(|&value| g.ty(value)).collect();
    let class = table.class_of(def);
    table.model.work(class, def.scalar, &types, g.ty(result))
}

fn block_work(g: &Graph, table: &CostTable<'_>, block: BlockId) -> Work {
    g.ops(block)
        .fold(Work::default(), |sum, op| sum.plus(op_work(g, table, op)))
}
