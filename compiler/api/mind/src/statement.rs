//! The ops of a module, for programs that inspect them without the op tables.

use mind_ir::attr::{Attr, Padding};
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::opdef::Trait;
use mind_ir::tensor::Tensor;
use mind_ir::types::Dim;
use mind_ir::{BlockId, Graph, OpId, ValueId};

use crate::module::Module;
use crate::types::{Extent, Type};

/// An op. Values are identified by their ids in Core text.
#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    /// Its name in Core text, for example `Relu`, or its full name if it has none, for example `mil.conv`.
    pub op: &'static str,
    /// The ids of its operands.
    pub operands: Vec<u64>,
    /// The ids and types of its results.
    pub results: Vec<(u64, Type)>,
    /// Its attributes in declaration order, including defaults.
    pub attributes: Vec<(&'static str, Attribute)>,
    /// Its bodies.
    pub bodies: Vec<Body>,
    /// The line in the module's text, from 1; `None` if the op is not in the text.
    pub line: Option<usize>,
}

/// A body of an op.
#[derive(Clone, PartialEq, Debug)]
pub struct Body {
    /// The ids and types of its arguments.
    pub arguments: Vec<(u64, Type)>,
    /// Its ops.
    pub statements: Vec<Statement>,
    /// The ids of the values that it yields.
    pub outputs: Vec<u64>,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Debug)]
pub enum Attribute {
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// A floating-point number.
    Float(f64),
    /// A name or word.
    Text(String),
    /// A list of integers.
    Ints(Vec<i64>),
    /// A list of extents.
    Extents(Vec<Extent>),
    /// The elements of a constant, which [`Module::constant`] returns.
    Elements,
}

impl Module {
    /// Returns the ops, in order.
    ///
    /// ```
    /// use mind::{Attribute, Module};
    ///
    /// let text = "%0 = Input {name=x} : tensor<f32[2, 3]>\n%1 = Sum (%0) {axes=[1], keepdims=true}\noutputs: %1";
    /// let module = Module::parse(text)?;
    /// let sum = &module.statements()[1];
    /// assert_eq!((sum.op, &sum.operands[..], sum.line), ("Sum", &[0][..], Some(2)));
    /// assert_eq!(sum.results[0].1.to_string(), "f32[2, 1]");
    /// assert_eq!(sum.attributes[0], ("axes", Attribute::Ints(vec![1])));
    /// # Ok::<(), mind::Error>(())
    /// ```
    pub fn statements(&self) -> Vec<Statement> {
        self.block(self.graph.body()).statements
    }

    /// Returns the elements of the constant with this id; `None` if the value is not a constant.
    ///
    /// ```
    /// let module = mind::Module::parse("%0 = ConstF32 {value=2.5} : tensor<f32[]>\noutputs: %0")?;
    /// assert_eq!(module.constant(0).unwrap().elements::<f32>(), [2.5]);
    /// # Ok::<(), mind::Error>(())
    /// ```
    pub fn constant(&self, id: u64) -> Option<Tensor> {
        let g = &self.graph;
        let is_own = |op: &OpId| g.results(*op).into_iter().any(|own| g.label(own) == id);
        let op = g.walk().find(is_own)?;
        if !g.def(op).has(Trait::Constant) {
            return None;
        }
        let dims = DimEnv::default();
        let results = (g.def(op).eval?)(op, &EvalCx::run(g, &dims), &[]);
        results.ok()?.into_iter().next()
    }

    fn block(&self, block: BlockId) -> Body {
        let g = &self.graph;
        let end = g.terminator(block);
        let ops = g.ops(block).filter(|op| Some(*op) != end);
        Body {
            arguments: self.values(g.arguments(block).into_iter()),
            statements: ops.map(|op| self.statement(op)).collect(),
            outputs: end.map_or_else(Vec::new, |end| labels(g, g.operands(end))),
        }
    }

    fn statement(&self, op: OpId) -> Statement {
        let g = &self.graph;
        let def = g.def(op);
        let rows = def.attrs.iter().zip(g.attrs(op));
        let (line, _) = self.source.position(g.span(op));
        let bodies = g
            .regions(op)
            .iter()
            .map(|&region| self.block(g.block(region)));
        Statement {
            op: def.names.core.unwrap_or(def.name),
            operands: labels(g, g.operands(op)),
            results: self.values(g.results(op).into_iter()),
            attributes: rows
                .map(|(row, attr)| (row.name, attribute(g, attr)))
                .collect(),
            bodies: bodies.collect(),
            line: (line > 0).then_some(line),
        }
    }

    fn values(&self, values: impl Iterator<Item = ValueId>) -> Vec<(u64, Type)> {
        let g = &self.graph;
        let typed = values.map(|value| (g.label(value), Type::of(g.ty(value), g)));
        typed.collect()
    }
}

fn labels(g: &Graph, values: &[ValueId]) -> Vec<u64> {
    values.iter().map(|&value| g.label(value)).collect()
}

fn attribute(g: &Graph, attr: &Attr<'_>) -> Attribute {
    match *attr {
        Attr::Int(value) => Attribute::Int(value),
        Attr::Bool(value) => Attribute::Bool(value),
        Attr::Float(bits) => Attribute::Float(f64::from_bits(bits)),
        Attr::Str(sym) => Attribute::Text(g.name(sym).to_owned()),
        Attr::Ints(list) => Attribute::Ints(list.to_vec()),
        Attr::Dims(list) => {
            let extent = |&dim: &Dim| Extent::of(dim, g);
            Attribute::Extents(list.iter().map(extent).collect())
        }
        Attr::Literal(_) => Attribute::Elements,
        Attr::Padding(Padding::Valid) => Attribute::Text("valid".to_owned()),
        Attr::Padding(Padding::Same) => Attribute::Text("same".to_owned()),
        Attr::Padding(Padding::Custom(pads)) => Attribute::Ints(pads.to_vec()),
        Attr::DType(dtype) => Attribute::Text(dtype.name().to_owned()),
        Attr::Word(word) => Attribute::Text(word.to_owned()),
    }
}
