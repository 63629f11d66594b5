//! Builder of exported graphs.

use std::collections::BTreeSet;

use mind_convert::Refusal;
use mind_ir::Graph;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::opdef::Trait;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};
use mind_ir::{OpId, Sym, ValueId};
use rustc_hash::FxHashMap;

use super::draft::{AttrDraft, Callee, GraphDraft, NodeDraft, Val};
use super::functions::Function;
use super::kernels;
use super::operator::{self as op, Operator};
use crate::proto::TypeProto;
use crate::tensor::Constant;

/// The value that replaces the result of an op.
pub(super) type One = Result<Val, Refusal>;

/// Attributes of a node.
pub(super) type Attrs = Vec<(&'static str, AttrDraft)>;

/// Maximum size in bytes of constants that are deduplicated.
const SHARED_BYTES: usize = 256;

/// Builder of a graph.
pub(super) struct Emit<'g> {
    pub g: &'g Graph,
    /// The version of the operator set.
    pub opset: i64,
    /// The preferred name of each value.
    pub names: Vec<String>,
    pub initialisers: Vec<(Val, Constant)>,
    shared: FxHashMap<(DType, Vec<usize>, Vec<u8>), Val>,
    /// The nodes of the current graph.
    pub nodes: Vec<NodeDraft>,
    /// The exported values of the module's values.
    values: FxHashMap<ValueId, Val>,
    /// The input and axis that each symbol is read from.
    pub symbols: FxHashMap<Sym, (ValueId, usize)>,
    /// The model-local functions in use.
    pub functions: Vec<&'static Function>,
    /// The parts of `Split` nodes in the current graph.
    pub splits: FxHashMap<(ValueId, usize, i64), Vec<Val>>,
    /// The nesting depth of graphs.
    pub depth: usize,
    /// The used operator forms for which ONNX Runtime does not have a kernel.
    pub without_kernel: BTreeSet<String>,
}

impl<'g> Emit<'g> {
    pub fn new(g: &'g Graph, opset: i64) -> Emit<'g> {
        Emit {
            g,
            opset,
            names: Vec::new(),
            initialisers: Vec::new(),
            shared: FxHashMap::default(),
            nodes: Vec::new(),
            values: FxHashMap::default(),
            symbols: FxHashMap::default(),
            functions: Vec::new(),
            splits: FxHashMap::default(),
            depth: 0,
            without_kernel: BTreeSet::new(),
        }
    }

    /// Returns a new value without a producer.
    pub fn fresh(&mut self, name: impl Into<String>) -> Val {
        self.names.push(name.into());
        Val::new(self.names.len() - 1)
    }

    /// Binds a value of the module to an exported value.
    pub fn bind(&mut self, value: ValueId, own: Val) {
        self.values.insert(value, own);
    }

    /// Returns the exported value of a value of the module.
    pub fn value(&mut self, value: ValueId) -> Val {
        if let Some(own) = self.values.get(&value) {
            return *own;
        }
        let constant = self.g.defining_op(value).and_then(|op| self.elements(op));
        let constant = constant.expect("operands are written before what reads them");
        let name = self.label(value);
        let own = self.fresh(name);
        self.initialisers.push((own, constant));
        self.values.insert(value, own);
        own
    }

    /// Returns the preferred name of a value.
    pub fn label(&self, value: ValueId) -> String {
        format!("v{}", self.g.label(value))
    }

    /// Returns the elements of a constant of fixed shape, splats expanded.
    fn elements(&self, op: OpId) -> Option<Constant> {
        let def = self.g.def(op);
        if !def.has(Trait::Constant) {
            return None;
        }
        let dims = DimEnv::default();
        let cx = EvalCx {
            tensor_limit: u64::MAX,
            ..EvalCx::run(self.g, &dims)
        };
        let evaluated = def.eval.expect("a constant has a value")(op, &cx, &[]);
        evaluated.ok().map(|tensors| Constant::of(&tensors[0]))
    }

    /// Returns the elements of a constant value.
    pub fn known(&self, value: ValueId) -> Option<Tensor> {
        let op = self.g.defining_op(value)?;
        self.elements(op).map(|constant| constant.tensor())
    }

    /// Returns a constant with the elements of `tensor`.
    pub fn tensor(&mut self, tensor: &Tensor) -> Val {
        let constant = Constant::of(tensor);
        let key = (
            constant.dtype,
            constant.shape.clone(),
            constant.bytes.to_vec(),
        );
        if let Some(own) = self.shared.get(&key) {
            return *own;
        }
        let own = self.fresh("c");
        if key.2.len() <= SHARED_BYTES {
            self.shared.insert(key, own);
        }
        self.initialisers.push((own, constant));
        own
    }

    /// Returns a constant list of integers.
    pub fn ints(&mut self, list: &[i64]) -> Val {
        self.tensor(&Tensor::of(vec![list.len()], list.to_vec()))
    }

    /// Returns a constant of rank 0, rounded to `dtype`.
    pub fn number(&mut self, dtype: DType, number: f64) -> Val {
        let tensor = mind_convert::scalar(dtype, number);
        self.tensor(&tensor)
    }

    /// Returns a constant integer of rank 0.
    pub fn int(&mut self, number: i64) -> Val {
        self.tensor(&Tensor::scalar(number))
    }

    pub fn dtype(&self, value: ValueId) -> DType {
        self.g.ty(value).dtype
    }

    pub fn rank(&self, value: ValueId) -> usize {
        self.g.ty(value).rank()
    }

    pub fn dims(&self, value: ValueId) -> &'g [Dim] {
        self.g.ty(value).shape
    }

    /// Returns an axis of a value, counted from the front.
    pub fn axis(&self, axis: i64, value: ValueId) -> usize {
        let axis = if axis < 0 {
            axis + self.rank(value) as i64
        } else {
            axis
        };
        axis as usize
    }

    /// Returns the extents of a value.
    ///
    /// # Errors
    ///
    /// If an extent is unknown.
    pub fn shape(&self, value: ValueId) -> Result<Vec<i64>, Refusal> {
        let shape = self.g.ty(value).static_shape();
        shape.ok_or_else(|| {
            let ty = self.g.type_text(value);
            Refusal::form(
                format_args!("an extent of {ty}"),
                "unknown",
                "a number; `--dim NAME=EXTENT` gives it",
            )
        })
    }

    /// Refuses an operator that the opset does not have.
    fn check(&self, operator: &Operator) -> Result<(), Refusal> {
        if operator.is_in(self.opset) {
            return Ok(());
        }
        let (name, since) = (operator.name, operator.since());
        Err(Refusal::form(
            "the operator set",
            self.opset,
            format_args!("{since} or later for this form of `{name}`; `--opset {since}` writes it"),
        ))
    }

    /// Appends a node with one result, whose input dtypes must be supported by the operator.
    pub fn node(&mut self, operator: &'static Operator, inputs: &[Val], attrs: Attrs) -> One {
        let inputs: Vec<Option<Val>> = inputs.iter().copied().map(Some).collect();
        Ok(self.nodes(operator, &inputs, attrs, 1)?[0])
    }

    /// Appends a node with `count` results and optional inputs.
    pub fn nodes(
        &mut self,
        operator: &'static Operator,
        inputs: &[Option<Val>],
        attrs: Attrs,
        count: usize,
    ) -> Result<Vec<Val>, Refusal> {
        self.check(operator)?;
        let base = operator.name.to_lowercase();
        let outputs: Vec<Val> = (0..count).map(|_| self.fresh(base.clone())).collect();
        self.nodes.push(NodeDraft {
            callee: Callee::Operator(operator),
            inputs: inputs.to_vec(),
            outputs: outputs.iter().copied().map(Some).collect(),
            attrs,
        });
        Ok(outputs)
    }

    /// Calls a model-local function; narrower dtypes are computed in `f32`.
    pub fn call(&mut self, function: &'static Function, dtype: DType, inputs: &[Val]) -> One {
        let carrier = dtype.carrier();
        let mut inputs = self.cast_all(inputs, dtype, carrier)?;
        for number in function.constants() {
            inputs.push(self.number(carrier, number));
        }
        if !self.functions.iter().any(|own| own.name == function.name) {
            self.functions.push(function);
        }
        for name in function.operators() {
            self.note_kernel(&name, carrier);
        }
        let output = self.fresh(function.name.to_lowercase());
        self.nodes.push(NodeDraft {
            callee: Callee::Function(function),
            inputs: inputs.into_iter().map(Some).collect(),
            outputs: vec![Some(output)],
            attrs: Vec::new(),
        });
        self.cast(output, carrier, dtype)
    }

    /// Appends a node with inputs and result of `dtype`. If the operator does not support that, it is computed in a
    /// wider dtype.
    pub fn apply(
        &mut self,
        operator: &'static Operator,
        dtype: DType,
        inputs: &[Val],
        attrs: Attrs,
    ) -> One {
        let own = self.test(operator, dtype, inputs, attrs)?;
        let carrier = self.carrier(operator, dtype)?;
        self.cast(own, carrier, dtype)
    }

    /// Appends a node as [`Emit::apply`] does, with a result of another dtype.
    pub fn test(
        &mut self,
        operator: &'static Operator,
        dtype: DType,
        inputs: &[Val],
        attrs: Attrs,
    ) -> One {
        let carrier = self.carrier(operator, dtype)?;
        let inputs = self.cast_all(inputs, dtype, carrier)?;
        self.node(operator, &inputs, attrs)
    }

    /// Returns the dtype in which an operator computes elements of `dtype`.
    ///
    /// # Errors
    ///
    /// If the opset does not have the operator, or if the operator takes neither the dtype nor a wider one.
    pub fn carrier(&mut self, operator: &Operator, dtype: DType) -> Result<DType, Refusal> {
        let carrier = self.possible_carrier(operator, dtype)?;
        self.note_kernel(operator.name, carrier);
        Ok(carrier)
    }

    /// Returns the dtype of [`Emit::carrier`] without noting a missing kernel, because the node may not be emitted.
    ///
    /// # Errors
    ///
    /// As [`Emit::carrier`].
    pub fn possible_carrier(&self, operator: &Operator, dtype: DType) -> Result<DType, Refusal> {
        self.check(operator)?;
        let (name, opset) = (operator.name, self.opset);
        operator.carrier(dtype, opset).ok_or_else(|| {
            Refusal::form(
                "the dtype of its operands",
                dtype,
                format_args!(
                    "one that `{name}` of opset {opset} takes: {}",
                    operator.listed(opset)
                ),
            )
        })
    }

    /// Notes a node if ONNX Runtime does not have a kernel for operands of `dtype`.
    pub fn note_kernel(&mut self, name: &str, dtype: DType) {
        if !kernels::has(name, self.opset, dtype) {
            self.without_kernel.insert(format!("`{name}` of {dtype}"));
        }
    }

    /// Casts `x` from the dtype `from` to the dtype `to`.
    pub fn cast(&mut self, x: Val, from: DType, to: DType) -> One {
        if from == to {
            return Ok(x);
        }
        self.node(op::CAST, &[x], vec![("to", to.into())])
    }

    pub fn cast_all(
        &mut self,
        inputs: &[Val],
        from: DType,
        to: DType,
    ) -> Result<Vec<Val>, Refusal> {
        inputs.iter().map(|&own| self.cast(own, from, to)).collect()
    }

    pub fn transpose(&mut self, x: Val, permutation: &[i64]) -> One {
        if permutation.iter().copied().eq(0..permutation.len() as i64) {
            return Ok(x);
        }
        self.node(op::TRANSPOSE, &[x], vec![("perm", permutation.into())])
    }

    /// Inserts dimensions of extent 1 at `axes`.
    pub fn unsqueeze(&mut self, x: Val, axes: &[i64]) -> One {
        let axes = self.ints(axes);
        self.node(op::UNSQUEEZE, &[x, axes], Vec::new())
    }

    /// Returns the slice `starts..ends` along `axes`, with `steps`.
    pub fn slice(
        &mut self,
        x: Val,
        starts: &[i64],
        ends: &[i64],
        axes: &[i64],
        steps: &[i64],
    ) -> One {
        let lists = [starts, ends, axes, steps].map(|list| self.ints(list));
        let inputs = [&[x], &lists[..]].concat();
        self.node(op::SLICE, &inputs, Vec::new())
    }

    /// Concatenates the values.
    pub fn concat(&mut self, parts: &[Val], axis: i64) -> One {
        match parts {
            [one] => Ok(*one),
            _ => self.node(op::CONCAT, parts, vec![("axis", axis.into())]),
        }
    }

    /// Returns a nested graph whose nodes `fill` appends and whose outputs `fill` returns.
    ///
    /// # Errors
    ///
    /// The errors of `fill`.
    pub fn graph(
        &mut self,
        inputs: Vec<(Val, TypeProto)>,
        fill: impl FnOnce(&mut Emit<'g>) -> Result<Vec<(Val, Option<TypeProto>)>, Refusal>,
    ) -> Result<GraphDraft, Refusal> {
        let outer = std::mem::take(&mut self.nodes);
        let splits = std::mem::take(&mut self.splits);
        self.depth += 1;
        let outputs = fill(self).and_then(|outputs| self.made_here(outputs));
        self.depth -= 1;
        self.splits = splits;
        let nodes = std::mem::replace(&mut self.nodes, outer);
        Ok(GraphDraft {
            inputs,
            outputs: outputs?,
            nodes,
        })
    }

    /// Returns graph outputs, each produced by a separate node of the graph.
    pub fn made_here(
        &mut self,
        outputs: Vec<(Val, Option<TypeProto>)>,
    ) -> Result<Vec<(Val, Option<TypeProto>)>, Refusal> {
        let mut made: rustc_hash::FxHashSet<Val> = self
            .nodes
            .iter()
            .flat_map(|node| node.outputs.iter().flatten())
            .copied()
            .collect();
        let own = outputs.into_iter().map(|(own, ty)| {
            if made.remove(&own) {
                return Ok((own, ty));
            }
            Ok((self.node(op::IDENTITY, &[own], Vec::new())?, ty))
        });
        own.collect()
    }
}
