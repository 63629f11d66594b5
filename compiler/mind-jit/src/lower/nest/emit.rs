//! The passes over one row.

use half::{bf16, f16};
use mind_ir::types::DType;

use crate::lower::apply;
use crate::lower::reduce::{PARTIALS, fold};
use crate::lower::{
    At, combine, compute_lane, convert, identity, load, narrow, storage_lane, store, widen,
};
use crate::vir::{Addr, Builder, IndexOp, Lane, LoopKind, Op, Value};

use super::mean;
use super::plan::{Pass, Place, Plan, weight};
use super::program::{Access, Nest, Node};
use super::sweep::{self, Extent};

/// One row of a nest, while the code for it is appended.
pub(super) struct Row<'a> {
    n: &'a Nest,
    plan: &'a Plan,
    /// Where the row of each operand starts.
    inputs: &'a [Value],
    outputs: &'a [Value],
    scratch: Value,
    /// The values that are the same for the whole row, in every lane.
    uniform: Vec<Option<Value>>,
}

impl<'a> Row<'a> {
    pub fn new(
        n: &'a Nest,
        plan: &'a Plan,
        inputs: &'a [Value],
        outputs: &'a [Value],
        scratch: Value,
    ) -> Row<'a> {
        Row {
            n,
            plan,
            inputs,
            outputs,
            scratch,
            uniform: vec![None; n.nodes.len()],
        }
    }

    /// Appends all passes.
    pub fn passes(&mut self, b: &mut Builder, extent: Extent) {
        self.load_replaced(b);
        let plan = self.plan;
        for (number, pass) in plan.passes.iter().enumerate() {
            self.pass(b, number, pass, extent);
        }
    }

    /// Reads what an output of one value for a row may write over.
    fn load_replaced(&mut self, b: &mut Builder) {
        for node in 0..self.n.nodes.len() {
            let Node::Input(input) = self.n.nodes[node] else {
                continue;
            };
            let outputs = &self.n.outputs;
            let is_replaced = outputs.iter().any(|output| output.replaces == Some(input));
            if is_replaced && !self.plan.varies[node] {
                self.uniform(b, node);
            }
        }
    }

    fn pass(&mut self, b: &mut Builder, number: usize, pass: &Pass, extent: Extent) {
        let mut streamed: Vec<usize> = Vec::new();
        for &place in &pass.outputs {
            let output = &self.n.outputs[place];
            let value = self.uniform_if(b, output.node);
            match value {
                Some(value) if output.access.inner == 0 => {
                    let elements = narrow(b, output.access.dtype, value);
                    b.store_first(elements, Addr::at(self.outputs[place]));
                }
                _ => streamed.push(place),
            }
        }
        if pass.reduces.is_empty() && streamed.is_empty() && pass.keeps.is_empty() {
            return;
        }
        let args = pass.reduces.iter().map(|&node| self.arg(node));
        let stored = streamed.iter().map(|&place| self.n.outputs[place].node);
        let roots: Vec<usize> = args
            .chain(stored)
            .chain(pass.keeps.iter().map(|kept| kept.node))
            .collect();
        let computed = self.prepare(b, number, &roots);
        if pass.reduces.is_empty() {
            let unroll = unroll(self.n, &computed);
            let row = &*self;
            sweep::map(b, extent, unroll, |b, at| {
                let mut vector = row.vector(number, at);
                row.write(b, &mut vector, pass, &streamed);
            });
            return;
        }
        let Extent::Known(inner) = extent else {
            panic!("rows that are reduced have one extent");
        };
        self.reduce(b, number, pass, inner, &streamed);
    }

    fn arg(&self, reduce: usize) -> usize {
        match self.n.nodes[reduce] {
            Node::Reduce { arg, .. } => arg,
            ref other => panic!("a reduction, found {other:?}"),
        }
    }

    /// Appends the walk that reduces, and what follows for each result.
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
            let neutral = identity(b, kind.combines(), dtype);
            inits.extend(std::iter::repeat_n(neutral, vectors as usize));
            kinds.push((node, kind, dtype, arg, neutral));
        }
        let row = &*self;
        let partials = sweep::carry(b, inner, vectors, &inits, |b, at, which, carried| {
            let mut vector = row.vector(number, at);
            for (place, &(_, kind, dtype, arg, neutral)) in kinds.iter().enumerate() {
                let mut x = row.value(b, &mut vector, arg);
                if let Some(count) = at.count {
                    let inside = b.below(compute_lane(dtype), count);
                    x = b.select(inside, x, neutral);
                }
                let partial = &mut carried[place * vectors as usize + which as usize];
                *partial = combine(b, kind.combines(), dtype, *partial, x);
            }
            row.write(b, &mut vector, pass, streamed);
        });
        for (&(node, kind, dtype, ..), partials) in
            kinds.iter().zip(partials.chunks_exact(vectors as usize))
        {
            let total = fold(b, kind.combines(), dtype, partials.to_vec());
            let total = b.splat(total);
            self.uniform[node] = Some(mean::finish(b, kind, dtype, total, inner));
        }
    }

    /// Computes what is the same for the whole row and is needed by a pass for `roots`; gives the nodes that
    /// the pass computes itself.
    fn prepare(&mut self, b: &mut Builder, number: usize, roots: &[usize]) -> Vec<usize> {
        let (mut seen, mut pending) = (vec![false; self.n.nodes.len()], roots.to_vec());
        let mut computed = Vec::new();
        while let Some(node) = pending.pop() {
            if std::mem::replace(&mut seen[node], true) || self.uniform_if(b, node).is_some() {
                continue;
            }
            if self.kept_before(node, number).is_none() {
                computed.push(node);
                self.n.nodes[node].for_each_arg(|arg| pending.push(arg));
            }
        }
        computed
    }

    fn kept_before(&self, node: usize, number: usize) -> Option<Place> {
        let kept = self.plan.kept[node]?;
        (kept.pass < number).then_some(kept.place)
    }

    fn uniform_if(&mut self, b: &mut Builder, node: usize) -> Option<Value> {
        (!self.plan.varies[node]).then(|| self.uniform(b, node))
    }

    /// A value that is the same for the whole row.
    fn uniform(&mut self, b: &mut Builder, node: usize) -> Value {
        if let Some(known) = self.uniform[node] {
            return known;
        }
        let value = match &self.n.nodes[node] {
            &Node::Input(input) => {
                let dtype = self.n.inputs[input].dtype;
                let element = b.load_splat(storage_lane(dtype), Addr::at(self.inputs[input]));
                widen(b, dtype, element)
            }
            &Node::Constant { dtype, bits } => constant(b, dtype, bits),
            Node::Apply {
                function,
                dtype,
                args,
            } => {
                let args: Vec<Value> = args.iter().map(|&arg| self.uniform(b, arg)).collect();
                apply(b, *function, *dtype, &args, None)
            }
            &Node::Convert { from, to, arg } => {
                let arg = self.uniform(b, arg);
                convert(b, from, to, arg)
            }
            Node::Reduce { .. } => panic!("a reduction is done before its result is used"),
        };
        self.uniform[node] = Some(value);
        value
    }

    fn vector(&self, number: usize, at: At) -> Vector {
        Vector {
            number,
            at,
            values: self.uniform.clone(),
        }
    }

    /// The value of a node at the lanes of `vector`.
    fn value(&self, b: &mut Builder, vector: &mut Vector, node: usize) -> Value {
        if let Some(known) = vector.values[node] {
            return known;
        }
        let at = vector.at;
        let value = match (self.kept_before(node, vector.number), &self.n.nodes[node]) {
            (Some(place), _) => {
                let dtype = self.n.dtype(node);
                let base = self.kept_base(b, place);
                load(b, dtype, at.addr(base, storage_lane(dtype)), at.count)
            }
            (None, &Node::Input(input)) => self.load(b, at, input),
            (
                None,
                Node::Apply {
                    function,
                    dtype,
                    args,
                },
            ) => {
                let args: Vec<Value> = args.iter().map(|&arg| self.value(b, vector, arg)).collect();
                apply(b, *function, *dtype, &args, at.count)
            }
            (None, &Node::Convert { from, to, arg }) => {
                let arg = self.value(b, vector, arg);
                convert(b, from, to, arg)
            }
            (None, Node::Constant { .. } | Node::Reduce { .. }) => {
                panic!("what is the same for the row is prepared before a pass")
            }
        };
        vector.values[node] = Some(value);
        value
    }

    fn load(&self, b: &mut Builder, at: At, input: usize) -> Value {
        let (access, base) = (&self.n.inputs[input], self.inputs[input]);
        let lane = storage_lane(access.dtype);
        if access.inner == 1 {
            return load(b, access.dtype, at.addr(base, lane), at.count);
        }
        let addr = at.strided(b, base, lane, access.inner);
        let stride = b.index(access.inner);
        let elements = b.op(Op::LoadStrided {
            lane,
            addr,
            stride,
            count: at.count,
        });
        widen(b, access.dtype, elements)
    }

    fn kept_base(&self, b: &mut Builder, place: Place) -> Value {
        match place {
            Place::Output(output) => self.outputs[output],
            Place::Scratch(0) => self.scratch,
            Place::Scratch(offset) => {
                let offset = b.index(offset as i64);
                b.address(Addr::element(self.scratch, offset, Lane::I8))
            }
        }
    }

    /// Writes what a pass keeps and puts out at the lanes of `vector`, everything read before.
    fn write(&self, b: &mut Builder, vector: &mut Vector, pass: &Pass, streamed: &[usize]) {
        let at = vector.at;
        let outputs = streamed.iter().map(|&place| self.n.outputs[place].node);
        let keeps = pass.keeps.iter().map(|kept| kept.node);
        let values: Vec<Value> = keeps
            .chain(outputs)
            .map(|node| self.value(b, vector, node))
            .collect();
        let (keeps, outputs) = values.split_at(pass.keeps.len());
        for (kept, &value) in pass.keeps.iter().zip(keeps) {
            let (dtype, base) = (self.n.dtype(kept.node), self.kept_base(b, kept.place));
            store(
                b,
                dtype,
                value,
                at.addr(base, storage_lane(dtype)),
                at.count,
            );
        }
        for (&place, &value) in streamed.iter().zip(outputs) {
            let (access, base) = (&self.n.outputs[place].access, self.outputs[place]);
            if access.inner == 1 {
                let addr = at.addr(base, storage_lane(access.dtype));
                store(b, access.dtype, value, addr, at.count);
            } else {
                self.spread(b, at, access, base, value);
            }
        }
    }

    /// Writes elements that do not lie side by side, one by one.
    fn spread(&self, b: &mut Builder, at: At, access: &Access, base: Value, value: Value) {
        let lane = storage_lane(access.dtype);
        let elements = narrow(b, access.dtype, value);
        let room = self.kept_base(b, Place::Scratch(self.plan.spread_offset));
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
}

/// What is known of the lanes of one vector.
struct Vector {
    number: usize,
    at: At,
    values: Vec<Option<Value>>,
}

/// Vectors in a round of a loop that computes these nodes: the more the less each of them takes.
fn unroll(n: &Nest, computed: &[usize]) -> u32 {
    let total: usize = computed.iter().map(|&node| weight(&n.nodes[node])).sum();
    match total {
        0..=12 => 4,
        13..=30 => 2,
        _ => 1,
    }
}

/// An element of a dtype in the lanes that it is worked on in.
fn constant(b: &mut Builder, dtype: DType, bits: u64) -> Value {
    let bits = match dtype {
        DType::F16 => f16::from_bits(bits as u16).to_f32().to_bits().into(),
        DType::BF16 => bf16::from_bits(bits as u16).to_f32().to_bits().into(),
        _ => bits,
    };
    b.constant(compute_lane(dtype), bits)
}
