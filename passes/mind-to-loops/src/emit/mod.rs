//! Kernels as ops of the loops dialect.

mod block;
mod nest;
mod product;

use mind_core::ops::input::Input;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, Trait};
use mind_ir::types::DType;
use mind_ir::verify::VerifyError;
use mind_ir::{Graph, OpId, ValueId};
use mind_loops::extents::known;
use mind_loops::memory::buffer;
use mind_loops::ops::convert::Convert;
use mind_loops::ops::movement::{Gather, Join};
use mind_loops::ops::nest::{Along, Nest};
use mind_loops::ops::view::View;

use crate::kernel::{Kernel, Kind, Node};
use crate::options::Options;
use crate::place::{Place, Source};

/// What the shape rules of emitted ops refuse is a fault of the lowering.
pub(crate) type Emitted<T> = Result<T, Box<VerifyError>>;

/// Emits kernels at a place.
pub(crate) struct Emitter<'o, 'g> {
    b: Builder<'g>,
    options: &'o Options,
    /// The results of the kernels of the unit so far.
    results: Vec<Vec<ValueId>>,
}

impl<'o, 'g> Emitter<'o, 'g> {
    /// An emitter that appends with `b`.
    pub(crate) fn new(b: Builder<'g>, options: &'o Options) -> Emitter<'o, 'g> {
        Emitter {
            b,
            options,
            results: Vec::new(),
        }
    }

    /// The module.
    pub(crate) fn graph(&self) -> &Graph {
        self.b.graph
    }

    /// Emits the next kernel of the unit.
    ///
    /// # Errors
    ///
    /// A fault of the lowering.
    pub(crate) fn kernel(&mut self, kernel: &Kernel) -> Emitted<()> {
        let op = match &kernel.kind {
            Kind::Nest { .. } => self.nest(kernel)?,
            Kind::Contract(matrix) => self.contract(kernel, *matrix)?,
            Kind::Window(origin) => self.window(kernel, *origin)?,
            Kind::Block(chain) => self.block(kernel, chain)?,
            Kind::Gather { axis } => {
                let operands = self.values(kernel);
                self.b
                    .create(Gather::DEF, &operands, &Gather::attrs(*axis, &[]))?
            }
            Kind::Join { axis } => {
                let operands = self.values(kernel);
                self.b
                    .create(Join::DEF, &operands, &Join::attrs(*axis, &[]))?
            }
        };
        let results = self.b.graph.results(op).into_iter().collect();
        self.results.push(results);
        Ok(())
    }

    fn values(&mut self, kernel: &Kernel) -> Vec<ValueId> {
        let places = kernel.operands.iter().map(|operand| &operand.place);
        places.map(|place| self.value(place)).collect()
    }

    /// The value whose memory a place is in.
    pub(crate) fn source(&self, source: Source) -> ValueId {
        match source {
            Source::Value(value) => value,
            Source::Kernel { kernel, result } => self.results[kernel][result],
        }
    }

    /// A value with the elements of `place`: its source, or a view of it.
    pub(crate) fn value(&mut self, place: &Place) -> ValueId {
        let source = self.source(place.source);
        if place.is_dense() && known(self.b.graph, source) == place.extents {
            return source;
        }
        let shape: Vec<i64> = place.extents.iter().map(|&extent| extent as i64).collect();
        let offset = if place.count() == 0 { 0 } else { place.offset };
        let attrs = View::attrs(&shape, &place.strides, offset);
        let view = self.b.create(View::DEF, &[source], &attrs);
        let view = view.unwrap_or_else(|why| panic!("a place lies in its buffer: {why}"));
        self.b.graph.result(view)
    }

    /// A dense copy of the elements of `place`.
    pub(crate) fn copy(&mut self, place: &Place, origin: OpId) -> Emitted<Place> {
        let dtype: DType = self.b.graph.ty(self.source(place.source)).dtype;
        let kernel = Kernel::copy(place.clone(), dtype, origin);
        let op = self.nest(&kernel)?;
        let copy = Source::Value(self.b.graph.result(op));
        Ok(Place::whole(copy, place.extents.clone()))
    }

    /// Whether what a place looks at is the same in every run once weights are bound.
    pub(crate) fn is_fixed(&self, source: Source) -> bool {
        let g = &*self.b.graph;
        let is_leaf = |value: ValueId| {
            g.defining_op(value).is_some_and(|op| {
                let weight = g.view::<Input>(op).is_some_and(|input| input.param(g));
                weight || g.def(op).has(Trait::Constant)
            })
        };
        let value = self.source(source);
        let made_of_leaves = |op| {
            let operands = g.operands(op).iter();
            g.is::<Nest>(op) && operands.clone().all(|&operand| is_leaf(buffer(g, operand)))
        };
        is_leaf(value) || g.defining_op(value).is_some_and(made_of_leaves)
    }
}

/// Emits the element of a product.
pub(crate) type MakeProduct<'p> = dyn Fn(&mut Builder<'_>) -> Emitted<ValueId> + 'p;

/// Appends the nodes of a body; what its outputs are. `product` gives the element of the product.
pub(crate) fn body(
    b: &mut Builder<'_>,
    kernel: &Kernel,
    arguments: &[ValueId],
    product: Option<&MakeProduct<'_>>,
) -> Emitted<Vec<ValueId>> {
    let mut values: Vec<ValueId> = Vec::with_capacity(kernel.body.len());
    for node in &kernel.body {
        let value = match node {
            Node::Operand(index) => arguments[*index],
            Node::Op { source, args } => {
                let operands: Vec<ValueId> = args.iter().map(|&arg| values[arg]).collect();
                let copy = b.copy(*source, &operands);
                b.graph.result(copy)
            }
            Node::Convert { to, arg } => {
                let op = b.create(Convert::DEF, &[values[*arg]], &Convert::attrs(*to))?;
                b.graph.result(op)
            }
            Node::Along { reduction, arg } => {
                let kind = b.graph.intern(reduction.name());
                let op = b.create(Along::DEF, &[values[*arg]], &Along::attrs(kind))?;
                b.graph.result(op)
            }
            Node::Product => match product {
                Some(product) => product(b)?,
                None => arguments[0],
            },
        };
        values.push(value);
    }
    Ok(kernel
        .outputs
        .iter()
        .map(|output| values[output.node])
        .collect())
}

/// Extents as an attribute.
pub(crate) fn ints(extents: &[usize]) -> Vec<i64> {
    extents.iter().map(|&extent| extent as i64).collect()
}
