//! Imports the quantised operators of ONNX Runtime's optimisers as operators on the dequantised tensors, which core
//! turns into integer products.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::join::Concat;
use mind_core::ops::quantize::Dequantize;
use mind_core::ops::reduce::Mean;
use mind_core::ops::shape::ExpandDims;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, Dim};

use super::activation::{Activation, softmax};
use super::contract::product;
use super::integers::integer_product;
use super::pool::average_of;
use super::quantize::{dynamically, optional_point, point, real, requantized};
use super::{MICROSOFT, Operator};
use crate::import::emit::{Emit, One};
use crate::import::node::Node;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("QLinearAdd", &[1], |n| between(n, ScalarFn::Add)).of(MICROSOFT),
    Operator::one("QLinearMul", &[1], |n| between(n, ScalarFn::Mul)).of(MICROSOFT),
    Operator::one("QLinearSigmoid", &[1], |n| {
        let x = real(n, 0, -1)?;
        let own = n.e.apply(ScalarFn::Sigmoid, &[x])?;
        requantized(n, own, 3)
    })
    .of(MICROSOFT),
    Operator::one("QLinearLeakyRelu", &[1], |n| {
        let alpha = n.float("alpha")?.unwrap_or(f64::from(0.01f32));
        let x = real(n, 0, -1)?;
        let own = Activation::LeakyRelu { alpha }.apply(&mut n.e, x)?;
        requantized(n, own, 3)
    })
    .of(MICROSOFT),
    Operator::one("QLinearSoftmax", &[1], |n| {
        // The opset of the intended `Softmax`; before 13, `axis` is the first axis of a slice.
        let version = n.int("opset")?.unwrap_or(0);
        let x = real(n, 0, -1)?;
        let rank = n.e.rank(x);
        let axis = n.e.axis(n.int("axis")?.unwrap_or(-1), rank)?;
        if version < 13 && axis + 1 != rank {
            let expected = format!("{} (the last axis) before opset 13", rank - 1);
            return Err(Refusal::value("axis", axis, expected));
        }
        let own = softmax(&mut n.e, x, axis as i64)?;
        requantized(n, own, 3)
    })
    .of(MICROSOFT),
    Operator::one("QLinearAveragePool", &[1], |n| {
        channels_first(n)?;
        let x = real(n, 0, -1)?;
        let own = average_of(n, x)?;
        requantized(n, own, 3)
    })
    .of(MICROSOFT),
    Operator::one("QLinearGlobalAveragePool", &[1], |n| {
        channels_first(n)?;
        let x = real(n, 0, -1)?;
        let axes: Vec<i64> = (2..n.e.rank(x) as i64).collect();
        let own = Mean::with().axes(&axes).keepdims(true).build(&mut n.e, x)?;
        requantized(n, own, 3)
    })
    .of(MICROSOFT),
    Operator::one("QLinearConcat", &[1], |n| {
        let axis = n.int("axis")?;
        let axis = axis.ok_or_else(|| Refusal::missing("axis"))?;
        let mut parts = Vec::new();
        for at in (2..n.inputs.len()).step_by(3) {
            parts.push(real(n, at, -1)?);
        }
        if parts.is_empty() {
            return Err(Refusal::operands(n.inputs.len(), "5 or more"));
        }
        let own = Concat::with(axis).build(&mut n.e, &parts)?;
        requantized(n, own, 0)
    })
    .of(MICROSOFT),
    Operator::one("QGemm", &[1], gemm).of(MICROSOFT),
    Operator::one("MatMulIntegerToFloat", &[1], |n| {
        let (lhs, rhs) = (n.input(0)?, n.input(1)?);
        let scales = [n.input(2)?, n.input(3)?];
        let zeros = [optional_point(n, 4)?, optional_point(n, 5)?];
        scaled_product(n, [lhs, rhs], scales, zeros, 6)
    })
    .of(MICROSOFT),
    Operator::one("DynamicQuantizeMatMul", &[1], |n| {
        let (x, rhs, scale) = (n.input(0)?, n.input(1)?, n.input(2)?);
        let zero = optional_point(n, 3)?;
        let own = dynamic_product(&mut n.e, x, [rhs, scale], zero)?;
        match n.optional(4)? {
            Some(bias) => n.e.apply(ScalarFn::Add, &[own, bias]),
            None => Ok(own),
        }
    })
    .of(MICROSOFT),
    Operator::one("MatMulNBits", &[1], packed_product).of(MICROSOFT),
];

fn between(n: &mut Node<'_, '_, '_>, function: ScalarFn) -> One {
    let (lhs, rhs) = (real(n, 0, -1)?, real(n, 3, -1)?);
    let own = n.e.apply(function, &[lhs, rhs])?;
    requantized(n, own, 6)
}

fn channels_first(n: &Node<'_, '_, '_>) -> Result<(), Refusal> {
    if n.flag("channels_last")? {
        return Err(Refusal::value("channels_last", 1, 0));
    }
    Ok(())
}

/// Returns the product of integers minus their zero points, times both scales, plus the bias in input `bias`.
pub(super) fn scaled_product(
    n: &mut Node<'_, '_, '_>,
    operands: [ValueId; 2],
    scales: [ValueId; 2],
    zeros: [Option<ValueId>; 2],
    bias: usize,
) -> One {
    let own = scaled(&mut n.e, operands, scales, zeros)?;
    match n.optional(bias)? {
        Some(bias) => n.e.apply(ScalarFn::Add, &[own, bias]),
        None => Ok(own),
    }
}

/// Returns the product of integers minus their zero points, times both scales.
fn scaled(
    e: &mut Emit<'_>,
    operands: [ValueId; 2],
    [left, right]: [ValueId; 2],
    zeros: [Option<ValueId>; 2],
) -> One {
    let (left, right) = (point(e, left)?, point(e, right)?);
    let own = integer_product(e, operands, zeros)?;
    let own = e.convert(own, DType::F32)?;
    let scale = e.apply(ScalarFn::Mul, &[left, right])?;
    e.apply(ScalarFn::Mul, &[own, scale])
}

/// Returns the product of dynamically quantised `x` with quantised bytes.
pub(super) fn dynamic_product(
    e: &mut Emit<'_>,
    x: ValueId,
    [bytes, scale]: [ValueId; 2],
    zero: Option<ValueId>,
) -> One {
    let [lhs, own_scale, own_zero] = dynamically(e, x)?;
    scaled(e, [lhs, bytes], [own_scale, scale], [Some(own_zero), zero])
}

/// Imports a quantised `Gemm`, whose bias has the scale of the products. Without an output scale the result is `f32`.
fn gemm(n: &mut Node<'_, '_, '_>) -> One {
    let alpha = n.float("alpha")?.unwrap_or(1.0);
    let transposed = [n.flag("transA")?, n.flag("transB")?];
    let mut operands = [n.input(0)?, n.input(3)?];
    for (operand, is_transposed) in operands.iter_mut().zip(transposed) {
        if is_transposed {
            *operand = n.e.transpose(*operand, &[1, 0])?;
        }
    }
    let (left, right) = (n.input(1)?, n.input(4)?);
    let (left, right) = (point(&mut n.e, left)?, point(&mut n.e, right)?);
    let zeros = [optional_point(n, 2)?, optional_point(n, 5)?];
    let mut own = integer_product(&mut n.e, operands, zeros)?;
    if let Some(bias) = n.optional(6)? {
        own = n.e.apply(ScalarFn::Add, &[own, bias])?;
    }
    let own = n.e.convert(own, DType::F32)?;
    let scale = n.e.apply(ScalarFn::Mul, &[left, right])?;
    let scale = n.e.apply_number(ScalarFn::Mul, scale, alpha)?;
    let own = n.e.apply(ScalarFn::Mul, &[own, scale])?;
    if n.given(7).is_none() {
        return Ok(own);
    }
    requantized(n, own, 7)
}

/// Imports a product with a block-quantised matrix of 4-bit or 8-bit numbers.
fn packed_product(n: &mut Node<'_, '_, '_>) -> One {
    // A hint about the precision of sums. A copy of the weights in ONNX Runtime's own layout would be another input.
    n.ignore("accuracy_level");
    n.unset(
        &["weight_prepacked"],
        "store the weights as the quantiser writes them",
    )?;
    n.left_out(
        4,
        "quantise the model without an order of its columns (`act_order=False`)",
    )?;
    let size = |name: &'static str| -> Result<i64, Refusal> {
        let own = n.positive(name)?;
        match own < 1 << 31 {
            true => Ok(own),
            false => Err(Refusal::value(name, own, "at most 2^31 - 1")),
        }
    };
    let (columns, rows, block) = (size("N")?, size("K")?, size("block_size")?);
    let bits = n.int("bits")?.unwrap_or(4);
    if !matches!(bits, 4 | 8) {
        return Err(Refusal::value("bits", bits, "4 or 8"));
    }
    let (x, packed, scales) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let (zeros, bias) = (n.optional(3)?, n.optional(5)?);
    let e = &mut n.e;
    let of = e.dtype(x);
    let blocks = (rows - 1) / block + 1;
    let packed = e.reshape_to(packed, &[columns, -1])?;
    let weights = unpacked(e, packed, bits, [columns, blocks * block])?;
    let scales = e.reshape_to(scales, &[columns, blocks])?;
    let scales = e.convert(scales, DType::F32)?;
    let zeros = match zeros {
        Some(zeros) if e.dtype(zeros) == DType::U8 => {
            let zeros = e.reshape_to(zeros, &[columns, -1])?;
            unpacked(e, zeros, bits, [columns, blocks])?
        }
        Some(zeros) => {
            return Err(Refusal::dtype(
                "the zero points".to_owned(),
                e.dtype(zeros),
                DType::U8,
            ));
        }
        None => {
            let middle = e.number(DType::U8, f64::from(1 << (bits - 1)));
            let shape = [columns, blocks].map(Dim::Fixed);
            mind_core::ops::broadcast::BroadcastTo::with(&shape).build(e, middle)?
        }
    };
    let real = Dequantize::with().axis(1);
    let real = real.build(e, weights, scales, Some(zeros))?;
    let real = e.part(real, 1, 0, rows)?;
    let real = e.convert(real, of)?;
    let real = e.transpose(real, &[1, 0])?;
    let own = product(e, x, real)?;
    match bias {
        Some(bias) => e.apply(ScalarFn::Add, &[own, bias]),
        None => Ok(own),
    }
}

/// Unpacks 4-bit or 8-bit numbers to `u8`. Of two numbers in a byte, the one in the low bits comes first.
fn unpacked(e: &mut Emit<'_>, packed: ValueId, bits: i64, [rows, columns]: [i64; 2]) -> One {
    if bits == 8 {
        return e.part(packed, 1, 0, columns);
    }
    let low = e.apply_number(ScalarFn::And, packed, 15.0)?;
    let high = e.apply_number(ScalarFn::ShiftRight, packed, 4.0)?;
    let mut pair = [low, high];
    for part in &mut pair {
        *part = ExpandDims::with(&[2]).build(e, *part)?;
    }
    let both = e.concat(&pair, 2)?;
    let flat = e.reshape_to(both, &[rows, -1])?;
    e.part(flat, 1, 0, columns)
}
