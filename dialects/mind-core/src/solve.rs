//! Factorizations and triangular systems as scans of simpler ops, for targets that have no op for them.
//!
//! A step computes one row, in the order of [`crate::eval::solve`], so that the bits are those of the interpreter.

use mind_diag::Diagnostic;
use mind_ir::builder::{Builder, Built};
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::{Buffer, FloatNum, Tensor};
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::{OpId, ValueId, with_float};

use crate::ops::compare::{Compare, Direction};
use crate::ops::contract::MatMul;
use crate::ops::control::Scan;
use crate::ops::extents::Iota;
use crate::ops::fused::Fused;
use crate::ops::index::{Gather, Slice};
use crate::ops::shape::{ExpandDims, Transpose};
use crate::ops::solve::{Cholesky, TriangularSolve};
use crate::{apply, splat};

/// Whether an op is one that [`expand`] replaces: a factorization or a system whose extents are known or symbols, its
/// number of rows being known.
pub fn is_expanded(g: &Graph, op: OpId) -> bool {
    let matrix = match (g.view::<Cholesky>(op), g.view::<TriangularSolve>(op)) {
        (Some(own), _) => own.input(g),
        (None, Some(own)) => own.a(g),
        (None, None) => return false,
    };
    let is_open = |&value: &ValueId| g.ty(value).shape.contains(&Dim::Dynamic);
    let order = g.ty(matrix).shape.last();
    matches!(order, Some(Dim::Fixed(_))) && !g.operands(op).iter().any(is_open)
}

/// Replaces the factorizations and triangular systems of a verified module, those in regions among them, by scans.
/// Returns how many it replaced; those of [open extents](is_expanded) stay.
///
/// # Errors
///
/// An op whose expansion does not verify, with its place. The module is then not to be used.
pub fn expand(g: &mut Graph) -> Result<usize, Box<Diagnostic>> {
    inline_groups(g);
    let ops: Vec<OpId> = g.walk().filter(|&op| is_expanded(g, op)).collect();
    for &op in &ops {
        let b = &mut Builder::before(g, op);
        let value = match (
            b.graph.view::<Cholesky>(op),
            b.graph.view::<TriangularSolve>(op),
        ) {
            (Some(own), _) => factorized(b, own),
            (None, Some(own)) => solved(b, own),
            (None, None) => continue,
        };
        let value = value.map_err(|why| {
            let mut found = why.at_op(g, op);
            let name = g.def(op).name;
            found.message = format!("expanding `{name}` failed: {}", found.message);
            Box::new(found)
        })?;
        replace(g, op, value);
    }
    Ok(ops.len())
}

/// Inlines the fused groups with ops that are expanded, because no kernel holds a scan; groups in groups, too.
fn inline_groups(g: &mut Graph) {
    loop {
        let is_inlined = |&op: &OpId| {
            let group = g.view::<Fused>(op);
            group.is_some_and(|group| g.ops(group.body(g)).any(|op| is_expanded(g, op)))
        };
        let groups: Vec<OpId> = g.walk().filter(is_inlined).collect();
        if groups.is_empty() {
            return;
        }
        // A group in a group comes after it in the walk, and is inlined first.
        for op in groups.into_iter().rev() {
            inline_group(g, Fused::from_id(op));
        }
    }
}

fn inline_group(g: &mut Graph, group: Fused) {
    let (op, body) = (group.id(), group.body(g));
    let operands = g.operands(op).to_vec();
    let arguments = g.arguments(body).into_iter();
    let copies = arguments.zip(operands.iter().copied()).collect();
    let values = Builder::before(g, op).copy_block(body, copies);
    for (old, value) in g.results(op).into_iter().zip(values) {
        if !operands.contains(&value) {
            g.swap_labels(old, value);
        }
        g.replace_all_uses(old, value);
    }
    g.erase(op);
}

/// Puts `value` in the place of the result of `op`.
fn replace(g: &mut Graph, op: OpId, value: ValueId) {
    let old = g.result(op);
    if !g.operands(op).contains(&value) {
        g.swap_labels(old, value);
        if let Some(declared) = g.declared(old) {
            g.declare(value, declared);
        }
    }
    g.replace_all_uses(old, value);
    g.erase(op);
}

/// A number as a constant of rank 0.
fn number(b: &mut Builder<'_>, dtype: DType, value: f64) -> ValueId {
    crate::constant(b, &scalar(dtype, value))
}

fn scalar(dtype: DType, value: f64) -> Tensor {
    with_float!(dtype, T => Tensor::scalar(T::from_f64(value)), else {
        panic!("`{dtype}` is verified to be a float")
    })
}

/// The values of `ty` that are all +0.
fn zeros(b: &mut Builder<'_>, ty: &TensorType) -> ValueId {
    let zero = Tensor::new(Vec::new(), Buffer::zeros(ty.dtype, 1));
    splat(b, ty.view(), &zero)
}

/// The matrices of a batch with rows and columns exchanged.
fn transposed(b: &mut Builder<'_>, x: ValueId) -> Built {
    let rank = b.graph.ty(x).rank();
    let mut order: Vec<i64> = (0..rank as i64).collect();
    order.swap(rank - 2, rank - 1);
    b.one(Transpose::DEF, &[x], &Transpose::attrs(&order))
}

/// Lines of a batch of matrices as matrices of one row.
fn row_of(b: &mut Builder<'_>, line: ValueId) -> Built {
    let axis = b.graph.ty(line).rank() as i64 - 1;
    b.one(ExpandDims::DEF, &[line], &ExpandDims::attrs(&[axis]))
}

/// The numbers from 0 on, in a shape of that many rows or columns.
fn indices(b: &mut Builder<'_>, shape: &[i64], axis: i64) -> Built {
    let shape: Vec<Dim> = shape.iter().map(|&extent| Dim::Fixed(extent)).collect();
    b.one(Iota::DEF, &[], &Iota::attrs(DType::I64, &shape, axis))
}

fn compare(b: &mut Builder<'_>, direction: Direction, x: ValueId, y: ValueId) -> Built {
    b.one(Compare::DEF, &[x, y], &Compare::attrs(direction))
}

/// The columns of matrices that `place`, of one element, numbers.
fn column(b: &mut Builder<'_>, matrix: ValueId, place: ValueId) -> Built {
    let axis = b.graph.ty(matrix).rank() as i64 - 1;
    Gather::with().axis(axis).build(b, matrix, place)
}

/// Puts `row` at the place of the rows of `matrix` that is `place`.
fn with_row(b: &mut Builder<'_>, order: i64, place: ValueId, [row, matrix]: [ValueId; 2]) -> Built {
    let rows = indices(b, &[order, 1], 0)?;
    let is_row = compare(b, Direction::Eq, rows, place)?;
    apply(b, ScalarFn::Select, &[is_row, row, matrix])
}

/// A scan whose steps compute the rows of `first`, one after the other.
struct Rows<'r> {
    /// The matrices before the first step.
    first: ValueId,
    /// The number of rows.
    order: i64,
    /// The values that the steps read line by line, and the axis of the lines.
    lines: &'r [(ValueId, i64)],
    /// Whether the last row is computed first.
    is_reversed: bool,
}

impl Rows<'_> {
    /// The last matrices; `step` gets those before it, its number as one element, and its lines.
    fn scan(
        &self,
        b: &mut Builder<'_>,
        step: impl FnOnce(&mut Builder<'_>, ValueId, ValueId, &[ValueId]) -> Built,
    ) -> Built {
        let places = indices(b, &[self.order, 1], 0)?;
        let mut operands = vec![self.first, places];
        operands.extend(self.lines.iter().map(|(value, _)| value));
        let mut axes = vec![0];
        axes.extend(self.lines.iter().map(|(_, axis)| axis));
        let reversed = vec![i64::from(self.is_reversed); axes.len()];
        let attrs = Scan::attrs(1, axes.len() as i64, &axes, &[], &reversed, &[]);
        let scan = b.create_with_body(Scan::DEF, &operands, &attrs, 1, |b, arguments| {
            let own = step(b, arguments[0], arguments[1], &arguments[2..])?;
            Ok(vec![own])
        })?;
        Ok(b.graph.result(scan))
    }
}

/// The rank of a value and the number of rows of its matrices.
fn extents(b: &Builder<'_>, matrix: ValueId) -> (usize, i64) {
    let ty = b.graph.ty(matrix);
    let order = ty.shape.last().and_then(|extent| extent.fixed());
    (ty.rank(), order.expect("an op with a known order"))
}

fn factorized(b: &mut Builder<'_>, op: Cholesky) -> Built {
    let (input, is_lower) = (op.input(b.graph), op.lower(b.graph));
    let (rank, order) = extents(b, input);
    if order == 0 {
        return Ok(input);
    }
    let ty = b.graph.ty(input).to_owned();
    let first = zeros(b, &ty);
    // A column of the lower triangle is a row of the upper factor.
    let axis = rank as i64 - if is_lower { 1 } else { 2 };
    let rows = Rows {
        first,
        order,
        lines: &[(input, axis)],
        is_reversed: false,
    };
    let upper = rows.scan(b, |b, known, place, lines| {
        let row = factor_row(b, ty.dtype, known, place, lines[0])?;
        with_row(b, order, place, [row, known])
    })?;
    let factor = match is_lower {
        true => transposed(b, upper)?,
        false => upper,
    };
    only_definite(b, (rank, order), factor)
}

/// The row of the upper factor at `place`, `known` having the rows above.
fn factor_row(
    b: &mut Builder<'_>,
    dtype: DType,
    known: ValueId,
    place: ValueId,
    line: ValueId,
) -> Built {
    let (_, order) = extents(b, known);
    let (zero, minus_one) = (number(b, dtype, 0.0), number(b, dtype, -1.0));
    let factors = column(b, known, place)?;
    let factors = transposed(b, factors)?;
    let sums = MatMul::build(b, factors, known)?;
    let values = row_of(b, line)?;
    let rest = apply(b, ScalarFn::Sub, &[values, sums])?;
    let pivot = column(b, rest, place)?;
    let is_positive = compare(b, Direction::Gt, pivot, zero)?;
    // The root of -1 is NaN, which MIL has no constant for.
    let pivot = apply(b, ScalarFn::Select, &[is_positive, pivot, minus_one])?;
    let root = apply(b, ScalarFn::Sqrt, &[pivot])?;
    let row = apply(b, ScalarFn::Div, &[rest, root])?;
    let columns = indices(b, &[order], 0)?;
    let is_before = compare(b, Direction::Lt, columns, place)?;
    let row = apply(b, ScalarFn::Select, &[is_before, zero, row])?;
    let is_pivot = compare(b, Direction::Eq, columns, place)?;
    apply(b, ScalarFn::Select, &[is_pivot, root, row])
}

/// The factors, but NaN for those whose last element is NaN.
fn only_definite(b: &mut Builder<'_>, (rank, order): (usize, i64), factor: ValueId) -> Built {
    let (mut starts, mut ends) = (vec![0; rank], vec![mind_ir::attr::OPEN_END; rank]);
    starts[rank - 2..].fill(order - 1);
    ends[rank - 2..].fill(order);
    let last = Slice::with(&starts, &ends, &vec![1; rank]).build(b, factor)?;
    let is_indefinite = compare(b, Direction::Ne, last, last)?;
    apply(b, ScalarFn::Select, &[is_indefinite, last, factor])
}

fn solved(b: &mut Builder<'_>, op: TriangularSolve) -> Built {
    let (a, right, system) = (op.a(b.graph), op.b(b.graph), op.system(b.graph));
    let (rank, order) = extents(b, a);
    if order == 0 {
        return Ok(right);
    }
    let mut ty = b.graph.ty(right).to_owned();
    let is_turned = !system.is_left;
    if is_turned {
        ty.shape.swap(rank - 2, rank - 1);
    }
    let axis = |is_column| rank as i64 - if is_column { 1 } else { 2 };
    let first = zeros(b, &ty);
    let rows = Rows {
        first,
        order,
        lines: &[(a, axis(system.reads_columns())), (right, axis(is_turned))],
        is_reversed: !system.is_forward(),
    };
    let solution = rows.scan(b, |b, known, place, lines| {
        let zero = number(b, ty.dtype, 0.0);
        let columns = indices(b, &[order], 0)?;
        let direction = match system.is_forward() {
            true => Direction::Lt,
            false => Direction::Gt,
        };
        let is_known = compare(b, direction, columns, place)?;
        let factors = apply(b, ScalarFn::Select, &[is_known, lines[0], zero])?;
        let factors = row_of(b, factors)?;
        let sums = MatMul::build(b, factors, known)?;
        let values = row_of(b, lines[1])?;
        let mut row = apply(b, ScalarFn::Sub, &[values, sums])?;
        if !system.is_unit {
            let factors = row_of(b, lines[0])?;
            let pivot = column(b, factors, place)?;
            row = apply(b, ScalarFn::Div, &[row, pivot])?;
        }
        with_row(b, order, place, [row, known])
    })?;
    match is_turned {
        true => transposed(b, solution),
        false => Ok(solution),
    }
}
