//! Interleaving of independent pieces of code.

use rustc_hash::FxHashSet;

use super::function::{Block, Statement};
use super::op::{Addr, Value};

/// Returns the statements of `pieces`, interleaved: the first of each, then the second of each. A piece whose next
/// statement uses a value that another piece has not yet computed waits for it.
///
/// Pieces with loops are not interleaved.
pub(super) fn interleaved(pieces: Vec<Vec<Statement>>) -> Vec<Statement> {
    let mut statements = pieces.iter().flatten();
    if statements.any(|statement| matches!(statement, Statement::Loop(_))) {
        return pieces.into_iter().flatten().collect();
    }
    let mut missing: FxHashSet<Value> = FxHashSet::default();
    for statement in pieces.iter().flatten() {
        statement.for_each_result(|value| {
            missing.insert(value);
        });
    }
    let mut left: Vec<_> = (pieces.into_iter())
        .map(|piece| piece.into_iter().peekable())
        .collect();
    let mut ordered = Vec::new();
    // The first unfinished piece can always continue, because it depends only on pieces before it.
    while left.iter_mut().any(|piece| piece.peek().is_some()) {
        for piece in &mut left {
            let Some(next) = piece.next_if(|statement| is_ready(statement, &missing)) else {
                continue;
            };
            next.for_each_result(|value| {
                missing.remove(&value);
            });
            ordered.push(next);
        }
    }
    ordered
}

/// Returns whether a statement uses none of the missing values.
fn is_ready(statement: &Statement, missing: &FxHashSet<Value>) -> bool {
    let mut is_there = true;
    let mut check = |value: Value| is_there &= !missing.contains(&value);
    let addressed = |addr: &Addr, check: &mut dyn FnMut(Value)| {
        check(addr.base);
        addr.index.into_iter().for_each(check);
    };
    match statement {
        Statement::Let(_, op) => op.for_each_operand(&mut check),
        Statement::Store { value, addr, count } => {
            check(*value);
            count.iter().for_each(|&count| check(count));
            addressed(addr, &mut check);
        }
        Statement::StoreFirst { value, addr } => {
            check(*value);
            addressed(addr, &mut check);
        }
        Statement::Prefetch(addr) => addressed(addr, &mut check),
        Statement::ByteProduct(product) => {
            for rows in product.matrices() {
                addressed(&rows.start, &mut check);
            }
        }
        Statement::Loop(_) => is_there = false,
        Statement::IfAny(node) => {
            check(node.mask);
            node.merged.iter().for_each(|merged| {
                check(merged.otherwise);
                check(merged.computed);
            });
            is_there &= is_block_ready(&node.body, missing);
        }
    }
    is_there
}

/// Returns whether no statement of a block uses a missing value; values defined in the block do not count.
fn is_block_ready(block: &Block, missing: &FxHashSet<Value>) -> bool {
    let mut statements = block.statements.iter();
    statements.all(|statement| is_ready(statement, missing))
}

#[cfg(test)]
mod tests {
    use crate::ir::{Addr, BinaryOp, Function, Lane, LoopKind, Predicate, Signature, verify};

    /// Pieces that double the value they load, or, except for the first one, the first one's result.
    fn pieces(count: u32, shared: bool) -> Function {
        let mut signature = Signature::new("f", 8);
        let (from, to) = (signature.ptr(), signature.ptr());
        let mut b = signature.body();
        let mut first = None;
        b.interleaved(count, |b, piece| {
            let place = 32 * piece as i32;
            let x = match first {
                Some(first) if shared => first,
                _ => b.load(Lane::F32, Addr::at(from).plus(place), None),
            };
            let sum = b.binary(BinaryOp::Add, x, x);
            first = first.or(Some(sum));
            b.store(sum, Addr::at(to).plus(place), None);
        });
        b.finish()
    }

    fn words(text: &str) -> Vec<&str> {
        let words = ["load", "add", "store", "if-any"];
        let found = text
            .split_whitespace()
            .filter_map(|word| words.iter().find(|known| word == **known).copied());
        found.collect()
    }

    #[test]
    fn statements_take_turns() {
        let function = pieces(2, false);
        assert_eq!(verify(&function), Ok(()));
        let text = function.to_string();
        let expected = ["load", "load", "add", "add", "store", "store"];
        assert_eq!(words(&text), expected, "{text}");
    }

    #[test]
    fn what_depends_on_another_piece_waits_for_it() {
        let function = pieces(2, true);
        assert_eq!(verify(&function), Ok(()));
        let text = function.to_string();
        let expected = ["load", "add", "add", "store", "store"];
        assert_eq!(words(&text), expected, "{text}");
    }

    #[test]
    fn what_few_lanes_need_waits_for_what_its_body_uses() {
        let mut signature = Signature::new("f", 8);
        let (from, to) = (signature.ptr(), signature.ptr());
        let mut b = signature.body();
        let x = b.f32(1.0);
        let mask = b.compare(Predicate::Lt, x, x);
        let mut first = None;
        b.interleaved(2, |b, piece| {
            let place = 32 * piece as i32;
            let result = match first {
                None => {
                    let y = b.load(Lane::F32, Addr::at(from).plus(place), None);
                    b.binary(BinaryOp::Add, y, y)
                }
                Some(sum) => b.if_any(mask, &[x], |b| vec![b.binary(BinaryOp::Add, sum, x)])[0],
            };
            first = Some(result);
            b.store(result, Addr::at(to).plus(place), None);
        });
        let function = b.finish();
        assert_eq!(verify(&function), Ok(()));
        let text = function.to_string();
        let expected = ["load", "add", "if-any", "add", "store", "store"];
        assert_eq!(words(&text), expected, "{text}");
    }

    #[test]
    fn loops_are_not_cut() {
        let mut signature = Signature::new("f", 8);
        let to = signature.ptr();
        let mut b = signature.body();
        let zero = b.f32(0.0);
        b.interleaved(2, |b, _| {
            let bounds = (b.index(0), b.index(4));
            b.repeat(LoopKind::Rest, bounds, 1, &[], |b, round| {
                b.store_first(zero, Addr::element(to, round.index, Lane::F32));
                Vec::new()
            });
        });
        let text = b.finish().to_string();
        assert_eq!(text.matches("rest").count(), 2, "{text}");
    }
}
