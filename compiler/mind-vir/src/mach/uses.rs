//! Which values are needed, and how often.

use rustc_hash::FxHashMap;

use crate::ir::{Block, Function, IfAny, Loop, Op, Statement, UnaryOp, Value};

use super::bytes::{MovedByte, moved_bytes};
use super::lookup::{Lookup, lookups};

/// How often each value is read by what is needed itself.
///
/// A negation that only feeds multiply-adds becomes part of them and is not needed; what it negates is read
/// in its place. The same holds of integers of few bits that are only looked up, and of shifts that only move a byte: the
/// word that they are bits of is read.
/// What nothing reads is not needed, unless it may set the status.
#[derive(Debug)]
pub(crate) struct Uses {
    counts: Vec<u32>,
    /// Those reads that are not in the body of an [`IfAny`].
    usual: Vec<u32>,
    /// How many such bodies are open.
    depth: u32,
    /// What a value is the negation of.
    negations: Vec<Option<Value>>,
    /// Conversions that a table serves.
    lookups: FxHashMap<Value, Lookup>,
    /// Words that a permutation of bytes makes.
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
    /// Those of `function`, where permutations choose among `entries` numbers of `F32`.
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

    /// How often `value` is read.
    pub fn count(&self, value: Value) -> u32 {
        self.counts[value.index()]
    }

    /// How often `value` is read by what always runs: not only where a lane needs it.
    pub fn usual_count(&self, value: Value) -> u32 {
        self.usual[value.index()]
    }

    /// Notes that one of the reads of `value` is done, and returns whether none is left.
    pub fn spend(&mut self, value: Value) -> bool {
        let count = &mut self.counts[value.index()];
        *count -= 1;
        *count == 0
    }

    /// What `value` is looked up by, if it is.
    pub fn lookup(&self, value: Value) -> Option<Lookup> {
        self.lookups.get(&value).copied()
    }

    /// The byte that `value` is, if a permutation of bytes makes it.
    pub fn moved_byte(&self, value: Value) -> Option<MovedByte> {
        self.moved_bytes.get(&value).copied()
    }

    /// The word that is read for `value` in place of its operands, if there is one.
    pub fn read_instead(&self, value: Value) -> Option<Value> {
        let looked_up = self.lookup(value).map(|lookup| lookup.word);
        looked_up.or_else(|| self.moved_byte(value).map(|moved| moved.word))
    }

    /// All look-ups that are needed, by their results, in order.
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

    /// Results that nothing reads are not merged; if there are no others, nothing is computed.
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
