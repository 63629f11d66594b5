//! Costs of values by the cost model of fusion.

use mind_draw::{BoxLine, Drawing, Fill};
use mind_driver::history::Record;
use mind_ir::listener::CostChange;

use super::subject::Subject;

/// Returns the known costs of values created by passes up to this one.
pub(super) fn costs(subject: &Subject<'_>, number: usize) -> Vec<(String, CostChange)> {
    let end = subject.recording.passes[number].rewrites.end;
    let fused = subject.rewrites[..end]
        .iter()
        .filter(|record| record.pass == "fuse");
    let cost = |record: &Record| Some((record.to.split(' ').next_back()?.to_owned(), record.cost?));
    fused.filter_map(cost).collect()
}

/// Adds the cost of each fusion group to its box.
pub(super) fn say_costs(drawing: &mut Drawing, costs: &[(String, CostChange)]) {
    for own in drawing.graph.node_weights_mut() {
        if matches!(own.fill, Fill::Group(_)) {
            let known = costs.iter().rev().find(|(label, _)| *label == own.key);
            own.rows
                .extend(known.map(|(_, cost)| BoxLine::new(cost_text(*cost))));
        }
    }
}

/// Formats a cost with its previous value.
pub(super) fn cost_text(cost: CostChange) -> String {
    let nanos = |picos: u64| format!("{:.1}", picos as f64 / 1e3);
    format!(
        "cost {} ns, was {} ns",
        nanos(cost.after),
        nanos(cost.before)
    )
}
