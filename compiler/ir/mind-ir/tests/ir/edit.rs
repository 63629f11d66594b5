//! Use lists and the order of ops after edits.

use mind_ir::Graph;
use mind_ir::opdef::Op;

use crate::toy::{Blend, Flip, Group, Pack, end, push, source};

#[test]
fn uses_follow_every_change_of_operands() {
    let mut g = Graph::new();
    let (x, y) = (source(&mut g, 4), source(&mut g, 4));
    let blend = push(&mut g, Blend::DEF, &[x, x]);
    assert_eq!(g.uses(x).collect::<Vec<_>>(), [(blend, 1), (blend, 0)]);
    assert!(!g.uses(x).is_single() && g.uses(y).is_empty());
    g.set_operand(blend, 0, y);
    assert!(g.uses(x).is_single() && g.uses(y).is_single());
    g.swap_operands(blend, 0, 1);
    assert_eq!(g.operands(blend), [x, y]);
    g.set_operands(blend, &[y, y, x]);
    assert_eq!((g.uses(x).count(), g.uses(y).count()), (1, 2));
    assert_eq!(g.uses(x).next(), Some((blend, 2)));
}

#[test]
fn replacing_a_value_moves_all_its_readers() {
    let mut g = Graph::new();
    let (x, y) = (source(&mut g, 4), source(&mut g, 4));
    let (a, b) = (
        push(&mut g, Flip::DEF, &[x]),
        push(&mut g, Blend::DEF, &[x, y]),
    );
    g.replace_all_uses(x, y);
    assert_eq!((g.operands(a), g.operands(b)), (&[y][..], &[y, y][..]));
    assert!(g.uses(x).is_empty());
    g.replace_all_uses(y, y);
    assert_eq!(g.uses(y).count(), 3);
}

#[test]
fn ops_come_and_go_at_both_ends_and_in_the_middle() {
    let mut g = Graph::new();
    let x = source(&mut g, 4);
    let ops: Vec<_> = (0..3).map(|_| push(&mut g, Flip::DEF, &[x])).collect();
    let body = g.body();
    let order = |g: &Graph| g.ops(body).skip(1).collect::<Vec<_>>();
    assert_eq!(order(&g), ops);
    assert_eq!(
        g.ops(body).rev().take(3).collect::<Vec<_>>(),
        [ops[2], ops[1], ops[0]]
    );
    g.move_before(ops[2], ops[0]);
    assert_eq!(order(&g), [ops[2], ops[0], ops[1]]);
    g.erase(ops[0]);
    assert_eq!(order(&g), [ops[2], ops[1]]);
    assert_eq!(g.parent(ops[0]), None);
    g.erase(ops[1]);
    g.erase(ops[2]);
    assert_eq!(g.ops(body).count(), 1);
    assert!(g.uses(x).is_empty());
}

#[test]
fn erasing_an_op_erases_its_body() {
    let mut g = Graph::new();
    let x = source(&mut g, 4);
    let group = push(&mut g, Group::DEF, &[x]);
    let block = g.block(g.regions(group)[0]);
    let argument = g.add_arguments(block, 1).get(0);
    end(&mut g, block, &[argument]);
    assert_eq!(g.walk().count(), 3);
    g.erase(group);
    assert_eq!(g.walk().count(), 1);
    assert!(g.uses(argument).is_empty() && g.uses(x).is_empty());
}

#[test]
#[should_panic(expected = "no readers")]
fn an_op_with_readers_is_not_erased() {
    let mut g = Graph::new();
    let x = source(&mut g, 4);
    push(&mut g, Pack::DEF, &[x]);
    let op = g.defining_op(x).unwrap();
    g.erase(op);
}

#[test]
fn a_clone_changes_alone() {
    let mut g = Graph::new();
    let x = source(&mut g, 4);
    let op = push(&mut g, Blend::DEF, &[x, x]);
    let mut copy = g.clone();
    copy.set_operands(op, &[x]);
    drop(std::mem::take(&mut copy));
    assert_eq!(g.operands(op), [x, x]);
    assert_eq!(g.clone().attrs(op), g.attrs(op));
}

#[test]
fn labels_of_new_values_lie_above_all_others() {
    let mut g = Graph::new();
    let x = source(&mut g, 4);
    g.set_label(x, 9_000_000_000_000_000_000);
    let op = push(&mut g, Flip::DEF, &[x]);
    assert_eq!(g.label(g.result(op)), 9_000_000_000_000_000_001);
}

#[test]
fn labels_stay_unique_when_values_exchange_them() {
    let mut g = Graph::new();
    let (x, y) = (source(&mut g, 4), source(&mut g, 4));
    g.swap_labels(x, y);
    let op = push(&mut g, Flip::DEF, &[x]);
    let labels = [x, y, g.result(op)].map(|value| g.label(value));
    assert_eq!(labels, [1, 0, 2]);
}

#[test]
fn new_values_find_free_labels_whatever_is_taken() {
    for first in [0, 1, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
        let mut g = Graph::new();
        let mut values = Vec::new();
        for step in 0..200u32 {
            let x = source(&mut g, 4);
            values.push(x);
            // Every second label splits the free range in halves.
            if step % 2 == 0 {
                let wanted = if step < 128 {
                    first ^ (u64::MAX >> (step / 2))
                } else {
                    u64::from(step) << 40
                };
                if values.iter().all(|&value| g.label(value) != wanted) {
                    g.set_label(x, wanted);
                }
            }
        }
        let mut labels: Vec<u64> = values.iter().map(|&value| g.label(value)).collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), values.len(), "beginning with {first}");
    }
}
