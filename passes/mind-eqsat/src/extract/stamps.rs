//! Computes the ranks of the classes of a dense view.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::dense::{ClassIx, Dense, NodeContent, NodeIx};
use super::rank::Rank;
use crate::egraph::language::Head;
use crate::load::Loaded;

/// Ranks every class. Classes of the program rank by their first op, leaves by the position where they are available,
/// constants lowest, and all others by their earliest e-node.
pub(super) fn rank(dense: &mut Dense, loaded: &Loaded<'_>) {
    for at in 0..dense.nodes.len() {
        let node = &dense.nodes[at];
        let position = match node.content {
            NodeContent::Node {
                head: Head::Leaf,
                payload,
            } => loaded.leaves[payload as usize].1,
            NodeContent::Node {
                head: Head::Const, ..
            } => 0,
            _ => continue,
        };
        let rank = &mut dense.classes[node.class as usize].rank;
        *rank = (*rank).min(Rank::at(position));
    }
    for class in &mut dense.classes {
        if let Some(op) = class.program {
            class.rank = class.rank.min(Rank::at(loaded.ops[op as usize].position));
        }
    }
    let mut readers: Vec<Vec<NodeIx>> = vec![Vec::new(); dense.classes.len()];
    for (at, node) in dense.nodes.iter().enumerate() {
        node.children
            .iter()
            .for_each(|&child| readers[child as usize].push(at as NodeIx));
    }
    // As in Dijkstra's algorithm: a class ranks after its children, so the lowest rank in the queue is final.
    let ranked = dense.classes.iter().zip(0..);
    let ranked = ranked.filter(|(class, _)| class.rank != Rank::NEVER);
    let mut queue: BinaryHeap<Reverse<(Rank, ClassIx)>> = ranked
        .map(|(class, at)| Reverse((class.rank, at)))
        .collect();
    while let Some(Reverse((rank, class))) = queue.pop() {
        if rank > dense.classes[class as usize].rank {
            continue;
        }
        for &reader in &readers[class as usize] {
            let node = &dense.nodes[reader as usize];
            let target = node.class;
            if dense.classes[target as usize].program.is_some() {
                continue;
            }
            let ranks = node
                .children
                .iter()
                .map(|&child| dense.classes[child as usize].rank);
            let Some(last) = ranks.max().filter(|&last| last != Rank::NEVER) else {
                continue;
            };
            let rank = Rank {
                position: last.position,
                steps: last.steps + 1,
            };
            if rank < dense.classes[target as usize].rank {
                dense.classes[target as usize].rank = rank;
                queue.push(Reverse((rank, target)));
            }
        }
    }
}
