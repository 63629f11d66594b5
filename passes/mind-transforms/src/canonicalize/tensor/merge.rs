//! Maps over maps.

use mind_ir::opdef::Op;
use mind_ir::{OpId, ValueId};
use mind_rewrite::{Miss, Rewriter};
use mind_tensor::ops::group::Group;
use mind_tensor::ops::map::Map;

use super::body::copy_body;
use super::query::defined_by;
use crate::canonicalize::declare::patterns;

patterns! {
    /// In a group, a map moves into the only one that reads it.
    MapMap = "tensor-map-map" on [Map] => merge_maps;
}

/// Where the body of the merged map finds what an argument of one of the two bodies was.
enum Source {
    /// An operand of the merged map.
    Operand(usize),
    /// What the producer yields.
    Produced(usize),
}

fn merge_maps(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let consumer = Map::from_id(op);
    let owner = rw.parent(op).and_then(|block| rw.block_owner(block));
    if !owner.is_some_and(|owner| rw.is::<Group>(owner)) {
        return Err(Miss("the map stands in no group"));
    }
    let producer = only_read_by(rw, consumer).ok_or(Miss("no map that only this one reads"))?;
    let mut operands: Vec<ValueId> = producer.inputs(rw).to_vec();
    let sources: Vec<Source> = consumer
        .inputs(rw)
        .iter()
        .map(|&input| {
            let mut results = rw.results(producer.id()).into_iter();
            if let Some(index) = results.position(|result| result == input) {
                return Source::Produced(index);
            }
            let known = operands.iter().position(|&own| own == input);
            Source::Operand(known.unwrap_or_else(|| {
                operands.push(input);
                operands.len() - 1
            }))
        })
        .collect();
    let above = producer.inputs(rw).len();
    let (first, second) = (producer.body(rw), consumer.body(rw));
    rw.replace_with_body(op, Map::DEF, &operands, |b, arguments| {
        let produced = copy_body(b, first, &arguments[..above]);
        let scalars = sources.iter().map(|source| match *source {
            Source::Operand(at) => arguments[at],
            Source::Produced(at) => produced[at],
        });
        let scalars: Vec<ValueId> = scalars.collect();
        Ok(copy_body(b, second, &scalars))
    })
}

/// The first map among the operands of `consumer` that nothing else reads.
fn only_read_by(rw: &Rewriter<'_>, consumer: Map) -> Option<Map> {
    let only_here = |producer: &Map| {
        let mut results = rw.results(producer.id()).into_iter();
        results.all(|value| rw.uses(value).all(|(user, _)| user == consumer.id()))
    };
    let maps = consumer.inputs(rw).iter();
    maps.filter_map(|&input| defined_by::<Map>(rw, input))
        .find(only_here)
}
