//! Matrix products and convolutions.

use mind_convert::Refusal;
use mind_core::ops::contract::{Dot, MatMul};
use mind_core::ops::conv::Conv2d;
use mind_ir::ValueId;
use mind_ir::attr::Padding;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::DType;
use mind_mil::ops::conv::CONV;
use mind_mil::ops::linear::MATMUL;

use crate::config::Layout;
use crate::emit::Argument::{Flag, Int, Ints, Value, Word};
use crate::emit::{Argument, Emit, Lower, Lowered};

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Dot::DEF, |op, e| {
        let view = Dot::from_id(op);
        let (x, y) = (view.lhs(e.g()), view.rhs(e.g()));
        dot(e, x, y)
    }),
    (MatMul::DEF, |op, e| {
        let view = MatMul::from_id(op);
        let (x, y) = (view.lhs(e.g()), view.rhs(e.g()));
        matmul(e, x, y)
    }),
    (Conv2d::DEF, |op, e| {
        let view = Conv2d::from_id(op);
        let (x, filter) = (view.input(e.g()), view.filter(e.g()));
        let strides = view.strides(e.g()).to_vec();
        let (word, pads) = padding(view.padding(e.g()));
        conv(e, x, filter, &strides, word, &pads)
    }),
];

/// Rows that fill a last axis of 64 bytes.
const FULL_ROWS: i64 = 32;

fn numeric(e: &Emit<'_, '_>, x: ValueId) -> Result<(), Refusal> {
    match e.dtype(x) {
        dtype if dtype.is_float() || dtype == DType::I32 => Ok(()),
        dtype => Err(Refusal::no_counterpart(format!(
            "`matmul` takes no {dtype}"
        ))),
    }
}

/// Lowers a dot product: vectors become matrices of one row or column, and the result is squeezed.
fn dot(e: &mut Emit<'_, '_>, x: ValueId, y: ValueId) -> Lowered {
    let (left, right) = (e.shape(x)?, e.shape(y)?);
    let x = match left[..] {
        [k] => e.reshape(x, &[1, k])?,
        _ => x,
    };
    let y = match right[..] {
        [k] => e.reshape(y, &[k, 1])?,
        _ => y,
    };
    let product = matmul(e, x, y)?;
    let mut shape = Vec::new();
    shape.extend_from_slice(&left[..left.len() - 1]);
    shape.extend_from_slice(&right[1..]);
    if shape.is_empty() {
        crate::movement::element(e, product, &[0, 0])
    } else {
        e.reshape(product, &shape)
    }
}

/// Multiplies `[.., M, K]` by `[.., K, N]`; a constant matrix on the right becomes a 1x1 convolution where that pays.
pub(crate) fn matmul(e: &mut Emit<'_, '_>, x: ValueId, y: ValueId) -> Lowered {
    numeric(e, x)?;
    let args = [
        ("x", Value(x)),
        ("y", Value(y)),
        ("transpose_x", Flag(false)),
        ("transpose_y", Flag(false)),
    ];
    let (Ok(left), Ok(right)) = (e.shape(x), e.shape(y)) else {
        return e.op(&MATMUL, &args);
    };
    let convolves = e.dtype(x).is_float()
        && right.len() == 2
        && matches!(left.len(), 2 | 3)
        && e.elements(y).is_some();
    let rows = left[left.len() - 2];
    let wanted = match e.config.layout {
        Layout::Keep => false,
        Layout::Ane => true,
        Layout::Auto => rows >= FULL_ROWS,
    };
    if convolves && wanted {
        return pointwise(e, x, y, &left);
    }
    e.op(&MATMUL, &args)
}

/// Multiplies `[B, S, I]` by a constant `[I, O]` as a 1x1 convolution over `[B, I, 1, S]`.
fn pointwise(e: &mut Emit<'_, '_>, x: ValueId, y: ValueId, left: &[i64]) -> Lowered {
    let (batch, rows, inner) = match *left {
        [rows, inner] => (1, rows, inner),
        [batch, rows, inner] => (batch, rows, inner),
        _ => return Err(Refusal::no_counterpart("a stack of another rank")),
    };
    let out = e.shape(y)?[1];
    let weight = e.transpose(y, &[1, 0])?;
    let weight = e.constant_or_reshaped(weight, &[out, inner, 1, 1])?;
    let x = e.reshape(x, &[batch, 1, rows, inner])?;
    let x = e.transpose(x, &[0, 3, 1, 2])?;
    let args = convolution(x, weight, &[1, 1], "valid", &[0, 0, 0, 0]);
    let y = e.op(&CONV, &args)?;
    let y = e.transpose(y, &[0, 2, 3, 1])?;
    let mut shape = left.to_vec();
    shape.pop();
    shape.push(out);
    e.reshape(y, &shape)
}

fn convolution<'a>(
    x: ValueId,
    weight: ValueId,
    strides: &'a [i64],
    pad_type: &'a str,
    pads: &'a [i64],
) -> [(&'static str, Argument<'a>); 7] {
    [
        ("x", Value(x)),
        ("weight", Value(weight)),
        ("strides", Ints(strides)),
        ("pad_type", Word(pad_type)),
        ("pad", Ints(pads)),
        ("dilations", Ints(&[1, 1])),
        ("groups", Int(1)),
    ]
}

/// Returns the padding in MIL's form: `pad_type`, and top, bottom, left, right.
pub(crate) fn padding(padding: Padding<'_>) -> (&'static str, [i64; 4]) {
    match padding {
        Padding::Valid => ("valid", [0; 4]),
        Padding::Same => ("same", [0; 4]),
        Padding::Custom(&pads) => ("custom", pads),
    }
}

/// Convolves `[N, H, W, C]` with `[Kh, Kw, C, F]` through MIL's layouts `[N, C, H, W]` and `[F, C, Kh, Kw]`.
pub(crate) fn conv(
    e: &mut Emit<'_, '_>,
    x: ValueId,
    filter: ValueId,
    strides: &[i64],
    word: &str,
    pads: &[i64; 4],
) -> Lowered {
    if !e.dtype(x).is_float() {
        return Err(Refusal::no_counterpart(format!(
            "`conv` takes no {}",
            e.dtype(x)
        )));
    }
    let x = e.transpose(x, &[0, 3, 1, 2])?;
    let weight = e.transpose(filter, &[3, 2, 0, 1])?;
    let args = convolution(x, weight, strides, word, pads);
    let y = e.op(&CONV, &args)?;
    e.transpose(y, &[0, 2, 3, 1])
}
