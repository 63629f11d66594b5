//! Expression DAG of a kernel's body, which lowerings write into regions and code generation reads.

use mind_core::constant;
use mind_core::ops::convert::Cast;
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

use crate::ops::nest::Along;

/// One value of a body: an element at each position, or one for a whole row.
///
/// Arguments are indices of earlier nodes in the list. Each node is rounded to its dtype.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// The element of an operand. For operand 0 of a product or a convolution, the element of the product.
    Input(usize),
    /// A constant.
    Constant {
        /// The dtype.
        dtype: DType,
        /// The bits of the constant, in the low bits.
        bits: u64,
    },
    /// A scalar function.
    Apply {
        /// The function.
        function: ScalarFn,
        /// The dtype of the last argument.
        dtype: DType,
        /// The arguments, as many as the arity of the function.
        args: Vec<usize>,
    },
    /// A conversion to another dtype, as by [`Cast`].
    Convert {
        /// The dtype of the argument.
        from: DType,
        /// The dtype of the result.
        to: DType,
        /// The argument.
        arg: usize,
    },
    /// A reduction of the elements of a row.
    Reduce {
        /// The combining function.
        kind: Reduction,
        /// The dtype of the argument and of the result; not `bool`.
        dtype: DType,
        /// The argument.
        arg: usize,
    },
}

impl Node {
    /// Returns the dtype of the value; `None` for an input.
    pub fn dtype(&self) -> Option<DType> {
        match *self {
            Node::Input(_) => None,
            Node::Apply {
                function, dtype, ..
            } => Some(function.result(dtype)),
            Node::Constant { dtype, .. }
            | Node::Reduce { dtype, .. }
            | Node::Convert { to: dtype, .. } => Some(dtype),
        }
    }

    /// Returns the argument nodes.
    pub fn args(&self) -> &[usize] {
        match self {
            Node::Input(_) | Node::Constant { .. } => &[],
            Node::Apply { args, .. } => args,
            Node::Convert { arg, .. } | Node::Reduce { arg, .. } => std::slice::from_ref(arg),
        }
    }

    /// Returns the node of a constant, a cast, or an op that applies a scalar function to `args`; `None` for other ops.
    pub fn scalar(g: &Graph, op: OpId, args: &[usize]) -> Option<Node> {
        let (def, dtype) = (g.def(op), g.ty(g.result(op)).dtype);
        if let Some(function) = g.scalar(op) {
            let args = args.to_vec();
            let dtype = g.ty(*g.operands(op).last()?).dtype;
            return Some(Node::Apply {
                function,
                dtype,
                args,
            });
        }
        if let Some(cast) = g.view::<Cast>(op) {
            return Some(Node::Convert {
                from: g.ty(cast.input(g)).dtype,
                to: dtype,
                arg: args[0],
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

/// Returns the nodes of the body of a verified kernel, and the indices of those that it yields. The first nodes are its
/// arguments, in order.
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
        let node = if let Some(along) = g.view::<Along>(op) {
            Some(Node::Reduce {
                kind: along.kind(g),
                dtype,
                arg: args[0],
            })
        } else {
            Node::scalar(g, op, &args)
        };
        // The product of the first two arguments is represented by node 0.
        places.insert(result, if node.is_some() { nodes.len() } else { 0 });
        nodes.extend(node);
    }
    (nodes, Vec::new())
}

/// Appends the ops of `nodes`, with `inputs` as the values of input nodes. Returns the value of each node.
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
                let args: Vec<ValueId> = args.iter().map(arg).collect();
                mind_core::apply(b, *function, &args)?
            }
            Node::Convert { to, arg: from, .. } => {
                b.one(Cast::DEF, &[arg(from)], &Cast::attrs(*to))?
            }
            Node::Reduce {
                kind, arg: from, ..
            } => b.one(Along::DEF, &[arg(from)], &Along::attrs(*kind))?,
        };
        values.push(value);
    }
    Ok(values)
}
