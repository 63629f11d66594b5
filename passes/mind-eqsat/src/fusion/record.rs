//! Records of the groups that a run made, for its report.

use mind_ir::OpId;
use mind_ir::attr::Attr;
use mind_ir::graph::Graph;
use mind_ir::opdef::{OpDef, Trait};

use crate::cost::{CostTable, Price, op_price};
use crate::report::{FusedGroup, FusedMember};

/// Returns records of the ops of `fused` in the module's body whose id is at least `since`, in program order.
pub(crate) fn records(
    g: &Graph,
    costs: &CostTable<'_>,
    fused: &'static OpDef,
    since: usize,
) -> Vec<FusedGroup> {
    let made = |op: &OpId| std::ptr::eq(g.def(*op), fused) && op.index() >= since;
    g.ops(g.body())
        .filter(made)
        .map(|op| record(g, costs, op))
        .collect()
}

fn record(g: &Graph, costs: &CostTable<'_>, op: OpId) -> FusedGroup {
    let kind = match g.attrs(op).first() {
        Some(Attr::Str(kind)) => g.name(*kind).to_owned(),
        _ => String::new(),
    };
    let mut apart = Price::default();
    let mut members = Vec::new();
    let mut launches = 0;
    for inner in g.ops(g.block(g.regions(op)[0])) {
        let def = g.def(inner);
        if def.has(Trait::Constant) || def.has(Trait::Terminator) {
            continue;
        }
        let price = op_price(g, costs, inner);
        apart = apart.plus(price);
        launches += usize::from(price.cost >= costs.model.launch);
        members.push(FusedMember {
            op: def.name,
            span: g.span(inner),
        });
    }
    let together = op_price(g, costs, op);
    FusedGroup {
        span: g.span(op),
        kind,
        ops: members.len(),
        results: g.results(op).len(),
        members,
        launches_saved: launches.saturating_sub(1),
        cost_before: apart.cost,
        cost_after: together.cost,
        bytes_before: apart.bytes,
        bytes_after: together.bytes,
    }
}
