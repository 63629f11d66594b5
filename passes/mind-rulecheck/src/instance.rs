//! Modules that contain a match of a rule's left side.

use mind_core::ops::dynamic::{DynamicSlice, DynamicUpdateSlice};
use mind_core::ops::gather::GatherNd;
use mind_core::ops::input::Input;
use mind_core::ops::scatter::ScatterNd;
use mind_diag::Span;
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::graph::{Graph, InsertPoint};
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::verify::VerifyError;
use mind_ir::{OpId, Sym, ValueId};
use mind_rules::AttrValue;

use crate::plan::{Plan, PlanOp, is_any};

/// The name of the symbolic dimension.
const SYMBOL: &str = "B";

/// All choices for an instance, from which the same module can be built again.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Draw {
    /// The number of values in each list of operands.
    pub(crate) listed: usize,
    /// The main dtype.
    pub(crate) dtype: DType,
    /// The extent that is replaced by a symbol wherever it occurs, if any.
    pub(crate) symbol: Option<i64>,
    /// The values that no op of the left side computes, in the order of their first use.
    pub(crate) leaves: Vec<Leaf>,
    /// The attributes of each op of the plan.
    pub(crate) attrs: Vec<Vec<AttrValue>>,
}

/// A value that no op of the left side computes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Leaf {
    /// Its index in the plan.
    pub(crate) value: usize,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<i64>,
    pub(crate) kind: LeafKind,
}

/// How a leaf is computed.
#[derive(Clone, Debug)]
pub(crate) enum LeafKind {
    /// An input.
    Input,
    /// A constant.
    Constant(Tensor),
    /// An op over an input, whose result has a fact that conditions may require, for example `core.relu`.
    Through(&'static OpDef),
    /// An op with the same input as both operands.
    Twice(&'static OpDef),
}

impl PartialEq for LeafKind {
    fn eq(&self, other: &LeafKind) -> bool {
        match (self, other) {
            (LeafKind::Input, LeafKind::Input) => true,
            (LeafKind::Constant(a), LeafKind::Constant(b)) => a.same_bits(b),
            (LeafKind::Through(a), LeafKind::Through(b))
            | (LeafKind::Twice(a), LeafKind::Twice(b)) => std::ptr::eq(*a, *b),
            _ => false,
        }
    }
}

impl Leaf {
    /// Returns the number of its elements.
    pub(crate) fn count(&self) -> usize {
        self.shape.iter().product::<i64>() as usize
    }
}

/// A module that contains a match of a left side.
pub(crate) struct Instance {
    pub(crate) graph: Graph,
    /// The symbol that replaces the extent [`Draw::symbol`].
    pub(crate) symbol: Sym,
    /// The input ops, each with the index of the leaf that it is for.
    pub(crate) inputs: Vec<(OpId, usize)>,
    /// For each leaf, the exclusive upper bound of its elements if they are indices.
    pub(crate) below: Vec<Option<i64>>,
    /// The value of the left side.
    pub(crate) left: ValueId,
    /// The value of another match, for a rule that merges the values of several matches.
    pub(crate) twin: Option<ValueId>,
    pub(crate) draw: Draw,
}

/// Chooses leaves and attributes while an instance is built.
pub(crate) trait Choices {
    /// Returns the leaves among the operands of `op`, one for each of `open`. `known` has the types of the other
    /// operands. Returns `None` if no leaves fit.
    fn leaves(
        &mut self,
        op: &PlanOp<'_>,
        open: &[usize],
        known: &[Option<TensorType>],
    ) -> Option<Vec<Leaf>>;

    /// Returns the attributes of `op` over operands of these types. `named` has the named attributes that are already
    /// chosen.
    fn attrs(
        &mut self,
        op: &PlanOp<'_>,
        named: &[Option<AttrValue>],
        operands: &[TensorType],
    ) -> Option<Vec<AttrValue>>;

    /// Returns how often attributes are chosen for an op before the instance is given up.
    fn attempts(&self) -> usize;
}

/// Repeats the choices of a [`Draw`].
pub(crate) struct Replay<'d> {
    draw: &'d Draw,
    leaf: usize,
    op: usize,
}

impl Choices for Replay<'_> {
    fn leaves(
        &mut self,
        _: &PlanOp<'_>,
        open: &[usize],
        _: &[Option<TensorType>],
    ) -> Option<Vec<Leaf>> {
        let end = self.leaf + open.len();
        let leaves = self.draw.leaves.get(self.leaf..end)?.to_vec();
        self.leaf = end;
        Some(leaves)
    }

    fn attrs(
        &mut self,
        _: &PlanOp<'_>,
        _: &[Option<AttrValue>],
        _: &[TensorType],
    ) -> Option<Vec<AttrValue>> {
        self.op += 1;
        self.draw.attrs.get(self.op - 1).cloned()
    }

    fn attempts(&self) -> usize {
        1
    }
}

/// Builds the instance that `draw` describes; `None` if the shape rules reject it.
pub(crate) fn replay(plan: &Plan<'_>, draw: &Draw) -> Option<Instance> {
    let mut choices = Replay {
        draw,
        leaf: 0,
        op: 0,
    };
    build(plan, draw.dtype, draw.symbol, &mut choices).ok()
}

/// The reason why [`build`] built no instance.
pub(crate) enum Unbuilt {
    /// No operands or attributes were found that could fit an op.
    NoChoice,
    /// The shape rule of an op rejected every attempt; the error is that of the last one.
    Rejected {
        op: &'static str,
        error: Box<VerifyError>,
    },
}

/// Builds an instance from choices.
///
/// # Errors
///
/// If no choice satisfies the shape rules.
pub(crate) fn build(
    plan: &Plan<'_>,
    dtype: DType,
    symbol: Option<i64>,
    choices: &mut dyn Choices,
) -> Result<Instance, Unbuilt> {
    let mut graph = Graph::new();
    let name = graph.intern(SYMBOL);
    let draw = Draw {
        listed: plan.listed,
        dtype,
        symbol,
        leaves: Vec::new(),
        attrs: Vec::new(),
    };
    let mut assembler = Assembler {
        instance: Instance {
            left: ValueId::new(0),
            twin: None,
            graph,
            symbol: name,
            inputs: Vec::new(),
            below: Vec::new(),
            draw,
        },
        values: vec![None; plan.values],
        named: vec![None; plan.attrs],
    };
    for op in &plan.ops {
        assembler.op(op, choices)?;
    }
    if let Some(value) = plan.joined {
        assembler.twin(value);
    }
    let mut instance = assembler.instance;
    instance.left = assembler.values[plan.root].ok_or(Unbuilt::NoChoice)?;
    Ok(instance)
}

struct Assembler {
    instance: Instance,
    values: Vec<Option<ValueId>>,
    named: Vec<Option<AttrValue>>,
}

impl Assembler {
    fn op(&mut self, op: &PlanOp<'_>, choices: &mut dyn Choices) -> Result<(), Unbuilt> {
        let mut open: Vec<usize> = Vec::new();
        for &value in &op.operands {
            if self.values[value].is_none() && !open.contains(&value) {
                open.push(value);
            }
        }
        if !open.is_empty() {
            let known: Vec<Option<TensorType>> = op
                .operands
                .iter()
                .map(|&value| Some(self.instance.graph.ty(self.values[value]?).to_owned()))
                .collect();
            let leaves = choices.leaves(op, &open, &known);
            for leaf in leaves.ok_or(Unbuilt::NoChoice)? {
                self.leaf(leaf).ok_or(Unbuilt::NoChoice)?;
            }
        }
        let operands: Vec<ValueId> = op
            .operands
            .iter()
            .map(|&value| self.values[value])
            .collect::<Option<_>>()
            .ok_or(Unbuilt::NoChoice)?;
        let mut unbuilt = Unbuilt::NoChoice;
        let ty = |&value: &ValueId| self.instance.graph.ty(value).to_owned();
        let types: Vec<TensorType> = operands.iter().map(ty).collect();
        for _ in 0..choices.attempts() {
            let Some(attrs) = choices.attrs(op, &self.named, &types) else {
                break;
            };
            let borrowed: Vec<Attr<'_>> = attrs.iter().map(AttrValue::as_attr).collect();
            let def = op.left.def;
            let created = match self.builder().create(def, &operands, &borrowed) {
                Ok(created) => created,
                Err(error) => {
                    unbuilt = Unbuilt::Rejected {
                        op: def.name,
                        error,
                    };
                    continue;
                }
            };
            self.values[op.result] = Some(self.instance.graph.results(created).get(op.left.nth));
            for (attr, value) in op.left.attrs.iter().zip(&attrs) {
                if let mind_rules::LhsAttr::Named(number) = attr {
                    self.named[*number] = Some(value.clone());
                }
            }
            self.bound_indices(op, &attrs, &types);
            self.instance.draw.attrs.push(attrs);
            return Ok(());
        }
        Err(unbuilt)
    }

    /// Records the upper bounds of operands that are indices.
    fn bound_indices(&mut self, op: &PlanOp<'_>, attrs: &[AttrValue], types: &[TensorType]) {
        for (at, value) in op.operands.iter().enumerate() {
            if !crate::plan::is_index(op.left.def, at) {
                continue;
            }
            let extents = types[0].shape.iter().copied();
            let extents: Vec<Option<i64>> = extents.map(|dim| self.extent(dim)).collect();
            let Some(extent) = indexed_extent(op, at, attrs, &extents, types) else {
                continue;
            };
            let leaves = &self.instance.draw.leaves;
            if let Some(leaf) = leaves.iter().position(|leaf| leaf.value == *value) {
                let below = &mut self.instance.below[leaf];
                *below = (*below).into_iter().chain([extent]).min();
            }
        }
    }

    fn extent(&self, dim: Dim) -> Option<i64> {
        match dim {
            Dim::Fixed(extent) => Some(extent),
            Dim::Symbol(_) => self.instance.draw.symbol,
            Dim::Dynamic => None,
        }
    }

    fn leaf(&mut self, leaf: Leaf) -> Option<()> {
        if leaf.shape.iter().any(|&extent| extent < 0) {
            return None;
        }
        let value = match &leaf.kind {
            LeafKind::Constant(tensor) => mind_core::constant(&mut self.builder(), tensor),
            LeafKind::Input => self.input(&leaf),
            LeafKind::Through(def) => {
                let input = self.input(&leaf);
                let op = self.builder().create(def, &[input], &[]).ok()?;
                self.instance.graph.result(op)
            }
            LeafKind::Twice(def) => {
                let input = self.input(&leaf);
                let op = self.builder().create(def, &[input, input], &[]).ok()?;
                self.instance.graph.result(op)
            }
        };
        self.values[leaf.value] = Some(value);
        self.instance.draw.leaves.push(leaf);
        self.instance.below.push(None);
        Some(())
    }

    /// Appends another input with the type of the leaf `value`.
    fn twin(&mut self, value: usize) {
        let leaves = &self.instance.draw.leaves;
        let Some(mut leaf) = leaves.iter().find(|leaf| leaf.value == value).cloned() else {
            return;
        };
        leaf.kind = LeafKind::Input;
        self.instance.twin = Some(self.input(&leaf));
        self.instance.draw.leaves.push(leaf);
        self.instance.below.push(None);
    }

    fn input(&mut self, leaf: &Leaf) -> ValueId {
        let at = self.instance.draw.leaves.len();
        let (symbol, sym) = (self.instance.draw.symbol, self.instance.symbol);
        let g = &mut self.instance.graph;
        let name = g.intern(&format!("x{at}"));
        let dim = |&extent: &i64| {
            if Some(extent) == symbol {
                Dim::Symbol(sym)
            } else {
                Dim::Fixed(extent)
            }
        };
        let ty = TensorType::new(leaf.dtype, leaf.shape.iter().map(dim));
        let ty = g.intern_type(ty.view());
        let attrs = Input::attrs(name, false, None);
        let op = self.builder().create_typed(Input::DEF, &[], &attrs, &[ty]);
        self.instance.inputs.push((op, at));
        self.instance.graph.result(op)
    }

    fn builder(&mut self) -> Builder<'_> {
        let at = InsertPoint::End(self.instance.graph.body());
        Builder::new(&mut self.instance.graph, at, Span::FILE)
    }
}

/// Returns the exclusive upper bound of the indices in operand `at` of `op`, whose first operand has these extents;
/// `None` if the indexed axis does not exist or its extent is not known.
fn indexed_extent(
    op: &PlanOp<'_>,
    at: usize,
    attrs: &[AttrValue],
    extents: &[Option<i64>],
    types: &[TensorType],
) -> Option<i64> {
    let def = op.left.def;
    if is_any(def, &[DynamicSlice::DEF]) {
        return *extents.get(at - 1)?;
    }
    if is_any(def, &[DynamicUpdateSlice::DEF]) {
        return *extents.get(at - 2)?;
    }
    let named = |name: &str| match attrs.get(def.attr_index(name)?) {
        Some(AttrValue::Int(value)) => Some(*value),
        _ => None,
    };
    if is_any(def, &[GatherNd::DEF, ScatterNd::DEF]) {
        let first = usize::try_from(named("batch_dims").unwrap_or(0)).ok()?;
        let length = types[at].shape.last()?.fixed()?;
        let indexed = extents.get(first..first + usize::try_from(length).ok()?)?;
        return indexed.iter().copied().flatten().min();
    }
    let axis = named("axis")?;
    let front = if axis < 0 {
        axis + extents.len() as i64
    } else {
        axis
    };
    *extents.get(usize::try_from(front).ok()?)?
}
