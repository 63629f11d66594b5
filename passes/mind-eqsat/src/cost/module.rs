//! The cost of a module as it is.

use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::types::TypeView;
use mind_ir::{BlockId, OpId};
use smallvec::SmallVec;

use super::model::Work;
use super::resolved::CostTable;

/// The cost of a module: the sum over the ops of its body, read or not.
///
/// An op with regions counts as one kernel that does the work of everything in them.
pub(crate) fn module_cost(g: &Graph, table: &CostTable) -> u64 {
    g.ops(g.body())
        .fold(0, |sum, op| sum.saturating_add(op_cost(g, table, op)))
}

/// The cost of `op` in the module.
pub(crate) fn op_cost(g: &Graph, table: &CostTable, op: OpId) -> u64 {
    let def = g.def(op);
    if def.has(Trait::Terminator) {
        return 0;
    }
    let operands = g.operands(op);
    let types: SmallVec<[TypeView<'_>; 4]> = operands.iter().map(|&value| g.ty(value)).collect();
    if g.regions(op).is_empty() {
        let class = table.class_of(def);
        return match *g.results(op).iter().collect::<SmallVec<[_; 1]>>() {
            [result] => table
                .model
                .op(class, def.scalar, operands, &types, g.ty(result)),
            _ => 0,
        };
    }
    let results = g.results(op).into_iter().map(|value| g.ty(value));
    let moved = types.iter().copied().chain(results);
    let bytes = moved.fold(0u64, |sum, ty| sum.saturating_add(table.model.bytes(ty)));
    let blocks = g.regions(op).iter().map(|&region| g.block(region));
    let work = blocks.fold(Work::default(), |sum, block| {
        sum.plus(block_work(g, table, block))
    });
    table.model.kernel(bytes, work)
}

fn block_work(g: &Graph, table: &CostTable, block: BlockId) -> Work {
    g.ops(block).fold(Work::default(), |sum, op| {
        let def = g.def(op);
        let [result] = *g.results(op).iter().collect::<SmallVec<[_; 1]>>() else {
            return sum;
        };
        let types: SmallVec<[TypeView<'_>; 4]> =
            g.operands(op).iter().map(|&value| g.ty(value)).collect();
        sum.plus(
            table
                .model
                .work(table.class_of(def), def.scalar, &types, g.ty(result)),
        )
    })
}
