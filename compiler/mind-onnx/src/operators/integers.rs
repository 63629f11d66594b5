//! Sums of products of bytes, which are exact in integers of 32 bits, and products of the numbers that bytes stand for,
//! which become such sums times a scale.

use mind_core::ops::convolution::{Conv, Layout, SumType};
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::pad::PadOp;
use mind_core::ops::reduce::Sum;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, Dim};

use super::contract::{conv, product};
use super::dequantised::Dequantised;
use super::pool::Geometry;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::refused::Refused;

/// The most products of differences of bytes whose sum `i32` holds for certain.
const MOST_TERMS: i64 = i32::MAX as i64 / (255 * 255);

/// A product of matrices: where both sides are numbers that bytes stand for, the product of the bytes.
pub(super) fn matrix_product(n: &mut Node<'_, '_, '_>, lhs: ValueId, rhs: ValueId) -> One {
    if !n.importer.options.keeps_dequantized
        && let Some(own) = product_of_bytes(&mut n.e, [lhs, rhs])?
    {
        return Ok(own);
    }
    product(&mut n.e, lhs, rhs)
}

/// A convolution: where image and filter are numbers that bytes stand for, the convolution of the bytes.
pub(super) fn convolution(n: &mut Node<'_, '_, '_>, x: ValueId, filter: ValueId) -> One {
    if !n.importer.options.keeps_dequantized
        && let Some(own) = convolution_of_bytes(n, [x, filter])?
    {
        return Ok(own);
    }
    conv(n, x, filter)
}

fn product_of_bytes(e: &mut Emit<'_>, operands: [ValueId; 2]) -> Result<Option<ValueId>, Refused> {
    let [Some(lhs), Some(rhs)] = operands.map(|own| Dequantised::of(e.g(), own)) else {
        return Ok(None);
    };
    let [left, right] = operands.map(|own| e.dims(own));
    let terms = left.last().copied().and_then(Dim::fixed);
    let is_short = terms.is_some_and(|terms| terms <= MOST_TERMS);
    let along_columns = rhs.axis.is_none_or(|axis| axis + 1 == right.len());
    let fits = is_short && lhs.axis.is_none() && along_columns;
    if !fits || batches(&left, &right).is_none() || !scales_multiply(&lhs, &rhs) {
        return Ok(None);
    }
    let (lhs, rhs) = (lhs.bytes(e)?, rhs.bytes(e)?);
    let own = integer_product(e, [lhs.value, rhs.value], [lhs.zero, rhs.zero])?;
    let scale = e.apply(ScalarFn::Mul, &[lhs.scale, rhs.scale])?;
    let own = e.convert(own, DType::F32)?;
    e.apply(ScalarFn::Mul, &[own, scale]).map(Some)
}

fn convolution_of_bytes(
    n: &mut Node<'_, '_, '_>,
    operands: [ValueId; 2],
) -> Result<Option<ValueId>, Refused> {
    let [Some(x), Some(filter)] = operands.map(|own| Dequantised::of(n.e.g(), own)) else {
        return Ok(None);
    };
    let taps = n.e.dims(operands[1]).into_iter().skip(1);
    let terms = taps
        .map(Dim::fixed)
        .try_fold(1i64, |all, own| all.checked_mul(own?));
    let is_short = terms.is_some_and(|terms| terms <= MOST_TERMS);
    let by_filter = filter.axis.is_none_or(|axis| axis == 0);
    let fits = is_short && x.axis.is_none() && by_filter && !filter.has_zero(n.e.g());
    // Channels by themselves have too few terms for products of several at a time.
    if !fits || n.int("group")?.unwrap_or(1) != 1 || !scales_multiply(&x, &filter) {
        return Ok(None);
    }
    let (x, by_channel) = (x.bytes(&mut n.e)?, filter.axis.is_some());
    let filter = filter.bytes(&mut n.e)?;
    let own = integer_convolution(n, [x.value, filter.value], x.zero)?;
    let e = &mut n.e;
    let mut scale = e.apply(ScalarFn::Mul, &[x.scale, filter.scale])?;
    if by_channel {
        scale = e.per_channel(scale, e.rank(own))?;
    }
    let own = e.convert(own, DType::F32)?;
    e.apply(ScalarFn::Mul, &[own, scale]).map(Some)
}

/// Whether the products of all scales are numbers with all their digits.
fn scales_multiply(lhs: &Dequantised, rhs: &Dequantised) -> bool {
    let pairs = lhs
        .scales
        .iter()
        .flat_map(|x| rhs.scales.iter().map(move |y| x * y));
    pairs.into_iter().all(f32::is_normal)
}

/// How many dimensions in front two stacks of matrices have in common; `None` if the shapes do not tell. A stack by one
/// matrix has none.
fn batches(left: &[Dim], right: &[Dim]) -> Option<usize> {
    let batch = right.len().checked_sub(2)?;
    if left.len() < 2 || batch == 0 {
        return (left.len() >= 2).then_some(batch);
    }
    let same = left.len() == right.len() && left[..batch] == right[..batch];
    (same && !left[..batch].contains(&Dim::Dynamic)).then_some(batch)
}

/// The product of bytes less their zero points, exactly, in `i32`: a list of these is one for each row on the left, for
/// each column on the right.
pub(super) fn integer_product(
    e: &mut Emit<'_>,
    [lhs, rhs]: [ValueId; 2],
    [left, right]: [Option<ValueId>; 2],
) -> One {
    let left = left.map(|zero| match e.rank(zero) {
        1 => column(e, zero),
        _ => Ok(zero),
    });
    let left = left.transpose()?;
    let dims = [lhs, rhs].map(|own| e.dims(own));
    let terms = dims[0].last().copied().and_then(Dim::fixed);
    let is_known = terms.is_some() || left.is_none() || right.is_none();
    let Some(batch) = batches(&dims[0], &dims[1]).filter(|_| is_known) else {
        let lhs = centred(e, lhs, left)?;
        let rhs = centred(e, rhs, right)?;
        return product(e, lhs, rhs);
    };
    let paired: Vec<i64> = (0..batch as i64).collect();
    let (row, column) = ([dims[0].len() as i64 - 1], [batch as i64]);
    let own = DotGeneral::with()
        .lhs_batch(&paired)
        .rhs_batch(&paired)
        .lhs_contract(&row)
        .rhs_contract(&column)
        .dtype(SumType::I32);
    let mut own = own.build(e, lhs, rhs)?;
    // The sum of (x - a) (y - b) is that of x y, less b times that of x, less a times that of y - b.
    if let Some(zero) = right {
        let zero = e.convert(zero, DType::I32)?;
        let sums = sums(e, lhs, &row)?;
        own = less_product(e, own, [sums, zero])?;
    }
    if let Some(zero) = left {
        let zero = e.convert(zero, DType::I32)?;
        let mut sums = sums(e, rhs, &column)?;
        if let Some((right, terms)) = right.zip(terms) {
            let right = e.convert(right, DType::I32)?;
            let terms = e.number(DType::I32, terms as f64);
            sums = less_product(e, sums, [right, terms])?;
        }
        own = less_product(e, own, [sums, zero])?;
    }
    Ok(own)
}

/// The convolution of bytes, of those of the image less a zero point, exactly, in `i32`. Padding stands for the zero
/// point.
pub(super) fn integer_convolution(
    n: &mut Node<'_, '_, '_>,
    [x, filter]: [ValueId; 2],
    zero: Option<ValueId>,
) -> One {
    let taps = n.e.shape(filter)?.get(2..).unwrap_or_default().to_vec();
    let geometry = Geometry::of(n, x, &taps)?;
    let groups = n.int("group")?.unwrap_or(1);
    let pads = geometry.pads();
    let conv = Conv::with()
        .layout(Layout::Nchw)
        .strides(&geometry.strides)
        .dilations(&geometry.dilations)
        .groups(groups)
        .dtype(SumType::I32);
    let e = &mut n.e;
    let Some(zero) = zero else {
        return Ok(conv.pads(&pads).build(e, x, filter)?);
    };
    let margins = |own: &[i64]| [&[0, 0], own].concat();
    let (low, high) = pads.split_at(taps.len());
    let padded = if pads.iter().all(|&own| own == 0) {
        x
    } else {
        PadOp::with(&margins(low), &margins(high)).build(e, x, Some(zero))?
    };
    let own = conv.build(e, padded, filter)?;
    let axes: Vec<i64> = (1..e.rank(filter) as i64).collect();
    let wide = e.convert(filter, DType::I32)?;
    let sums = Sum::with().axes(&axes).build(e, wide)?;
    let sums = e.per_channel(sums, e.rank(own))?;
    let zero = e.convert(zero, DType::I32)?;
    less_product(e, own, [sums, zero])
}

/// The sums of the bytes along axes that are kept.
fn sums(e: &mut Emit<'_>, bytes: ValueId, axes: &[i64]) -> One {
    let wide = e.convert(bytes, DType::I32)?;
    Ok(Sum::with().axes(axes).keepdims(true).build(e, wide)?)
}

/// `x - y z`.
fn less_product(e: &mut Emit<'_>, x: ValueId, factors: [ValueId; 2]) -> One {
    let product = e.apply(ScalarFn::Mul, &factors)?;
    e.apply(ScalarFn::Sub, &[x, product])
}

/// A list as a column; one of one element as a number.
fn column(e: &mut Emit<'_>, list: ValueId) -> One {
    match e.extent(list, 0)? {
        1 => e.reshape_to(list, &[]),
        rows => e.reshape_to(list, &[rows, 1]),
    }
}

/// `x - zero` in `i32`.
pub(super) fn centred(e: &mut Emit<'_>, x: ValueId, zero: Option<ValueId>) -> One {
    let wide = e.convert(x, DType::I32)?;
    let Some(zero) = zero else { return Ok(wide) };
    let zero = e.convert(zero, DType::I32)?;
    e.apply(ScalarFn::Sub, &[wide, zero])
}
