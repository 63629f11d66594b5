//! Benchmarks of scalar functions and conversions, a row each.

use mind_ir::scalar::ScalarFn;
use mind_ir::types::DType;
use mind_jit::lower::nest::{Nest, Node, Output, Registers, StridedAccess};

use super::{Case, Peer, Program};

/// Elements per operand, which fit into the second-level cache.
const COUNT: usize = 16 << 10;

/// Returns the implementation in intrinsics, if this machine supports it.
fn peer(name: &str) -> Option<Peer> {
    #[cfg(target_arch = "x86_64")]
    let peers = super::peers::available();
    #[cfg(not(target_arch = "x86_64"))]
    let peers: &[(&str, Peer)] = &[];
    let mut peers = peers.iter();
    peers.find(|(own, _)| *own == name).map(|&(_, peer)| peer)
}

/// Returns a map over flat operands of these dtypes, with a result of dtype `to`.
fn row(name: &str, operands: &[DType], nodes: Vec<Node>, to: DType) -> Case {
    let flat = |dtype| StridedAccess {
        dtype,
        offset: 0,
        outer: vec![],
        inner: 1,
    };
    let words = |dtype: DType| COUNT * dtype.size() / size_of::<f32>();
    let inputs: Vec<usize> = operands.iter().map(|&dtype| words(dtype)).collect();
    let output = words(to);
    Case {
        name: name.to_owned(),
        bytes: 4 * (inputs.iter().sum::<usize>() + output),
        program: Program::Rows(Nest {
            outer: vec![],
            inner: COUNT,
            total: None,
            unroll: None,
            divides_by_products: false,
            registers: Registers::default(),
            inputs: operands.iter().map(|&dtype| flat(dtype)).collect(),
            outputs: vec![Output {
                node: nodes.len() - 1,
                access: flat(to),
                replaces: None,
            }],
            nodes,
        }),
        inputs,
        output,
        peer: peer(name),
    }
}

/// Returns the map of a function over its operands.
fn applied(function: ScalarFn, dtype: DType) -> Case {
    let mut operands = vec![dtype; function.arity()];
    if function == ScalarFn::Select {
        operands[0] = DType::Bool;
    }
    let args: Vec<usize> = (0..operands.len()).collect();
    let mut nodes: Vec<Node> = args.iter().map(|&at| Node::Input(at)).collect();
    nodes.push(Node::Apply {
        function,
        dtype,
        args,
    });
    let name = format!("{function:?} {dtype}");
    row(&name, &operands, nodes, function.result(dtype))
}

fn converted(from: DType, to: DType) -> Case {
    let convert = Node::Convert { from, to, arg: 0 };
    let name = format!("{from} to {to}");
    row(&name, &[from], vec![Node::Input(0), convert], to)
}

/// Returns every function on `f32`, or on `i32` if it is not defined on floats; shifts and bit operations of other
/// widths; conversions.
pub fn cases() -> Vec<Case> {
    use DType::{Bool, F16, F32, F64, I8, I16, I32, I64, U8, U32};
    let dtype = |function: ScalarFn| {
        let dtypes = [F32, I32].into_iter();
        let mut dtypes = dtypes.filter(|&dtype| function.domain().admits(dtype));
        dtypes.next().expect("floats or integers")
    };
    let functions = ScalarFn::ALL.iter();
    let mut cases: Vec<Case> = functions.map(|&f| applied(f, dtype(f))).collect();
    for shift in [ScalarFn::ShiftLeft, ScalarFn::ShiftRight] {
        cases.extend([I8, I16, I64].map(|dtype| applied(shift, dtype)));
    }
    let pairs = [
        (F32, I32),
        (F32, U32),
        (F32, I64),
        (F32, I8),
        (F32, U8),
        (F16, I8),
        (F64, I32),
        (F64, I64),
        (I32, F32),
        (U32, F32),
        (I64, F32),
        (I64, F64),
        (I8, F32),
        (U8, F16),
        (Bool, F32),
        (F32, Bool),
        (I64, I32),
        (I32, I64),
        (F32, F16),
        (F64, F32),
    ];
    cases.extend(pairs.map(|(from, to)| converted(from, to)));
    cases
}
