//! Fused blocks of kernels.

use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, Trait};
use mind_ir::{OpId, ValueId};
use mind_loops::memory::{buffer, bytes, is_kernel};
use mind_loops::node;
use mind_loops::ops::block::Block;
use mind_loops::ops::contract::Contract;
use mind_loops::ops::nest::Nest as NestOp;

use super::ProgramBuilder;
use super::grid::{Shared, Work};
use super::kernel::{Computation, KernelCall};
use super::nest::{NOTHING_TO_UNROLL, weight};
use super::product::Stacked;
use crate::lower::nest::{Nest, Output, Registers, StridedAccess, can_unroll, lanes, nest};
use crate::lower::product::Region;
use crate::program::error::ProgramError;
use mind_vir::ir::{Addr, Builder, IndexOp, LoopKind, Value};

/// Size in bytes of the intermediate rows that are computed at a time.
const ROWS_BYTES: usize = 128 << 10;

/// Fused back-to-back products: a product, a nest over its rows, and a product that reads the nest's result on the
/// left.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Chain {
    first: Stacked,
    rows: Nest,
    second: Stacked,
    /// Rows computed at a time.
    height: usize,
    /// Granularity of the row ranges of threads, which is smaller than `height` so that every thread gets rows even if
    /// there are few.
    grain: usize,
    /// Kernel parameter of each pointer of the two products, where result parameters come last; `None` for the
    /// intermediate rows.
    pointers: [Vec<Option<usize>>; 2],
}

impl ProgramBuilder<'_> {
    /// Builds a block of kernels.
    pub(super) fn block(&mut self, op: Block) -> Result<(), ProgramError> {
        let g = self.g;
        let body = op.body(g);
        self.check_dense(op.id(), op.inputs(g))?;
        for (argument, &operand) in g.arguments(body).into_iter().zip(op.inputs(g)) {
            self.layout.alias(g, argument, operand);
            if let Some(&packed) = self.panels.get(&operand) {
                self.panels.insert(argument, packed);
            }
        }
        let end = g
            .ops(body)
            .find(|&inner| g.def(inner).has(Trait::Terminator));
        let yielded: &[ValueId] = end.map_or(&[], |end| g.operands(end));
        for (&value, result) in yielded.iter().zip(g.results(op.id())) {
            self.layout.alias(g, value, result);
        }
        let kernels: Vec<OpId> = g.ops(body).filter(|&inner| is_kernel(g, inner)).collect();
        if let Some(chain) = self.back_to_back_products(op)? {
            return self.fused(op, &kernels, chain);
        }
        if op.rows(g) > 0 || !op.parallel(g).is_empty() {
            let reason = "`rows` and `parallel` are for a product, a nest of one operand that reduces its rows, \
                          and a product with the result on the left; leave them out to run one kernel after the other";
            return self.refuse(op.id(), reason);
        }
        self.owner = Some(op.id());
        for inner in kernels {
            for value in g.results(inner) {
                self.layout.reserve_workspace(value, bytes(g, value));
            }
            self.kernel(inner)?;
        }
        self.owner = None;
        Ok(())
    }

    /// Returns the back-to-back products of a block; `None` if its kernels have another pattern.
    fn back_to_back_products(&mut self, op: Block) -> Result<Option<Chain>, ProgramError> {
        let g = self.g;
        let Some((first, middle, second)) = op.back_to_back_products(g) else {
            return Ok(None);
        };
        let scores = g.results(first.id()).get(0);
        let weights = g.results(middle.id()).get(0);
        for value in [scores, weights] {
            self.layout.reserve_workspace(value, bytes(g, value));
        }
        let arguments: Vec<ValueId> = g.arguments(op.body(g)).into_iter().collect();
        let place = |value: &ValueId| {
            let own = buffer(g, *value);
            let argument = arguments.iter().position(|&argument| argument == own);
            let mut results = g.results(second.id()).into_iter();
            argument.or_else(|| Some(arguments.len() + results.position(|result| result == own)?))
        };
        let pointers = [first, second].map(|op| {
            let results: Vec<ValueId> = g.results(op.id()).into_iter().collect();
            op.inputs(g)
                .iter()
                .chain(&results)
                .map(place)
                .collect::<Vec<_>>()
        });
        let is_asked = [first, second].map(|op| op.micro(g).first().is_some_and(|&rows| rows > 0));
        let [mut first, mut second] = [self.stacked(first)?, self.stacked(second)?];
        let (length, dtype) = (first.product.n, g.ty(scores).dtype);
        let access = StridedAccess {
            dtype,
            offset: 0,
            outer: vec![length as i64],
            inner: 1,
        };
        let (nodes, yielded) = node::read(g, middle.body(g));
        let asked = match op.rows(g) {
            0 => ROWS_BYTES / (length * dtype.size()).max(1),
            rows => rows as usize,
        };
        // The least common multiple of both tile heights may be large, for example 182 for 13 and 14. Equal tiles then
        // cost less than intermediate rows that do not fit into the caches.
        let mut tiles = [&first, &second].map(|side| side.product.schedule.rows);
        if lcm(tiles[0], tiles[1]) > asked && is_asked == [false; 2] {
            tiles = [tiles[0].min(tiles[1]); 2];
        }
        [first.product.schedule.rows, second.product.schedule.rows] = tiles;
        let step = lcm(tiles[0], tiles[1]);
        let height = (asked / step).max(1) * step;
        let rows = Nest {
            outer: vec![height],
            inner: length,
            total: None,
            inputs: vec![access.clone()],
            nodes,
            outputs: vec![Output {
                node: yielded[0],
                access,
                replaces: Some(0),
            }],
            unroll: u32::try_from(middle.unroll(g))
                .ok()
                .filter(|&unroll| unroll > 0),
            divides_by_products: self.target.divides_slowly(),
            registers: Registers::of(self.target),
        };
        if rows.unroll.is_some() && !can_unroll(&rows) {
            return self.refuse(middle.id(), NOTHING_TO_UNROLL);
        }
        debug_assert_eq!(lanes(&rows, self.target), first.lanes(self.target));
        Ok(Some(Chain {
            first,
            rows,
            second,
            height,
            grain: step,
            pointers,
        }))
    }

    fn fused(&mut self, op: Block, kernels: &[OpId], chain: Chain) -> Result<(), ProgramError> {
        let g = self.g;
        if let Some(&inner) = kernels.iter().find(|&&inner| is_shared(g, inner)) {
            let reason =
                "threads share the rows of the block around it; `parallel` has no dimension left";
            return self.refuse(inner, reason);
        }
        let lanes = chain.first.lanes(self.target);
        let values = op.inputs(g).iter().copied().chain(g.results(op.id()));
        let args = self.regions(op.id(), values)?;
        let result = self.strided(g.results(op.id()).get(0));
        let product = &chain.first.product;
        let stack = self.stack_of(op);
        let rows = (stack.len(), product.m, chain.grain);
        let shared = Shared::new(&stack, &[rows], op.parallel(g));
        let count = result.extents.iter().product::<usize>();
        let scores = stack.iter().product::<usize>() * product.m * product.n;
        let work: usize = chain.rows.nodes.iter().map(weight).sum();
        let products = scores.saturating_mul(product.k) + count.saturating_mul(product.n);
        self.call(KernelCall {
            op: op.id(),
            lanes,
            args,
            grid: shared.grid(),
            computation: Computation::Block(Box::new((chain, shared))),
            work: Work::new(scores, work).and_products(products),
        });
        Ok(())
    }

    /// Returns the batch extents of a chain.
    fn stack_of(&self, op: Block) -> Vec<usize> {
        let g = self.g;
        let contract = g
            .ops(op.body(g))
            .find_map(|inner| g.view::<Contract>(inner));
        contract.map_or_else(Vec::new, |contract| {
            let lhs = self.strided(contract.inputs(g)[0]);
            lhs.extents[..contract.batch(g) as usize].to_vec()
        })
    }
}

/// Returns whether a dimension of a product or a nest is parallel.
fn is_shared(g: &Graph, op: OpId) -> bool {
    let contract = g.view::<Contract>(op);
    let nest = g.view::<NestOp>(op);
    contract.is_some_and(|contract| !contract.parallel(g).is_empty())
        || nest.is_some_and(|nest| nest.shared(g).is_some())
}

/// Returns the least common multiple of two positive numbers.
fn lcm(a: u32, b: u32) -> usize {
    let (a, b) = (a as usize, b as usize);
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

impl Chain {
    /// Appends the loop over the rows.
    pub(super) fn append(
        &self,
        b: &mut Builder,
        params: &[Value],
        task: &[Value],
        range: (Value, Value),
    ) {
        let bytes = self.height * self.rows.inner * self.rows.inputs[0].dtype.size();
        b.scratch(bytes, |b, between| {
            let pick = |side: usize| -> Vec<Value> {
                let own = self.pointers[side].iter();
                own.map(|pointer| pointer.map_or(between, |at| params[at]))
                    .collect()
            };
            let [first, second] = [pick(0), pick(1)];
            let first = self.first.pointers(b, &first, task);
            let second = self.second.pointers(b, &second, task);
            let height = self.height as i64;
            b.repeat(LoopKind::Rest, range, height, &[], |b, round| {
                let height = b.index(height);
                let end = b.index_op(IndexOp::Add, round.index, height);
                let end = b.index_op(IndexOp::Min, end, range.1);
                self.rows(b, (first, second), between, (round.index, end));
                Vec::new()
            });
        });
    }

    /// Appends the computation of some rows. The intermediate rows are in memory at `between`.
    fn rows(
        &self,
        b: &mut Builder,
        (mut first, mut second): (Vec<Value>, Vec<Value>),
        between: Value,
        rows: (Value, Value),
    ) {
        let element = crate::lower::storage_lane(self.rows.inputs[0].dtype);
        let none = b.index(0);
        let length = b.index(self.rows.inner as i64);
        let before = b.index_op(IndexOp::Mul, rows.0, length);
        let before = b.index_op(IndexOp::Sub, none, before);
        // Products index rows from the first row of the matrix, so the pointer to the intermediate rows is moved back.
        let moved = b.address(Addr::element(between, before, element));
        let score = first.len() - 1;
        (first[score], second[0]) = (moved, moved);
        let all = |b: &mut Builder, n: usize| (b.index(0), b.index(n as i64));
        let columns = all(b, self.first.product.n);
        self.first.append(b, &first, Region { rows, columns });
        let count = b.index_op(IndexOp::Sub, rows.1, rows.0);
        nest(b, &self.rows, &[between], &[between], (none, count));
        let columns = all(b, self.second.product.n);
        self.second.append(b, &second, Region { rows, columns });
    }
}
