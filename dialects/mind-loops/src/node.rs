//! What bodies of kernels compute, node by node: what lowerings write into regions and code generation reads.

use mind_core::{constant, ops as core};
use mind_ir::builder::Builder;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, Trait};
use mind_ir::scalar::{Reduction, ScalarFn};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;
use mind_ir::verify::VerifyError;
use mind_ir::{BlockId, OpId, ValueId};
use rustc_hash::FxHashMap;

use crate::ops::convert::Convert;
use crate::ops::nest::Along;

/// One value of a body: an element at each position, or one for a whole row.
///
/// Arguments are places in the list of nodes, before the node itself. Each node is rounded to its dtype.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// The element of an operand; of operand 0 of a product or a convolution, the element of that.
    Input(usize),
    /// The same element everywhere.
    Constant {
        /// Its type.
        dtype: DType,
        /// Its bits, in the low ones.
        bits: u64,
    },
    /// A scalar function of values of its dtype, which is not `bool`.
    Apply {
        /// The function.
        function: ScalarFn,
        /// Type of the arguments and of the result.
        dtype: DType,
        /// As many as the function takes.
        args: Vec<usize>,
    },
    /// A float in another float dtype, rounded once.
    Convert {
        /// Type of the argument.
        from: DType,
        /// Type of the result.
        to: DType,
        /// The argument.
        arg: usize,
    },
    /// The elements of a row as one value.
    Reduce {
        /// How they are combined.
        kind: Reduction,
        /// Type of the argument and of the result; not `bool`.
        dtype: DType,
        /// The argument.
        arg: usize,
    },
}

impl Node {
    /// The nodes that it reads.
    pub fn args(&self) -> &[usize] {
        match self {
            Node::Input(_) | Node::Constant { .. } => &[],
            Node::Apply { args, .. } => args,
            Node::Convert { arg, .. } | Node::Reduce { arg, .. } => std::slice::from_ref(arg),
        }
    }

    /// The node of a constant, or of an op that applies a scalar function to `args`; `None` for another op.
    pub fn scalar(g: &Graph, op: OpId, args: &[usize]) -> Option<Node> {
        let (def, dtype) = (g.def(op), g.ty(g.result(op)).dtype);
        if let Some(function) = def.scalar {
            let args = args.to_vec();
            return Some(Node::Apply {
                function,
                dtype,
                args,
            });
        }
        let eval = def.eval.filter(|_| def.has(Trait::Constant))?;
        let dims = DimEnv::default();
        let value = eval(op, &EvalCx::run(g, &dims), &[]).expect("a verified constant");
        let mut bits = [0; 8];
        let bytes = value[0].buffer().to_bytes();
        bits[..bytes.len()].copy_from_slice(&bytes);
        let bits = u64::from_le_bytes(bits);
        Some(Node::Constant { dtype, bits })
    }
}

/// The nodes of a body of a verified kernel, and those that it yields. The first nodes are its arguments, in order.
pub fn read(g: &Graph, body: BlockId) -> (Vec<Node>, Vec<usize>) {
    let arguments: Vec<ValueId> = g.arguments(body).into_iter().collect();
    let mut nodes: Vec<Node> = (0..arguments.len()).map(Node::Input).collect();
    let mut places: FxHashMap<ValueId, usize> = arguments.into_iter().zip(0..).collect();
    for op in g.ops(body) {
        let args: Vec<usize> = g.operands(op).iter().map(|value| places[value]).collect();
        if g.def(op).has(Trait::Terminator) {
            return (nodes, args);
        }
        let result = g.result(op);
        let dtype = g.ty(result).dtype;
        let node = if let Some(convert) = g.view::<Convert>(op) {
            let from = g.ty(convert.input(g)).dtype;
            Some(Node::Convert {
                from,
                to: dtype,
                arg: args[0],
            })
        } else if let Some(along) = g.view::<Along>(op) {
            let kind = along.reduction(g).expect("a verified kind");
            Some(Node::Reduce {
                kind,
                dtype,
                arg: args[0],
            })
        } else {
            Node::scalar(g, op, &args)
        };
        // The product of the first two arguments stands in the place of the first.
        places.insert(result, if node.is_some() { nodes.len() } else { 0 });
        nodes.extend(node);
    }
    (nodes, Vec::new())
}

/// Appends the ops of `nodes` over the values of inputs; the values of the nodes.
///
/// # Errors
///
/// Those of the shape rules of the ops.
pub fn write(
    b: &mut Builder<'_>,
    nodes: &[Node],
    inputs: &[ValueId],
) -> Result<Vec<ValueId>, Box<VerifyError>> {
    let mut values: Vec<ValueId> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let arg = |at: &usize| values[*at];
        let value = match node {
            Node::Input(index) => inputs[*index],
            Node::Constant { dtype, bits } => {
                let bytes = &bits.to_le_bytes()[..dtype.size()];
                let element = Buffer::from_bytes(*dtype, bytes);
                constant(b, &Tensor::new(Vec::new(), element))
            }
            Node::Apply { function, args, .. } => {
                let mut defs = core::OPS.iter();
                let def = defs.find(|def| def.scalar == Some(*function));
                let args: Vec<ValueId> = args.iter().map(arg).collect();
                b.one(def.expect("each scalar function has an op"), &args, &[])?
            }
            Node::Convert { to, arg: from, .. } => {
                let to = b.graph.intern(to.name());
                b.one(Convert::DEF, &[arg(from)], &Convert::attrs(to))?
            }
            Node::Reduce {
                kind, arg: from, ..
            } => {
                let kind = b.graph.intern(kind.name());
                b.one(Along::DEF, &[arg(from)], &Along::attrs(kind))?
            }
        };
        values.push(value);
    }
    Ok(values)
}
