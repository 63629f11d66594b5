//! A strip: a few vectors of columns, reduced together.

use crate::lower::reduce::PARTIALS;
use crate::lower::{At, compute_lane, identity, storage_lane, store};
use mind_vir::ir::{Builder, LoopKind, Value};

use super::body::Body;
use super::loops;
use super::mean;
use super::operands::{BaseAddresses, InnerVector};
use super::plan::{Pass, Plan};
use super::program::{Columns, Node, StridedAccess};
use super::tree::{PartialRows, Reduce, from_zero, tree};

/// State of generating the code of a strip of adjacent columns.
pub(super) struct Strip<'a> {
    c: &'a Columns,
    body: Body<'a>,
    bases: BaseAddresses<'a>,
    /// The values of each vector that are uniform along a column.
    known: Vec<Vec<Option<Value>>>,
    ats: Vec<At>,
    is_written_out: bool,
}

impl<'a> Strip<'a> {
    pub fn new(
        c: &'a Columns,
        plan: &'a Plan,
        bases: BaseAddresses<'a>,
        ats: Vec<At>,
        is_written_out: bool,
    ) -> Strip<'a> {
        Strip {
            c,
            body: Body {
                nodes: &c.nodes,
                plan,
            },
            bases,
            known: vec![vec![None; c.nodes.len()]; ats.len()],
            ats,
            is_written_out,
        }
    }

    /// Appends all passes, followed by the stores, because outputs may overwrite inputs.
    pub fn passes(&mut self, b: &mut Builder) {
        let plan = self.body.plan;
        for (number, pass) in plan.passes.iter().enumerate() {
            self.pass(b, number, pass);
        }
        let mut results = Vec::new();
        for vector in 0..self.ats.len() {
            for (place, output) in self.c.outputs.iter().enumerate() {
                results.push((vector, place, self.uniform(b, vector, output.node)));
            }
        }
        for (vector, place, value) in results {
            let (at, dtype) = (self.ats[vector], self.c.outputs[place].access.dtype);
            let addr = at.addr(self.bases.outputs[place], storage_lane(dtype));
            store(b, dtype, value, addr, at.count);
        }
    }

    /// Returns a value that is uniform along a column.
    fn uniform(&mut self, b: &mut Builder, vector: usize, node: usize) -> Value {
        let from = InnerVector {
            inputs: &self.c.inputs,
            bases: self.bases,
            at: self.ats[vector],
            divisors: &[],
        };
        (self.body).value(b, 0, &mut self.known[vector], &from, node)
    }

    fn pass(&mut self, b: &mut Builder, number: usize, pass: &Pass) {
        let reduces = pass.reduces.iter().map(|&node| match self.c.nodes[node] {
            Node::Reduce { kind, dtype, arg } => Reduce {
                node,
                arg,
                kind,
                dtype,
            },
            ref other => panic!("a reduction, found {other:?}"),
        });
        let reduces: Vec<Reduce> = reduces.collect();
        let args: Vec<usize> = reduces.iter().map(|reduce| reduce.arg).collect();
        for node in self.body.needs(number, &args).uniform {
            for vector in 0..self.ats.len() {
                self.uniform(b, vector, node);
            }
        }
        let totals = if self.is_written_out {
            self.written_out(b, number, &reduces)
        } else {
            self.looped(b, number, &reduces)
        };
        let mut totals = totals.into_iter();
        for reduce in &reduces {
            for known in &mut self.known {
                let total = totals
                    .next()
                    .expect("a total for each reduction and vector");
                let result = mean::finish(b, reduce.kind, reduce.dtype, total, self.c.depth);
                known[reduce.node] = Some(result);
            }
        }
    }

    /// Returns the reduced values at one position of the columns: for each reduction, each vector.
    fn arguments(
        &self,
        b: &mut Builder,
        pass: usize,
        reduces: &[Reduce],
        place: Value,
    ) -> Vec<Value> {
        let accesses: Vec<&StridedAccess> = self.c.inputs.iter().collect();
        let inputs = loops::at(b, &accesses, self.c.outer.len(), self.bases.inputs, place);
        let bases = BaseAddresses {
            inputs: &inputs,
            ..self.bases
        };
        let mut values = Vec::new();
        for (&at, known) in self.ats.iter().zip(&self.known) {
            let from = InnerVector {
                inputs: &self.c.inputs,
                bases,
                at,
                divisors: &[],
            };
            let mut known = known.clone();
            let args = reduces
                .iter()
                .map(|reduce| (self.body).value(b, pass, &mut known, &from, reduce.arg));
            values.push(args.collect::<Vec<Value>>());
        }
        let reduced = 0..reduces.len();
        reduced
            .flat_map(|reduce| values.iter().map(move |args| args[reduce]))
            .collect()
    }

    /// Returns the reduction of each slot of [`arguments`](Strip::arguments).
    fn slots(&self, reduces: &[Reduce]) -> Vec<Reduce> {
        let vectors = self.ats.len();
        let slots = reduces
            .iter()
            .flat_map(|&reduce| std::iter::repeat_n(reduce, vectors));
        slots.collect()
    }

    /// Computes totals without loops, for columns with at most one element per partial result.
    fn written_out(&self, b: &mut Builder, pass: usize, reduces: &[Reduce]) -> Vec<Value> {
        let slots = self.slots(reduces);
        let leaf = |b: &mut Builder, partial: usize| {
            let place = b.index(partial as i64);
            let mut values = self.arguments(b, pass, reduces, place);
            if partial == 0 {
                from_zero(b, &slots, &mut values);
            }
            values
        };
        if self.c.depth == 0 {
            return self.identities(b, &slots);
        }
        tree(b, &slots, self.c.depth, (0, 1), &leaf)
    }

    fn identities(&self, b: &mut Builder, slots: &[Reduce]) -> Vec<Value> {
        let neutral = |slot: &Reduce| identity(b, slot.kind, slot.dtype);
        slots.iter().map(neutral).collect()
    }

    /// Computes totals with partial results in scratch memory, one after the other, followed by the reduction tree of
    /// each vector.
    fn looped(&self, b: &mut Builder, pass: usize, reduces: &[Reduce]) -> Vec<Value> {
        let slots = self.slots(reduces);
        let partials = self.c.depth.min(PARTIALS as usize);
        let (start, depth) = (b.index(0), b.index(self.c.depth as i64));
        let (end, rows) = (
            b.index(partials as i64),
            PartialRows::new(b, self.bases.scratch, &slots),
        );
        b.repeat(LoopKind::Rest, (start, end), 1, &[], |b, partial| {
            let neutral = self.identities(b, &slots);
            let (bounds, step) = ((partial.index, depth), PARTIALS.into());
            let (_, sums) = b.repeat(LoopKind::Rest, bounds, step, &neutral, |b, round| {
                let values = self.arguments(b, pass, reduces, round.index);
                let pairs = slots.iter().zip(round.carried.iter().zip(values));
                pairs
                    .map(|(slot, (&sum, x))| slot.combine(b, sum, x))
                    .collect()
            });
            for (slot, sum) in sums.into_iter().enumerate() {
                let addr = rows.addr(b, partial.index, slot);
                b.store(sum, addr, None);
            }
            Vec::new()
        });
        let first = rows.fold(b, partials, self.ats.len(), reduces);
        let totals = slots.iter().zip(first);
        let loaded = totals.map(|(slot, addr)| b.load(compute_lane(slot.dtype), addr, None));
        loaded.collect()
    }
}
