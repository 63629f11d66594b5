//! Appends nodes to the graph that is written.

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
use super::operator::{self as op, Operator};
use crate::proto::TypeProto;
use crate::tensor::Constant;

/// The value that an op becomes.
pub(super) type One = Result<Val, Refusal>;

/// Attributes of a node.
pub(super) type Attrs = Vec<(&'static str, AttrDraft)>;

/// The constants up to this number of bytes that are shared where they are equal.
const SHARED_BYTES: usize = 256;

/// Appends nodes to a graph.
pub(super) struct Emit<'g> {
    pub g: &'g Graph,
    /// The version of the operator set.
    pub opset: i64,
    /// What each value is called unless that is taken.
    pub names: Vec<String>,
    pub initialisers: Vec<(Val, Constant)>,
    shared: FxHashMap<(DType, Vec<usize>, Vec<u8>), Val>,
    /// The nodes of the graph that is being written.
    pub nodes: Vec<NodeDraft>,
    /// What the values of the module are.
    values: FxHashMap<ValueId, Val>,
    /// An input and its dimension for each symbol.
    pub symbols: FxHashMap<Sym, (ValueId, usize)>,
    /// The functions that are called.
    pub functions: Vec<&'static Function>,
    /// The parts of what was split in this graph.
    pub splits: FxHashMap<(ValueId, usize, i64), Vec<Val>>,
    /// The number of graphs inside of each other.
    pub depth: usize,
    /// The forms of operators that are written although ONNX Runtime has no kernel for them.
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

    /// A value that nothing makes yet.
    pub fn fresh(&mut self, name: impl Into<String>) -> Val {
        self.names.push(name.into());
        Val::new(self.names.len() - 1)
    }

    /// Says what a value of the module is; a value that its op made is called after it.
    pub fn bind(&mut self, value: ValueId, own: Val) {
        self.values.insert(value, own);
    }

    /// The value of the model that a value of the module is.
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

    /// What a value is called.
    pub fn label(&self, value: ValueId) -> String {
        format!("v{}", self.g.label(value))
    }

    /// The elements of a constant that has a stated number of them, written out.
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

    /// The elements of a value that is a constant.
    pub fn known(&self, value: ValueId) -> Option<Tensor> {
        let op = self.g.defining_op(value)?;
        self.elements(op).map(|constant| constant.tensor())
    }

    /// The constant with the elements of `tensor`.
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

    /// A list of integers.
    pub fn ints(&mut self, list: &[i64]) -> Val {
        self.tensor(&Tensor::of(vec![list.len()], list.to_vec()))
    }

    /// A number of rank 0, rounded to `dtype`.
    pub fn number(&mut self, dtype: DType, number: f64) -> Val {
        let tensor = mind_convert::scalar(dtype, number);
        self.tensor(&tensor)
    }

    /// An integer of rank 0.
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

    /// An axis of a value, counted from the front.
    pub fn axis(&self, axis: i64, value: ValueId) -> usize {
        let axis = if axis < 0 {
            axis + self.rank(value) as i64
        } else {
            axis
        };
        axis as usize
    }

    /// The extents of a value.
    ///
    /// # Errors
    ///
    /// One that is not known.
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

    /// Refuses an operator that the operator set does not have.
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

    /// A node with one result, whose inputs are of dtypes that the operator takes.
    pub fn node(&mut self, operator: &'static Operator, inputs: &[Val], attrs: Attrs) -> One {
        let inputs: Vec<Option<Val>> = inputs.iter().copied().map(Some).collect();
        Ok(self.nodes(operator, &inputs, attrs, 1)?[0])
    }

    /// A node with `count` results, some of whose inputs may be left out.
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

    /// A call of a function of ours, computed in `f32` for what is narrower.
    pub fn call(&mut self, function: &'static Function, dtype: DType, inputs: &[Val]) -> One {
        let carrier = dtype.carrier();
        let mut inputs = self.cast_all(inputs, dtype, carrier)?;
        for number in function.constants() {
            inputs.push(self.number(carrier, number));
        }
        if !self.functions.iter().any(|own| own.name == function.name) {
            self.functions.push(function);
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

    /// A node whose inputs and result are of `dtype`, computed in a wider one where the operator does not take that.
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

    /// As [`Emit::apply`], with a result of another dtype.
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

    /// The dtype that an operator computes elements of `dtype` in.
    ///
    /// # Errors
    ///
    /// An operator that the set does not have, or that does not take the dtype or a wider one.
    pub fn carrier(&mut self, operator: &Operator, dtype: DType) -> Result<DType, Refusal> {
        self.check(operator)?;
        let (name, opset) = (operator.name, self.opset);
        let carrier = operator.carrier(dtype, opset).ok_or_else(|| {
            Refusal::form(
                "the dtype of its operands",
                dtype,
                format_args!(
                    "one that `{name}` of opset {opset} takes: {}",
                    operator.listed(opset)
                ),
            )
        })?;
        if !operator.runs(carrier, opset) {
            self.without_kernel.insert(format!("`{name}` of {carrier}"));
        }
        Ok(carrier)
    }

    /// `x` of dtype `from` in the dtype `to`.
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

    /// `x` with new dimensions of extent 1.
    pub fn unsqueeze(&mut self, x: Val, axes: &[i64]) -> One {
        let axes = self.ints(axes);
        self.node(op::UNSQUEEZE, &[x, axes], Vec::new())
    }

    /// The elements `starts..ends` along `axes`, every `steps`-th.
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

    /// The values one after the other.
    pub fn concat(&mut self, parts: &[Val], axis: i64) -> One {
        match parts {
            [one] => Ok(*one),
            _ => self.node(op::CONCAT, parts, vec![("axis", axis.into())]),
        }
    }

    /// Another graph of the model, whose nodes `fill` appends; its outputs are what that returns.
    ///
    /// # Errors
    ///
    /// Those of `fill`.
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

    /// Outputs of a graph, each made by a node of it and for one output.
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
