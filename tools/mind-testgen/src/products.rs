//! Random products with lists of dimensions, systems of equations, and quantisation.

use mind_core::ops::block_matmul::{BlockMatMul, TERMS};
use mind_core::ops::contract::MatMul;
use mind_core::ops::convolution::SumType;
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::quantize::{Dequantize, Quantize};
use mind_core::ops::shape::Transpose;
use mind_core::ops::solve::{Cholesky, TriangularSolve};
use mind_ir::ValueId;
use mind_ir::opdef::{Op, OperandClass};
use mind_ir::types::{DType, Dim, QuantFormat, TensorType};

use crate::generator::Generator;
use crate::shape::small;

/// Draws a sum dtype for products of `dtype`.
pub(crate) fn sums(draw: &mut Generator<'_>, dtype: DType) -> SumType {
    let all: Vec<SumType> = SumType::ALL
        .iter()
        .copied()
        .filter(|sums| sums.takes(dtype))
        .collect();
    draw.rng.pick(&all)
}

/// Draws a product whose right-hand side has the batch and contracted dimensions of the left-hand side, and others, in
/// any order.
pub(crate) fn dot_general(draw: &mut Generator<'_>) -> Option<ValueId> {
    let lhs = draw.value(OperandClass::Num);
    let dtype = draw.graph.ty(lhs).dtype;
    let extents = small(draw.graph.ty(lhs))?;
    let (mut lists, mut rhs) = ([const { Vec::new() }; 2], Vec::new());
    for (axis, &extent) in extents.iter().enumerate() {
        let list = draw.rng.below(3);
        if list < 2 {
            lists[list].push(axis as i64);
            rhs.push((Some((list, axis as i64)), extent));
        }
    }
    for _ in 0..draw.rng.below(3) {
        rhs.push((None, draw.rng.pick(&[1, 2, 3, 5])));
    }
    draw.rng.shuffle(&mut rhs);
    let place = |list: usize, axis: &i64| {
        let own = rhs.iter().position(|(own, _)| *own == Some((list, *axis)));
        own.expect("every paired dimension is among those of the right side") as i64
    };
    let [batch, contract] = &lists;
    let rhs_batch: Vec<i64> = batch.iter().map(|axis| place(0, axis)).collect();
    let rhs_contract: Vec<i64> = contract.iter().map(|axis| place(1, axis)).collect();
    let sums = sums(draw, dtype);
    let other = match dtype {
        DType::I8 | DType::U8 if sums != SumType::Same => draw.rng.pick(&[DType::I8, DType::U8]),
        own => own,
    };
    let shape: Vec<i64> = rhs.iter().map(|&(_, extent)| extent).collect();
    let rhs = draw.value_of(&TensorType::fixed(other, &shape));
    let attrs = DotGeneral::attrs(batch, &rhs_batch, contract, &rhs_contract, sums);
    draw.op(DotGeneral::DEF, &[lhs, rhs], &attrs)
}

const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

/// The integer dtypes of at most 32 bits.
const NARROW: [DType; 6] = [
    DType::I8,
    DType::U8,
    DType::I16,
    DType::U16,
    DType::I32,
    DType::U32,
];

/// Draws scales per tensor, per slice along an axis or per block, and sometimes zero points.
fn scales(
    draw: &mut Generator<'_>,
    extents: &[i64],
    float: DType,
    integer: DType,
) -> (i64, Vec<ValueId>) {
    let axis = draw.rng.below(extents.len().max(1));
    let shape = match draw.rng.below(3) {
        0 => Vec::new(),
        1 if extents.len() > 1 => vec![extents[axis]],
        _ => {
            let blocks = extents.iter().map(|&extent| {
                let fits: Vec<i64> = [1, 2, 3, extent]
                    .into_iter()
                    .filter(|&blocks| blocks <= extent.max(1))
                    .collect();
                draw.rng.pick(&fits)
            });
            blocks.collect()
        }
    };
    let mut operands = vec![draw.value_of(&TensorType::fixed(float, &shape))];
    if draw.rng.once_in(2) {
        operands.push(draw.value_of(&TensorType::fixed(integer, &shape)));
    }
    (axis as i64, operands)
}

/// Draws a block-quantised product with random bits.
pub(crate) fn block_matmul(draw: &mut Generator<'_>) -> Option<ValueId> {
    let format = draw.rng.pick(QuantFormat::ALL);
    let (rows, columns) = (draw.rng.pick(&[0, 1, 3]), draw.rng.pick(&[1, 2, 5]));
    let (terms, bytes) = (format.elements() as i64, format.block_bytes() as i64);
    let types = [
        TensorType::fixed(DType::I8, &[rows, terms]),
        TensorType::fixed(DType::F32, &[rows, terms / TERMS as i64]),
        TensorType::fixed(DType::U8, &[columns, bytes]),
    ];
    let [lhs, scale, blocks] = types;
    let operands = [
        draw.value_of(&lhs),
        draw.value_of(&scale),
        draw.weight(&blocks),
    ];
    let attrs = BlockMatMul::attrs(Some(format));
    draw.op(BlockMatMul::DEF, &operands, &attrs)
}

pub(crate) fn quantize(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Float);
    let extents = small(draw.graph.ty(input))?;
    let float = if draw.rng.once_in(3) {
        draw.rng.pick(&FLOATS)
    } else {
        draw.graph.ty(input).dtype
    };
    let dtype = draw.rng.pick(&NARROW);
    let (axis, scales) = scales(draw, &extents, float, dtype);
    let operands = [&[input][..], &scales].concat();
    draw.op(Quantize::DEF, &operands, &Quantize::attrs(dtype, axis))
}

pub(crate) fn dequantize(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Integer);
    let dtype = draw.graph.ty(input).dtype;
    let extents = small(draw.graph.ty(input)).filter(|_| NARROW.contains(&dtype))?;
    let float = draw.rng.pick(&FLOATS);
    let (axis, scales) = scales(draw, &extents, float, dtype);
    let operands = [&[input][..], &scales].concat();
    draw.op(Dequantize::DEF, &operands, &Dequantize::attrs(axis))
}

/// The type of square matrices, or of a batch of them, with `wide` columns more.
fn square(draw: &mut Generator<'_>, wide: i64) -> TensorType {
    let (dtype, order) = (draw.rng.pick(&FLOATS), draw.rng.pick(&[0, 1, 2, 3, 5]));
    let mut shape = vec![order, order + wide];
    if draw.rng.once_in(2) {
        shape.insert(0, draw.rng.pick(&[0, 1, 3]));
    }
    TensorType::fixed(dtype, &shape)
}

/// Factors of any matrices, which mostly have none, or of products with their transposes, which mostly have.
pub(crate) fn cholesky(draw: &mut Generator<'_>) -> Option<ValueId> {
    let is_product = !draw.rng.once_in(4);
    let ty = square(draw, if is_product { 3 } else { 0 });
    let mut input = draw.value_of(&ty);
    if is_product {
        let order: &[i64] = if ty.shape.len() == 2 {
            &[1, 0]
        } else {
            &[0, 2, 1]
        };
        let transposed = draw.op(Transpose::DEF, &[input], &Transpose::attrs(order))?;
        input = draw.op(MatMul::DEF, &[input, transposed], &MatMul::attrs())?;
    }
    let attrs = Cholesky::attrs(draw.rng.once_in(2));
    draw.op(Cholesky::DEF, &[input], &attrs)
}

pub(crate) fn triangular_solve(draw: &mut Generator<'_>) -> Option<ValueId> {
    let ty = square(draw, 0);
    let (is_left, columns) = (draw.rng.once_in(2), draw.rng.pick(&[0, 1, 2, 17]));
    let mut right = ty.clone();
    let columns_at = right.shape.len() - if is_left { 1 } else { 2 };
    right.shape[columns_at] = Dim::Fixed(columns);
    let operands = [draw.value_of(&ty), draw.value_of(&right)];
    let [is_lower, is_unit, is_transposed] = [(); 3].map(|()| draw.rng.once_in(2));
    let attrs = TriangularSolve::attrs(is_lower, is_left, is_unit, is_transposed);
    draw.op(TriangularSolve::DEF, &operands, &attrs)
}
