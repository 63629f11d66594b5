//! Bodies of kernels as lists of nodes.

use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::{BlockId, ValueId};
use mind_loops::ops::convert::Convert;
use mind_loops::ops::nest::Along;
use rustc_hash::FxHashMap;

use crate::lower::nest::Node;

/// The nodes of a body, and those that it yields. The first nodes are its arguments, in order; `primitive`
/// says which argument stands for the result of an op that combines two.
pub(super) fn nodes(g: &Graph, body: BlockId) -> (Vec<Node>, Vec<usize>) {
    let arguments: Vec<ValueId> = g.arguments(body).into_iter().collect();
    let mut nodes: Vec<Node> = (0..arguments.len()).map(Node::Input).collect();
    let mut places: FxHashMap<ValueId, usize> = arguments.into_iter().zip(0..).collect();
    for op in g.ops(body) {
        let def = g.def(op);
        let args = || {
            g.operands(op)
                .iter()
                .map(|value| places[value])
                .collect::<Vec<usize>>()
        };
        if def.has(Trait::Terminator) {
            return (nodes, args());
        }
        let result = g.result(op);
        let dtype = g.ty(result).dtype;
        let node = if def.has(Trait::Constant) {
            let dims = DimEnv::default();
            let eval = def.eval.expect("a constant has a value");
            let value = eval(op, &EvalCx::run(g, &dims), &[]).expect("a verified constant");
            let mut bits = [0; 8];
            let bytes = value[0].buffer().to_bytes();
            bits[..bytes.len()].copy_from_slice(&bytes);
            Node::Constant {
                dtype,
                bits: u64::from_le_bytes(bits),
            }
        } else if let Some(convert) = g.view::<Convert>(op) {
            let from = g.ty(convert.input(g)).dtype;
            Node::Convert {
                from,
                to: dtype,
                arg: args()[0],
            }
        } else if let Some(along) = g.view::<Along>(op) {
            let kind = along.reduction(g).expect("a verified kind");
            Node::Reduce {
                kind,
                dtype,
                arg: args()[0],
            }
        } else if let Some(function) = def.scalar {
            Node::Apply {
                function,
                dtype,
                args: args(),
            }
        } else {
            // The product of the first two arguments stands in the place of the first.
            places.insert(result, 0);
            continue;
        };
        places.insert(result, nodes.len());
        nodes.push(node);
    }
    (nodes, Vec::new())
}
