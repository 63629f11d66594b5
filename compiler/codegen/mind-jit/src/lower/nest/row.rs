//! Code generation for the passes over one row.

use crate::lower::reduce::{PARTIALS, fold};
use crate::lower::{At, combine, compute_lane, identity, narrow, storage_lane, store};
use mind_vir::ir::{Addr, Builder, IndexOp, LoopKind, Value};

use super::alive::Alive;
use super::body::{Body, divisor_of};
use super::mean;
use super::operands::{BaseAddresses, InnerVector};
use super::plan::{Pass, Plan, is_long};
use super::program::{Nest, Node, StridedAccess, dtype};
use super::quotient::Divisor;
use super::stream;
use super::sweep::{self, Extent};

/// Bytes of a cache line.
const LINE: u32 = 64;

/// State of generating the code of a row.
pub(super) struct RowBuilder<'a> {
    n: &'a Nest,
    body: Body<'a>,
    bases: BaseAddresses<'a>,
    /// Uniform values, broadcast to every lane.
    uniform: Vec<Option<Value>>,
    /// Reciprocals of uniform divisors.
    divisors: Vec<Option<Divisor>>,
}

impl<'a> RowBuilder<'a> {
    pub fn new(n: &'a Nest, plan: &'a Plan, bases: BaseAddresses<'a>) -> RowBuilder<'a> {
        RowBuilder {
            n,
            body: Body {
                nodes: &n.nodes,
                plan,
            },
            bases,
            uniform: vec![None; n.nodes.len()],
            divisors: vec![None; n.nodes.len()],
        }
    }

    /// Appends all passes.
    pub fn passes(&mut self, b: &mut Builder, extent: Extent) {
        self.load_replaced(b);
        let plan = self.body.plan;
        for (number, pass) in plan.passes.iter().enumerate() {
            self.pass(b, number, pass, extent);
        }
    }

    /// Appends the computation of a map for one vector; `given` are available values.
    pub fn vector(&mut self, b: &mut Builder, at: At, given: &[(usize, Value)]) {
        let streamed: Vec<usize> = (0..self.n.outputs.len()).collect();
        let results = self.n.outputs.iter().map(|output| output.node);
        let needs = self.body.needs(0, &results.collect::<Vec<usize>>());
        for &node in &needs.uniform {
            self.uniform(b, node);
        }
        let mut vector = Vector::new(self, 0, at);
        for &(node, value) in given {
            vector.known[node] = Some(value);
        }
        vector.write(b, &Pass::default(), &streamed);
    }

    /// Loads the inputs that outputs with one value per row may overwrite.
    fn load_replaced(&mut self, b: &mut Builder) {
        for (node, kind) in self.n.nodes.iter().enumerate() {
            let Node::Input(input) = *kind else {
                continue;
            };
            let outputs = &self.n.outputs;
            let is_replaced = outputs.iter().any(|output| output.replaces == Some(input));
            if is_replaced && !self.body.plan.varies[node] {
                self.uniform(b, node);
            }
        }
    }

    /// Returns a uniform value.
    fn uniform(&mut self, b: &mut Builder, node: usize) -> Value {
        let at = At {
            index: b.index(0),
            ahead: 0,
            count: None,
        };
        let mut uniform = std::mem::take(&mut self.uniform);
        let value = (self.body).value(b, 0, &mut uniform, &self.inner_vector(at), node);
        self.uniform = uniform;
        value
    }

    /// Computes the reciprocals of uniform divisors of a pass that computes these nodes per vector.
    fn prepare_divisors(&mut self, b: &mut Builder, extent: Extent, computed: &[usize]) {
        /// The number of vectors of a row from which computing a reciprocal is faster than dividing.
        const LONG: usize = 4;
        let is_short = match extent {
            Extent::Known(inner) => inner < LONG * b.lanes() as usize,
            Extent::Given(_) => false,
        };
        if !self.n.divides_by_products || is_short {
            return;
        }
        for &node in computed {
            let by = match &self.n.nodes[node] {
                Node::Apply { function, args, .. } => divisor_of(*function, args),
                _ => None,
            };
            let Some(by) = by.filter(|&by| !self.body.plan.varies[by]) else {
                continue;
            };
            if self.divisors[by].is_none() {
                let divisor = self.uniform(b, by);
                self.divisors[by] = Divisor::new(b, divisor);
            }
        }
    }

    fn pass(&mut self, b: &mut Builder, number: usize, pass: &Pass, extent: Extent) {
        let mut streamed: Vec<usize> = Vec::new();
        for &place in &pass.outputs {
            let output = &self.n.outputs[place];
            if output.access.inner != 0 {
                streamed.push(place);
                continue;
            }
            let value = self.uniform(b, output.node);
            let elements = narrow(b, output.access.dtype, value);
            b.store_first(elements, Addr::at(self.bases.outputs[place]));
        }
        if pass.reduces.is_empty() && streamed.is_empty() && pass.stores.is_empty() {
            return;
        }
        let args = pass.reduces.iter().map(|&node| self.arg(node));
        let written = streamed.iter().map(|&place| self.n.outputs[place].node);
        let stored = pass.stores.iter().map(|stored| stored.node);
        let roots: Vec<usize> = args.chain(written).chain(stored).collect();
        let needs = self.body.needs(number, &roots);
        for &node in &needs.uniform {
            self.uniform(b, node);
        }
        self.prepare_divisors(b, extent, &needs.varying);
        if !pass.reduces.is_empty() {
            let Extent::Known(inner) = extent else {
                panic!("rows that are reduced have one extent");
            };
            return self.reduce(b, number, pass, inner, &streamed);
        }
        let row = &*self;
        let unroll = (self.n.unroll).unwrap_or_else(|| unroll(self.n, &roots, &needs.varying));
        sweep::map(b, extent, unroll, |b, at| {
            let mut vector = Vector::new(row, number, at);
            vector.write(b, pass, &streamed);
            row.prefetch_next(b, number, at);
        });
    }

    /// Prefetches operands that the hardware prefetcher misses: in the second pass over a row, the data of the first
    /// pass over the next row; in a single pass over more data than the caches hold, data ahead that may be in another
    /// page.
    fn prefetch_next(&self, b: &mut Builder, pass: usize, at: At) {
        /// Prefetch distance in bytes.
        const PREFETCH_BYTES: i64 = 1024;
        let is_single = self.body.plan.passes.len() == 1 && stream::leaves_caches(self.n);
        if pass != 1 && !is_single {
            return;
        }
        for (access, &base) in self.n.inputs.iter().zip(self.bases.inputs) {
            let lane = storage_lane(access.dtype);
            let stride = access.outer.last().map_or(0, |&stride| stride);
            let is_new_line = (at.ahead * lane.bytes()).is_multiple_of(LINE);
            if access.inner != 1 || !is_new_line || (stride == 0 && !is_single) {
                continue;
            }
            let size = i64::from(lane.bytes());
            let next = if is_single {
                PREFETCH_BYTES
            } else {
                stride.saturating_mul(size)
            };
            if let Ok(bytes) = i32::try_from(next.saturating_add(i64::from(at.ahead) * size)) {
                b.prefetch(Addr::element(base, at.index, lane).plus(bytes));
            }
        }
    }

    fn inner_vector(&self, at: At) -> InnerVector<'_> {
        InnerVector {
            inputs: &self.n.inputs,
            bases: self.bases,
            at,
            divisors: &self.divisors,
        }
    }

    fn arg(&self, reduce: usize) -> usize {
        match self.n.nodes[reduce] {
            Node::Reduce { arg, .. } => arg,
            ref other => panic!("a reduction, found {other:?}"),
        }
    }

    /// Appends the loop of a reduction, and the final step for each result.
    fn reduce(
        &mut self,
        b: &mut Builder,
        number: usize,
        pass: &Pass,
        inner: usize,
        streamed: &[usize],
    ) {
        let vectors = PARTIALS / b.lanes();
        let mut kinds = Vec::new();
        let mut inits = Vec::new();
        for &node in &pass.reduces {
            let Node::Reduce { kind, dtype, arg } = self.n.nodes[node] else {
                continue;
            };
            let neutral = identity(b, kind, dtype);
            inits.extend(std::iter::repeat_n(neutral, vectors as usize));
            kinds.push((node, kind, dtype, arg, neutral));
        }
        let row = &*self;
        let partials = sweep::carry(b, inner, vectors, &inits, |b, at, which, carried| {
            let mut vector = Vector::new(row, number, at);
            for (place, &(_, kind, dtype, arg, neutral)) in kinds.iter().enumerate() {
                let mut x = vector.value(b, arg);
                if let Some(count) = at.count {
                    let inside = b.below(compute_lane(dtype), count);
                    x = b.select(inside, x, neutral);
                }
                let partial = &mut carried[place * vectors as usize + which as usize];
                *partial = combine(b, kind, dtype, *partial, x);
            }
            vector.write(b, pass, streamed);
            row.prefetch_next(b, number, at);
        });
        for (&(node, kind, dtype, ..), partials) in
            kinds.iter().zip(partials.chunks_exact(vectors as usize))
        {
            let total = fold(b, kind, dtype, partials.to_vec());
            let total = b.splat(total);
            self.uniform[node] = Some(mean::finish(b, kind, dtype, total, inner));
        }
    }
}

/// One vector of the row in one pass, and its known values.
struct Vector<'a> {
    n: &'a Nest,
    body: Body<'a>,
    pass: usize,
    from: InnerVector<'a>,
    known: Vec<Option<Value>>,
}

impl<'a> Vector<'a> {
    fn new(row: &'a RowBuilder<'_>, pass: usize, at: At) -> Vector<'a> {
        Vector {
            body: row.body,
            pass,
            from: row.inner_vector(at),
            n: row.n,
            known: row.uniform.clone(),
        }
    }

    fn value(&mut self, b: &mut Builder, node: usize) -> Value {
        (self.body).value(b, self.pass, &mut self.known, &self.from, node)
    }

    /// Stores the values of the pass, after all loads.
    fn write(&mut self, b: &mut Builder, pass: &Pass, streamed: &[usize]) {
        let (n, InnerVector { bases, at, .. }) = (self.n, self.from);
        let outputs = streamed.iter().map(|&place| n.outputs[place].node);
        let nodes = pass.stores.iter().map(|stored| stored.node).chain(outputs);
        let values: Vec<Value> = nodes.map(|node| self.value(b, node)).collect();
        let (stores, outputs) = values.split_at(pass.stores.len());
        for (stored, &value) in pass.stores.iter().zip(stores) {
            let (dtype, base) = (
                dtype(&n.nodes, &n.inputs, stored.node),
                bases.stored_address(b, stored.place),
            );
            let addr = at.addr(base, storage_lane(dtype));
            store(b, dtype, value, addr, at.count);
        }
        for (&place, &value) in streamed.iter().zip(outputs) {
            let (access, base) = (&n.outputs[place].access, bases.outputs[place]);
            if access.inner == 1 {
                let addr = at.addr(base, storage_lane(access.dtype));
                store(b, access.dtype, value, addr, at.count);
            } else {
                let room = bases.scratch(b, self.body.plan.spread_offset);
                spread(b, at, access, base, room, value);
            }
        }
    }
}

/// Scatters elements with a stride, one by one, through the memory of a vector at `room`.
fn spread(b: &mut Builder, at: At, access: &StridedAccess, base: Value, room: Value, value: Value) {
    let lane = storage_lane(access.dtype);
    let elements = narrow(b, access.dtype, value);
    b.store(elements, Addr::at(room), None);
    let to = at.strided(b, base, lane, access.inner);
    let to = b.address(to);
    let start = b.index(0);
    let end = at.count.unwrap_or_else(|| {
        let lanes = b.lanes();
        b.index(lanes.into())
    });
    b.repeat(LoopKind::Rest, (start, end), 1, &[], |b, round| {
        let element = b.load_splat(lane, Addr::element(room, round.index, lane));
        let stride = b.index(access.inner);
        let place = b.index_op(IndexOp::Mul, round.index, stride);
        b.store_first(element, Addr::element(to, place, lane));
        Vec::new()
    });
}

/// Returns the unroll factor of a loop that computes these nodes for `roots`: the cheaper the body, the larger, within
/// the limit of register pressure.
fn unroll(n: &Nest, roots: &[usize], computed: &[usize]) -> u32 {
    if is_long(computed.iter().map(|&node| &n.nodes[node])) {
        return 2;
    }
    let alive = Alive::of(&n.nodes, roots, computed);
    n.registers.room(alive).clamp(1, 4)
}
