//! Use counts, without dead values.

use rustc_hash::FxHashMap;

use crate::ir::{Block, Function, IfAny, Loop, Op, Statement, UnaryOp, Value};

use super::bytes::{MovedByte, moved_bytes};
use super::lookup::{Lookup, lookups};

/// Use counts by live values.
///
/// A negation that only feeds multiply-adds is folded into them, so that its operand is counted instead. The same holds
/// for narrow integers that are only looked up in a table, and for shifts that only move a byte: the source word is
/// counted. A value without uses is dead, unless it may set the status.
#[derive(Debug)]
pub(crate) struct Uses {
    counts: Vec<u32>,
    /// Uses outside of the body of an [`IfAny`].
    usual: Vec<u32>,
    /// Nesting depth of such bodies.
    depth: u32,
    /// The operand of a value that is a negation.
    negations: Vec<Option<Value>>,
    /// Conversions that a table computes.
    lookups: FxHashMap<Value, Lookup>,
    /// Words that a byte permutation computes.
    moved_bytes: FxHashMap<Value, MovedByte>,
}

/// A fused multiply-add with negations taken in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fused {
    pub a: Value,
    pub b: Value,
    pub c: Value,
    pub negate_product: bool,
    pub subtract: bool,
}

impl Uses {
    /// Returns the use counts of `function` for a target whose permutations select among `entries` numbers of `F32`.
    pub fn of(function: &Function, entries: usize) -> Uses {
        let mut uses = Uses {
            counts: vec![0; function.value_count()],
            usual: vec![0; function.value_count()],
            depth: 0,
            negations: vec![None; function.value_count()],
            lookups: lookups(function, entries),
            moved_bytes: moved_bytes(function),
        };
        let body = function.body();
        body.for_each_op(&mut |value, op| {
            if let Op::Unary(UnaryOp::Neg, inner) = op {
                uses.negations[value.index()] = Some(*inner);
            }
        });
        uses.block(body);
        uses
    }

    /// Returns the number of uses of `value`.
    pub fn count(&self, value: Value) -> u32 {
        self.counts[value.index()]
    }

    /// Returns the number of uses of `value` that always run, which excludes the bodies of [`IfAny`].
    pub fn usual_count(&self, value: Value) -> u32 {
        self.usual[value.index()]
    }

    /// Removes one use of `value`, and returns whether it was the last one.
    pub fn spend(&mut self, value: Value) -> bool {
        let count = &mut self.counts[value.index()];
        *count -= 1;
        *count == 0
    }

    /// Returns the table look-up that computes `value`, if there is one.
    pub fn lookup(&self, value: Value) -> Option<Lookup> {
        self.lookups.get(&value).copied()
    }

    /// Returns the moved byte that `value` is, if a byte permutation computes it.
    pub fn moved_byte(&self, value: Value) -> Option<MovedByte> {
        self.moved_bytes.get(&value).copied()
    }

    /// Returns the word that is read instead of the operands of `value`, if there is one.
    pub fn read_instead(&self, value: Value) -> Option<Value> {
        let looked_up = self.lookup(value).map(|lookup| lookup.word);
        looked_up.or_else(|| self.moved_byte(value).map(|moved| moved.word))
    }

    /// Returns all live look-ups, by their results, in order.
    pub fn lookups(&self) -> Vec<(Value, Lookup)> {
        let known = self.lookups.iter().map(|(&value, &lookup)| (value, lookup));
        let mut needed: Vec<_> = known.filter(|&(value, _)| self.count(value) > 0).collect();
        needed.sort_by_key(|(value, _)| value.index());
        needed
    }

    /// `a * b + c` without the negations among its operands.
    pub fn fused(&self, a: Value, b: Value, c: Value) -> Fused {
        let stripped = |value: Value| match self.negations[value.index()] {
            Some(inner) => (inner, true),
            None => (value, false),
        };
        let ((a, minus_a), (b, minus_b), (c, subtract)) = (stripped(a), stripped(b), stripped(c));
        Fused {
            a,
            b,
            c,
            negate_product: minus_a != minus_b,
            subtract,
        }
    }

    fn read(&mut self, value: Value) {
        self.counts[value.index()] += 1;
        if self.depth == 0 {
            self.usual[value.index()] += 1;
        }
    }

    fn block(&mut self, block: &Block) {
        for statement in block.statements.iter().rev() {
            match statement {
                Statement::Let(value, op) => self.operation(*value, op),
                Statement::Store { value, addr, count } => {
                    self.read(*value);
                    self.read(addr.base);
                    addr.index
                        .iter()
                        .chain(count)
                        .for_each(|&value| self.read(value));
                }
                Statement::StoreFirst { value, addr } => {
                    self.read(*value);
                    self.read(addr.base);
                    addr.index.into_iter().for_each(|index| self.read(index));
                }
                Statement::Prefetch(addr) => {
                    self.read(addr.base);
                    addr.index.into_iter().for_each(|index| self.read(index));
                }
                Statement::ByteProduct(product) => {
                    for rows in product.matrices() {
                        let addr = rows.start;
                        self.read(addr.base);
                        addr.index.into_iter().for_each(|index| self.read(index));
                    }
                }
                Statement::Loop(node) => self.repeat(node),
                Statement::IfAny(node) => self.if_any(node),
            }
        }
    }

    /// Dead results are not merged; if no result is live, the statement is dropped.
    fn if_any(&mut self, node: &IfAny) {
        let merged = node.merged.iter().copied();
        let needed: Vec<_> = merged
            .filter(|merged| self.count(merged.result) > 0)
            .collect();
        if needed.is_empty() {
            return;
        }
        self.depth += 1;
        for merged in &needed {
            self.read(merged.computed);
        }
        self.block(&node.body);
        self.depth -= 1;
        for merged in &needed {
            self.read(merged.otherwise);
        }
        self.read(node.mask);
    }

    fn repeat(&mut self, node: &Loop) {
        for carried in &node.carried {
            self.read(carried.next);
        }
        self.block(&node.body);
        for carried in &node.carried {
            self.read(carried.init);
        }
        self.read(node.lower);
        self.read(node.upper);
    }

    fn operation(&mut self, value: Value, op: &Op) {
        if self.count(value) == 0 && !matches!(op, Op::IntDiv { .. }) {
            return;
        }
        if let Op::Fma(a, b, c) = *op {
            let fused = self.fused(a, b, c);
            for value in [fused.a, fused.b, fused.c] {
                self.read(value);
            }
            return;
        }
        if let Some(word) = self.read_instead(value) {
            self.read(word);
            return;
        }
        op.for_each_operand(|operand| self.read(operand));
    }
}
