//! Random generation of a module, op by op.

use mind_core::constant;
use mind_core::ops::convert::Cast;
use mind_core::ops::input::Input;
use mind_core::ops::runtime_shape::DynamicReshape;
use mind_core::region::{inline, outline};
use mind_diag::Span;
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Op, OpDef, OperandClass};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::verify::infer_op;
use mind_ir::{OpId, ValueId};

use crate::Config;
use crate::element;
use crate::rng::Rng;
use crate::shape::{self, MAX_ELEMENTS};

/// A growing module.
pub(crate) struct Generator<'c> {
    pub(crate) graph: Graph,
    pub(crate) rng: Rng,
    config: &'c Config,
    values: Vec<ValueId>,
    inputs: usize,
    /// The nesting depth in regions, which have no inputs of their own.
    depth: usize,
}

/// The parts of an op with closed regions that are drawn before its regions.
pub(crate) struct Regions<'a> {
    pub(crate) def: &'static OpDef,
    pub(crate) operands: &'a [ValueId],
    pub(crate) attrs: &'a [Attr<'a>],
    pub(crate) results: usize,
    /// The types of the first arguments of every region. The last region declares them if they have open extents.
    pub(crate) carried: &'a [TensorType],
}

/// The maximal nesting depth of regions.
const MOST_DEPTH: usize = 3;

impl<'c> Generator<'c> {
    /// Creates an empty module.
    pub(crate) fn new(seed: u64, config: &'c Config) -> Generator<'c> {
        Generator {
            graph: Graph::new(),
            rng: Rng::new(seed),
            config,
            values: Vec::new(),
            inputs: 0,
            depth: 0,
        }
    }

    /// Returns whether an op with closed regions may be drawn.
    pub(crate) fn takes_regions(&self) -> bool {
        self.depth < MOST_DEPTH
    }

    /// Appends an op with closed regions. Returns `None` if the op is excluded, or its rules reject it. `fill` draws
    /// each region and returns the values that it yields.
    pub(crate) fn with_regions(
        &mut self,
        Regions {
            def,
            operands,
            attrs,
            results,
            carried,
        }: Regions<'_>,
        mut fill: impl FnMut(usize, &mut Generator<'_>) -> Vec<ValueId>,
    ) -> Option<ValueId> {
        if self.is_unwanted(def) {
            return None;
        }
        let new = NewOp {
            def,
            operands,
            attrs,
            results,
            span: Span::FILE,
        };
        let op = self.graph.insert(InsertPoint::End(self.graph.body()), new);
        for region in 0..def.regions {
            let block = self.graph.block(self.graph.regions(op)[region]);
            let arguments = def.arguments.expect("the op has closed regions");
            let mut types = arguments(op, &self.graph, region).expect("what was drawn fits");
            let values = self.graph.add_arguments(block, types.len());
            for (at, value) in values.into_iter().enumerate() {
                let is_declared = carried.get(at).is_some_and(|own| *own != types[at]);
                if is_declared {
                    types[at] = carried[at].clone();
                }
                let ty = self.graph.intern_type(types[at].view());
                self.graph.set_type(value, ty);
                if is_declared && region + 1 == def.regions {
                    self.graph.declare(value, ty);
                }
            }
            let graph = outline(&self.graph, block, |_| false);
            let values = graph.ops(graph.body()).map(|op| graph.result(op)).collect();
            let mut inner = Generator {
                graph,
                rng: Rng::new(self.rng.below(1 << 32) as u64),
                config: self.config,
                values,
                inputs: 0,
                depth: self.depth + 1,
            };
            let yielded = fill(region, &mut inner);
            inner.end(&yielded);
            inline(&mut self.graph, block, &inner.graph);
        }
        let types = infer_op(&mut self.graph, op).expect("what was drawn fits");
        self.graph.set_types(op, &types);
        self.results_of(op)
    }

    /// Returns an argument of a region by number.
    pub(crate) fn argument(&self, number: usize) -> ValueId {
        self.values[number]
    }

    fn is_unwanted(&self, def: &'static OpDef) -> bool {
        let is_def = |own: &&'static OpDef| std::ptr::eq(*own, def);
        self.config.without.iter().any(is_def)
    }

    /// Adds the terminator of the module.
    fn end(&mut self, outputs: &[ValueId]) {
        end(&mut self.graph, outputs);
    }

    /// Appends an op. Returns `None` if the op is excluded, its shape rule rejects it or its result is too large.
    pub(crate) fn op(
        &mut self,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
    ) -> Option<ValueId> {
        if self.is_unwanted(def) {
            return None;
        }
        let at = InsertPoint::End(self.graph.body());
        let mut builder = Builder::new(&mut self.graph, at, Span::FILE);
        let op = builder.create(def, operands, attrs).ok()?;
        let results = self.graph.results(op);
        let too_large = |value| {
            self.graph
                .ty(value)
                .count()
                .is_some_and(|n| n > MAX_ELEMENTS)
        };
        if results.into_iter().any(too_large) {
            self.graph.erase(op);
            return None;
        }
        self.results_of(op)
    }

    /// The first result of a new op; `None` if the module may not give its results, which takes the op out again.
    fn results_of(&mut self, op: OpId) -> Option<ValueId> {
        let results = self.graph.results(op);
        let outputs: Vec<ValueId> = results.into_iter().collect();
        if !self.may_give(&outputs) {
            self.graph.erase(op);
            return None;
        }
        self.values.extend(results);
        Some(results.get(0))
    }

    /// Whether a module that gives these values is one to draw.
    fn may_give(&self, outputs: &[ValueId]) -> bool {
        self.config.accepts.is_none_or(|accepts| {
            let mut graph = self.graph.clone();
            end_accepted(&mut graph, outputs);
            accepts(&graph)
        })
    }

    /// Returns whether ops with data-dependent shapes may be drawn.
    pub(crate) fn decides_extents(&self) -> bool {
        self.config.symbols
    }

    /// Draws one of the configured dtypes.
    pub(crate) fn dtype(&mut self) -> DType {
        self.rng.pick(&self.config.dtypes)
    }

    /// Draws a value with a dtype that `class` admits, with a preference for recent ones.
    pub(crate) fn value(&mut self, class: OperandClass) -> ValueId {
        let fits = |&value: &ValueId| class.admits(self.graph.ty(value).dtype);
        let all: Vec<ValueId> = self.values.iter().copied().filter(fits).collect();
        if all.is_empty() || self.rng.once_in(6) {
            let dtypes = self.config.dtypes.iter().copied();
            let dtypes: Vec<DType> = dtypes.filter(|&dtype| class.admits(dtype)).collect();
            let dtype = if dtypes.is_empty() {
                DType::F32
            } else {
                self.rng.pick(&dtypes)
            };
            let mut shape = shape::draw(&mut self.rng);
            if self.depth == 0 && self.decides_extents() && !shape.is_empty() && self.rng.once_in(8)
            {
                shape[0] = match self.rng.pick(&["B", "S", "?"]) {
                    "?" => Dim::Dynamic,
                    name => Dim::Symbol(self.graph.intern(name)),
                };
            }
            return self.leaf(&TensorType::new(dtype, shape));
        }
        let recent = all.len().min(3);
        if self.rng.once_in(3) {
            self.rng.pick(&all)
        } else {
            self.rng.pick(&all[all.len() - recent..])
        }
    }

    /// Returns a value of this type: an existing one, or a new leaf.
    pub(crate) fn value_of(&mut self, ty: &TensorType) -> ValueId {
        let same = |&value: &ValueId| self.graph.ty(value) == ty.view();
        let known: Vec<ValueId> = self.values.iter().copied().filter(same).collect();
        if known.is_empty() || self.rng.once_in(3) {
            self.leaf(ty)
        } else {
            self.rng.pick(&known)
        }
    }

    /// Adds an input or a constant.
    pub(crate) fn leaf(&mut self, ty: &TensorType) -> ValueId {
        if self.depth > 0 || self.rng.once_in(3) && ty.view().count().is_some() {
            self.opened(ty)
        } else {
            let is_param = self.rng.once_in(4);
            self.input(ty, is_param)
        }
    }

    /// Adds a weight or a constant.
    pub(crate) fn weight(&mut self, ty: &TensorType) -> ValueId {
        if self.depth > 0 || self.rng.once_in(3) {
            self.opened(ty)
        } else {
            self.input(ty, true)
        }
    }

    fn input(&mut self, ty: &TensorType, is_param: bool) -> ValueId {
        let name = self.graph.intern(&format!("x{}", self.inputs));
        self.inputs += 1;
        let attrs = Input::attrs(name, is_param, None);
        let ty = self.graph.intern_type(ty.view());
        let at = InsertPoint::End(self.graph.body());
        let mut builder = Builder::new(&mut self.graph, at, Span::FILE);
        let op = builder.create_typed(Input::DEF, &[], &attrs, &[ty]);
        let value = self.graph.result(op);
        self.values.push(value);
        value
    }

    /// Adds a constant. Open extents become small ones, which a reshape to the constant's own extents hides.
    fn opened(&mut self, ty: &TensorType) -> ValueId {
        if ty.view().static_shape().is_some() {
            return self.constant(ty, false);
        }
        let dims = ty.shape.iter().map(|dim| match dim {
            Dim::Fixed(_) => *dim,
            Dim::Symbol(_) | Dim::Dynamic => Dim::Fixed(self.rng.below(4) as i64),
        });
        let closed = TensorType::new(ty.dtype, dims.collect::<Vec<Dim>>());
        let value = self.constant(&closed, false);
        let extents = closed.view().static_shape().unwrap_or_default();
        let extents = self.tensor(&Tensor::of(vec![extents.len()], extents));
        let at = InsertPoint::End(self.graph.body());
        let mut b = Builder::new(&mut self.graph, at, Span::FILE);
        let open = DynamicReshape::with(&ty.shape).build(&mut b, value, extents);
        let open = open.expect("a constant has its own extents");
        self.values.push(open);
        open
    }

    /// Adds a constant of static shape, without elements 0 and -1 if it is an integer divisor.
    pub(crate) fn constant(&mut self, ty: &TensorType, divisor: bool) -> ValueId {
        let extents = ty.view().static_shape().unwrap_or_default();
        let shape: Vec<usize> = extents.iter().map(|&extent| extent as usize).collect();
        let count: usize = shape.iter().product();
        let splat = self.rng.once_in(2);
        let mut bytes = Vec::new();
        for _ in 0..if splat { 1 } else { count } {
            element::draw(&mut self.rng, ty.dtype, divisor, &mut bytes);
        }
        let elements = Buffer::from_bytes(ty.dtype, &bytes);
        let elements = if splat {
            elements.splat(count)
        } else {
            elements
        };
        self.tensor(&Tensor::new(shape, elements))
    }

    /// Adds a constant list of indices below `extent`.
    pub(crate) fn indices(&mut self, shape: &[usize], extent: i64) -> ValueId {
        let count = shape.iter().product();
        let mut index = || self.rng.below(extent as usize);
        let indices: Vec<usize> = std::iter::repeat_with(&mut index).take(count).collect();
        let tensor = if self.rng.once_in(2) {
            Tensor::of(
                shape.to_vec(),
                indices.iter().map(|&at| at as i64).collect(),
            )
        } else {
            Tensor::of(
                shape.to_vec(),
                indices.iter().map(|&at| at as i32).collect(),
            )
        };
        self.tensor(&tensor)
    }

    /// Adds a constant.
    pub(crate) fn tensor(&mut self, tensor: &Tensor) -> ValueId {
        let at = InsertPoint::End(self.graph.body());
        let value = constant(&mut Builder::new(&mut self.graph, at, Span::FILE), tensor);
        self.values.push(value);
        value
    }

    /// Makes unused values outputs, and sometimes also other values, including inputs and values that already are
    /// outputs.
    pub(crate) fn finish(mut self) -> Graph {
        const MOST: usize = 3;
        let unread = |&value: &ValueId| self.graph.uses(value).is_empty();
        let mut outputs: Vec<ValueId> = self.values.iter().copied().filter(unread).collect();
        if outputs.is_empty() {
            outputs.push(self.value(OperandClass::Any));
        }
        outputs.reverse();
        outputs.truncate(MOST);
        if outputs.len() < MOST {
            for _ in 0..self.rng.below(3) {
                let other = self.rng.pick(&self.values);
                outputs.push(other);
            }
        }
        if self.rng.once_in(8) {
            let inputs = self.graph.ops(self.graph.body()).filter_map(|op| {
                let input = self.graph.view::<Input>(op)?;
                Some(input.result(&self.graph))
            });
            let inputs: Vec<ValueId> = inputs.collect();
            outputs.extend(inputs.first());
        }
        if self.config.accepts.is_none() {
            self.end(&outputs);
            return self.graph;
        }
        let mut accepted: Vec<ValueId> = Vec::new();
        for output in outputs.into_iter().chain(self.values.iter().rev().copied()) {
            if accepted.len() < MOST && !accepted.contains(&output) {
                accepted.push(output);
                if !self.may_give(&accepted) {
                    accepted.pop();
                }
            }
        }
        end_accepted(&mut self.graph, &accepted);
        self.graph
    }
}

/// Ends a module.
fn end(graph: &mut Graph, outputs: &[ValueId]) {
    let end = NewOp {
        def: Yield::DEF,
        operands: outputs,
        attrs: &[],
        results: 0,
        span: Span::FILE,
    };
    graph.insert(InsertPoint::End(graph.body()), end);
}

/// Ends a module that gives truth values as numbers, and has no op that nothing reads.
fn end_accepted(graph: &mut Graph, outputs: &[ValueId]) {
    let mut given = Vec::with_capacity(outputs.len());
    for &output in outputs {
        let at = InsertPoint::End(graph.body());
        given.push(match graph.ty(output).dtype {
            DType::Bool => {
                let mut b = Builder::new(graph, at, Span::FILE);
                let number = Cast::with(DType::F32).build(&mut b, output);
                number.expect("truth values become numbers")
            }
            _ => output,
        });
    }
    end(graph, &given);
    let ops: Vec<OpId> = graph.ops(graph.body()).collect();
    for op in ops.into_iter().rev() {
        let mut results = graph.results(op).into_iter();
        let is_read = results.any(|value| !graph.uses(value).is_empty());
        if !is_read && !graph.is::<Yield>(op) {
            graph.erase(op);
        }
    }
}
