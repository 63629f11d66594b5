//! Reference semantics of nests, element by element, from the scalar functions of ops and docs/numerics.md.

use mind_ir::Graph;
use mind_ir::eval::{DimEnv, EvalCx, EvalError};
use mind_ir::scalar::{Reduction, ScalarFn};
use mind_ir::tensor::{Buffer, Element, Num, Tensor};
use mind_ir::types::DType;
use mind_ir::with_num;
use mind_jit::lower::nest::{Nest, Node, StridedAccess};

/// Returns the positions of the elements of a row, in the order of its inner index.
pub fn places(access: &StridedAccess, row: &[usize], inner: usize) -> Vec<usize> {
    let outer = access.outer.iter().zip(row);
    let start: i64 = access.offset
        + outer
            .map(|(stride, &index)| stride * index as i64)
            .sum::<i64>();
    (0..inner as i64)
        .map(|index| (start + index * access.inner) as usize)
        .collect()
}

/// Returns every index of the dimensions, row-major.
pub fn indices(extents: &[usize]) -> Vec<Vec<usize>> {
    extents.iter().fold(vec![Vec::new()], |known, &extent| {
        let longer = known.iter().flat_map(|index| {
            (0..extent).map(move |last| index.iter().copied().chain([last]).collect())
        });
        longer.collect()
    })
}

/// Returns the elements of `buffer` at `places`.
pub fn pick(buffer: &Buffer, places: &[usize]) -> Buffer {
    let (bytes, size) = (buffer.to_bytes(), buffer.dtype().size());
    let picked = places
        .iter()
        .flat_map(|&place| &bytes[place * size..][..size]);
    Buffer::from_bytes(buffer.dtype(), &picked.copied().collect::<Vec<u8>>())
}

/// Stores elements of `row` at `places` of `buffer`; surplus elements are dropped.
pub fn put(buffer: &mut [u8], places: &[usize], row: &Buffer) {
    let (bytes, size) = (row.to_bytes(), row.dtype().size());
    for (element, &place) in bytes.chunks_exact(size).zip(places) {
        buffer[place * size..][..size].copy_from_slice(element);
    }
}

/// Returns the number of elements of the row at this index.
pub fn inner(n: &Nest, row: &[usize]) -> usize {
    match n.total {
        Some(total) => n.inner.min(total - row[0] * n.inner),
        None => n.inner,
    }
}

/// Returns the bytes of the outputs of `n`, initially `outputs`, after running `rows` of its outermost dimension.
pub fn run(
    n: &Nest,
    inputs: &[Buffer],
    outputs: &[Vec<u8>],
    rows: std::ops::Range<usize>,
) -> Vec<Vec<u8>> {
    let mut outputs = outputs.to_vec();
    let chosen = |row: &Vec<usize>| row.first().is_none_or(|index| rows.contains(index));
    for row in indices(&n.outer).into_iter().filter(chosen) {
        let inner = inner(n, &row);
        let values = values(n, inputs, &row, inner);
        for (output, bytes) in n.outputs.iter().zip(&mut outputs) {
            let places = places(&output.access, &row, inner);
            put(bytes, &places, &values[output.node]);
        }
    }
    outputs
}

/// Returns the elements of every node along a row.
fn values(n: &Nest, inputs: &[Buffer], row: &[usize], inner: usize) -> Vec<Buffer> {
    let mut values: Vec<Buffer> = Vec::new();
    for node in &n.nodes {
        let value = match node {
            &Node::Input(input) => pick(&inputs[input], &places(&n.inputs[input], row, inner)),
            &Node::Constant { dtype, bits } => {
                let element = &bits.to_le_bytes()[..dtype.size()];
                Buffer::from_bytes(dtype, &element.repeat(inner))
            }
            Node::Apply { function, args, .. } => {
                let args: Vec<&Buffer> = args.iter().map(|&arg| &values[arg]).collect();
                apply(*function, &args).expect("defined on these elements")
            }
            &Node::Convert { to, arg, .. } => convert(&values[arg], to),
            &Node::Reduce { kind, dtype, arg } => {
                let of = &values[arg];
                Buffer::from_bytes(dtype, &reduce(kind, of).to_bytes().repeat(inner.max(1)))
            }
        };
        values.push(value);
    }
    values
}

/// Applies a function element by element.
pub fn apply(function: ScalarFn, operands: &[&Buffer]) -> Result<Buffer, EvalError> {
    let (graph, dims) = (Graph::new(), DimEnv::default());
    let cx = EvalCx::run(&graph, &dims);
    let tensors: Vec<Tensor> = (operands.iter())
        .map(|buffer| Tensor::new(vec![buffer.len()], (*buffer).clone()))
        .collect();
    let views: Vec<&Tensor> = tensors.iter().collect();
    Ok(function.eval(&cx, &views)?.buffer().clone())
}

fn elements<T: Element>(buffer: &Buffer) -> &[T] {
    T::peek(buffer).expect("a buffer of the dtype")
}

pub fn convert(buffer: &Buffer, to: DType) -> Buffer {
    let (graph, dims) = (Graph::new(), DimEnv::default());
    let tensor = Tensor::new(vec![buffer.len()], buffer.clone());
    let result = mind_core::eval::convert::cast(&EvalCx::run(&graph, &dims), &tensor, to);
    result.expect("small enough").buffer().clone()
}

/// Returns the reduction of the elements of a buffer to one element.
pub fn reduce(kind: Reduction, of: &Buffer) -> Buffer {
    with_num!(of.dtype(), T => defined::<T>(kind, elements::<T>(of)), else unreachable!())
}

/// The literal definition of docs/numerics.md.
fn defined<T: Num>(kind: Reduction, xs: &[T]) -> Buffer {
    let identity = match kind {
        Reduction::Max => T::Acc::LOWEST,
        Reduction::Min => T::Acc::HIGHEST,
        Reduction::Prod => T::Acc::ONE,
        Reduction::Sum | Reduction::Mean => T::Acc::ZERO,
    };
    let combine = |x: T::Acc, y: T::Acc| match kind {
        Reduction::Max => x.maximum(y),
        Reduction::Min => x.minimum(y),
        Reduction::Prod => x.mul(y),
        Reduction::Sum | Reduction::Mean => x.add(y),
    };
    let mut partials = [identity; 64];
    for (at, x) in xs.iter().enumerate() {
        partials[at % 64] = combine(partials[at % 64], x.widen());
    }
    for half in [32, 16, 8, 4, 2, 1] {
        for at in 0..half {
            partials[at] = combine(partials[at], partials[at + half]);
        }
    }
    let result = match kind {
        Reduction::Mean => mean(partials[0], xs.len()),
        Reduction::Sum | Reduction::Max | Reduction::Min | Reduction::Prod => partials[0],
    };
    T::wrap(vec![T::narrow(result)])
}

fn mean<A: Num>(sum: A, count: usize) -> A {
    match sum.to_i128() {
        None => sum
            .div(A::from_count(count))
            .expect("floats divide by anything"),
        Some(exact) => {
            let quotient = exact / count as i128;
            match quotient {
                -1 => A::ZERO.sub(A::ONE),
                0 => A::ZERO,
                _ => sum.div(A::from_count(count)).expect("the count fits"),
            }
        }
    }
}
