//! The measured programs.

use mind_ir::scalar::Reduction;
use mind_ir::scalar::ScalarFn::{self, *};
use mind_ir::types::DType;
use mind_jit::lower::nest::{Columns, Nest, Node, Output, Registers, StridedAccess};

use super::{Case, Peer, Program};

/// Returns the implementation in intrinsics, if this machine supports it.
macro_rules! peer {
    ($name:ident) => {{
        #[cfg(target_arch = "x86_64")]
        let peer = super::intrinsics::available().then_some(super::intrinsics::$name as Peer);
        #[cfg(not(target_arch = "x86_64"))]
        let peer: Option<Peer> = None;
        peer
    }};
}

const F32: DType = DType::F32;

fn apply(function: ScalarFn, args: &[usize]) -> Node {
    Node::Apply {
        function,
        dtype: F32,
        args: args.to_vec(),
    }
}

fn constant(x: f32) -> Node {
    Node::Constant {
        dtype: F32,
        bits: x.to_bits().into(),
    }
}

fn reduce(kind: Reduction, arg: usize) -> Node {
    Node::Reduce {
        kind,
        dtype: F32,
        arg,
    }
}

fn access(dtype: DType, outer: &[i64], inner: i64) -> StridedAccess {
    StridedAccess {
        dtype,
        offset: 0,
        outer: outer.to_vec(),
        inner,
    }
}

fn output(node: usize, access: StridedAccess) -> Output {
    Output {
        node,
        access,
        replaces: None,
    }
}

/// Returns a map over `count` elements, split into chunks.
fn map(name: &str, count: usize, inputs: usize, nodes: Vec<Node>, peer: Option<Peer>) -> Case {
    let chunk = 16 << 10;
    let flat = access(F32, &[chunk as i64], 1);
    let program = Nest {
        outer: vec![count.div_ceil(chunk)],
        inner: chunk,
        total: Some(count),
        unroll: None,
        divides_by_products: false,
        registers: Registers::default(),
        inputs: vec![flat.clone(); inputs],
        outputs: vec![output(nodes.len() - 1, flat)],
        nodes,
    };
    let size = if count >= 1 << 20 {
        format!("{} M", count >> 20)
    } else {
        format!("{} K", count >> 10)
    };
    Case {
        name: format!("{name} {size}"),
        program: Program::Rows(program),
        inputs: vec![count; inputs],
        output: count,
        bytes: 4 * count * (inputs + 1),
        peer,
    }
}

fn chain() -> Vec<Node> {
    vec![
        Node::Input(0),
        Node::Input(1),
        Node::Input(2),
        apply(Mul, &[0, 1]),
        apply(Add, &[3, 2]),
        apply(Relu, &[4]),
        apply(Add, &[5, 0]),
    ]
}

fn gelu() -> Vec<Node> {
    vec![Node::Input(0), apply(Gelu, &[0])]
}

/// Returns `0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))` as separate ops.
fn gelu_tanh() -> Vec<Node> {
    vec![
        Node::Input(0),
        apply(Mul, &[0, 0]),
        apply(Mul, &[1, 0]),
        constant(0.044715),
        apply(Mul, &[2, 3]),
        apply(Add, &[0, 4]),
        constant(0.797_884_6),
        apply(Mul, &[5, 6]),
        apply(Tanh, &[7]),
        constant(1.0),
        apply(Add, &[8, 9]),
        constant(0.5),
        apply(Mul, &[0, 11]),
        apply(Mul, &[12, 10]),
    ]
}

fn gate() -> Vec<Node> {
    vec![
        Node::Input(0),
        Node::Input(1),
        apply(Sigmoid, &[0]),
        apply(Mul, &[0, 2]),
        apply(Mul, &[3, 1]),
    ]
}

/// Returns a program over the rows of a square matrix with `n` rows.
fn rows(name: &str, n: usize, nodes: Vec<Node>, peer: Option<Peer>) -> Case {
    let dense = access(F32, &[n as i64], 1);
    let result = match nodes.last() {
        Some(Node::Reduce { .. }) => access(F32, &[1], 0),
        _ => dense.clone(),
    };
    let output_count = if result.inner == 0 { n } else { n * n };
    Case {
        name: format!("{name} {n}^2"),
        program: Program::Rows(Nest {
            outer: vec![n],
            inner: n,
            total: None,
            unroll: None,
            divides_by_products: false,
            registers: Registers::default(),
            inputs: vec![dense],
            outputs: vec![output(nodes.len() - 1, result)],
            nodes,
        }),
        inputs: vec![n * n],
        output: output_count,
        bytes: 4 * (n * n + output_count),
        peer,
    }
}

fn softmax() -> Vec<Node> {
    vec![
        Node::Input(0),
        reduce(Reduction::Max, 0),
        apply(Sub, &[0, 1]),
        apply(Exp, &[2]),
        reduce(Reduction::Sum, 3),
        apply(Div, &[3, 4]),
    ]
}

fn layer_norm() -> Vec<Node> {
    vec![
        Node::Input(0),
        reduce(Reduction::Mean, 0),
        apply(Sub, &[0, 1]),
        apply(Mul, &[2, 2]),
        reduce(Reduction::Mean, 3),
        constant(1e-5),
        apply(Add, &[4, 5]),
        apply(Sqrt, &[6]),
        apply(Div, &[2, 7]),
    ]
}

/// Returns a transposing copy from `[rows, columns]` to `[columns, rows]`.
fn transpose(dtype: DType, rows: usize, columns: usize, peer: Option<Peer>) -> Case {
    let words = rows * columns * dtype.size() / 4;
    Case {
        name: format!("transpose {dtype} {rows}x{columns}"),
        program: Program::Rows(Nest {
            outer: vec![columns],
            inner: rows,
            total: None,
            unroll: None,
            divides_by_products: false,
            registers: Registers::default(),
            inputs: vec![access(dtype, &[1], columns as i64)],
            nodes: vec![Node::Input(0)],
            outputs: vec![output(0, access(dtype, &[rows as i64], 1))],
        }),
        inputs: vec![words],
        output: words,
        bytes: 8 * words,
        peer,
    }
}

fn column_sums(rows: usize, columns: usize, peer: Option<Peer>) -> Case {
    Case {
        name: format!("sum of columns {rows}x{columns}"),
        program: Program::Columns(Columns {
            outer: vec![],
            depth: rows,
            unroll: None,
            inner: columns,
            inputs: vec![access(F32, &[columns as i64], 1)],
            nodes: vec![Node::Input(0), reduce(Reduction::Sum, 0)],
            outputs: vec![output(1, access(F32, &[0], 1))],
        }),
        inputs: vec![rows * columns],
        output: columns,
        bytes: 4 * (rows * columns + columns),
        peer,
    }
}

/// Returns every row of the table.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for count in [4 << 10, 16 << 10, 4 << 20] {
        cases.extend([
            map("chain", count, 3, chain(), peer!(chain)),
            map("gelu", count, 1, gelu(), peer!(gelu)),
            map("gelu-tanh", count, 1, gelu_tanh(), peer!(gelu_tanh)),
            map("gate", count, 2, gate(), peer!(gate)),
            map("copy", count, 1, vec![Node::Input(0)], peer!(copied)),
        ]);
    }
    let sum = |kind| vec![Node::Input(0), reduce(kind, 0)];
    cases.extend([
        map("copy", 32 << 20, 1, vec![Node::Input(0)], peer!(copied)),
        rows("softmax", 1024, softmax(), peer!(softmax)),
        rows("layernorm", 1024, layer_norm(), peer!(layer_norm)),
        rows("sum of rows", 1024, sum(Reduction::Sum), peer!(row_sums)),
        rows("max of rows", 1024, sum(Reduction::Max), None),
        column_sums(1024, 1024, peer!(column_sums)),
        column_sums(64, 16384, None),
        column_sums(4096, 4096, None),
        transpose(F32, 1024, 1024, peer!(transposed)),
        transpose(F32, 1000, 1000, None),
        transpose(F32, 4096, 4096, None),
        transpose(DType::F16, 1024, 1024, None),
        transpose(DType::I8, 1024, 1024, None),
        transpose(DType::F64, 1024, 1024, None),
    ]);
    cases
}
