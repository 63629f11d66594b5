//! Imports integer products and convolutions, which are exact in `i32`, and products of dequantised tensors, which
//! become integer products times a scale.

use mind_convert::{EmitCore, Refusal};
use mind_core::elements_of;
use mind_core::ops::convolution::{Conv, Layout, SumType};
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::pad::PadOp;
use mind_core::ops::reduce::Sum;
use mind_ir::scalar::{Reduction, ScalarFn};
use mind_ir::types::{DType, Dim};
use mind_ir::{Graph, ValueId};

use super::contract::{conv, product};
use super::dequantised::{Dequantised, differences, integers};
use super::pool::{Geometry, reduce_windows};
use crate::import::emit::{Emit, One};
use crate::import::node::Node;

/// Maximum number of products of byte differences whose sum cannot overflow `i32`.
const MOST_TERMS: i64 = i32::MAX as i64 / (255 * 255);

/// Returns a matrix product, as a product of bytes if both operands are dequantised.
pub(super) fn matrix_product(n: &mut Node<'_, '_, '_>, lhs: ValueId, rhs: ValueId) -> One {
    if !n.importer.options.keeps_dequantized
        && let Some(own) = product_of_bytes(&mut n.e, [lhs, rhs])?
    {
        return Ok(own);
    }
    product(&mut n.e, lhs, rhs)
}

/// Returns a convolution, as a convolution of bytes if image and filter are dequantised.
pub(super) fn convolution(n: &mut Node<'_, '_, '_>, x: ValueId, filter: ValueId) -> One {
    if !n.importer.options.keeps_dequantized
        && let Some(own) = convolution_of_bytes(n, [x, filter])?
    {
        return Ok(own);
    }
    conv(n, x, filter)
}

fn product_of_bytes(e: &mut Emit<'_>, operands: [ValueId; 2]) -> Result<Option<ValueId>, Refusal> {
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
) -> Result<Option<ValueId>, Refusal> {
    let [Some(x), Some(filter)] = operands.map(|own| Dequantised::of(n.e.g(), own)) else {
        return Ok(None);
    };
    let taps = n.e.dims(operands[1]).into_iter().skip(1);
    let terms = taps
        .map(Dim::fixed)
        .try_fold(1i64, |all, own| all.checked_mul(own?));
    let is_short = terms.is_some_and(|terms| terms <= MOST_TERMS);
    let by_filter = filter.axis.is_none_or(|axis| axis == 0);
    let fits = is_short && x.axis.is_none() && by_filter;
    // Grouped convolutions have too few terms for integer instructions that add several products.
    if !fits || n.int("group")?.unwrap_or(1) != 1 || !scales_multiply(&x, &filter) {
        return Ok(None);
    }
    let (x, by_channel) = (x.bytes(&mut n.e)?, filter.axis.is_some());
    let filter = filter.bytes(&mut n.e)?;
    let own = integer_convolution(n, [x.value, filter.value], [x.zero, filter.zero])?;
    let e = &mut n.e;
    let mut scale = e.apply(ScalarFn::Mul, &[x.scale, filter.scale])?;
    if by_channel {
        scale = e.per_channel(scale, e.rank(own))?;
    }
    let own = e.convert(own, DType::F32)?;
    e.apply(ScalarFn::Mul, &[own, scale]).map(Some)
}

/// Returns whether all products of scales are normal numbers, which have full precision.
fn scales_multiply(lhs: &Dequantised, rhs: &Dequantised) -> bool {
    let pairs = lhs
        .scales
        .iter()
        .flat_map(|x| rhs.scales.iter().map(move |y| x * y));
    pairs.into_iter().all(f32::is_normal)
}

/// Returns the number of common batch dimensions of two stacks of matrices; `None` if they are not known to be equal.
/// It is 0 if the right side is a single matrix.
fn batches(left: &[Dim], right: &[Dim]) -> Option<usize> {
    let batch = right.len().checked_sub(2)?;
    if left.len() < 2 || batch == 0 {
        return (left.len() >= 2).then_some(batch);
    }
    let same = left.len() == right.len() && left[..batch] == right[..batch];
    (same && !left[..batch].contains(&Dim::Dynamic)).then_some(batch)
}

/// Returns the exact product of bytes minus their zero points in `i32`. A list of zero points has one for each row on
/// the left, or for each column on the right.
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
    let columns = e.rank(rhs).saturating_sub(1);
    let (rhs, right) = settled_bytes(e, rhs, right, columns)?;
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
    // `sum (x - a) (y - b) = sum x y - b sum x - a sum (y - b)`.
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

/// Returns the exact convolution of bytes minus their zero points in `i32`. A list on the right has a zero point for
/// each filter. Padding is the zero point of the image.
pub(super) fn integer_convolution(
    n: &mut Node<'_, '_, '_>,
    [x, filter]: [ValueId; 2],
    [left, right]: [Option<ValueId>; 2],
) -> One {
    let (filter, right) = settled_bytes(&mut n.e, filter, right, 0)?;
    let shape = n.e.shape(filter)?;
    let taps = shape.get(2..).unwrap_or_default();
    let mut geometry = Geometry::of(n, x, taps)?;
    let groups = n.int("group")?.unwrap_or(1);
    if right.is_some() && groups != 1 {
        return differences_convolved(n, [x, filter], [left, right]);
    }
    let (e, mut x) = (&mut n.e, x);
    let pads = geometry.pads();
    if let Some(zero) = left.filter(|_| pads.iter().any(|&own| own != 0)) {
        let (low, high) = pads.split_at(taps.len());
        let margins = |own: &[i64]| [&[0, 0], own].concat();
        x = PadOp::with(&margins(low), &margins(high)).build(e, x, Some(zero))?;
        geometry = geometry.unpadded();
    }
    let pads = geometry.pads();
    let conv = Conv::with()
        .layout(Layout::Nchw)
        .strides(&geometry.strides)
        .dilations(&geometry.dilations)
        .groups(groups)
        .pads(&pads);
    let mut own = conv.dtype(SumType::I32).build(e, x, filter)?;
    let rank = e.rank(own);
    // `sum (x - a) (y - b) = sum x y - b sum x - a sum (y - b)`.
    let right = match right {
        Some(zero) => {
            let zero = e.convert(zero, DType::I32)?;
            Some(e.per_channel(zero, rank)?)
        }
        None => None,
    };
    if let Some(zero) = right {
        let channels = sums(e, x, &[1])?;
        let sums = reduce_windows(e, channels, &geometry, Reduction::Sum, false)?;
        own = less_product(e, own, [sums, zero])?;
    }
    if let Some(zero) = left {
        let axes: Vec<i64> = (1..shape.len() as i64).collect();
        let wide = e.convert(filter, DType::I32)?;
        let sums = Sum::with().axes(&axes).build(e, wide)?;
        let mut sums = e.per_channel(sums, rank)?;
        if let Some(right) = right {
            let terms = shape[1..].iter().product::<i64>();
            let terms = e.number(DType::I32, terms as f64);
            sums = less_product(e, sums, [right, terms])?;
        }
        let zero = e.convert(zero, DType::I32)?;
        own = less_product(e, own, [sums, zero])?;
    }
    Ok(own)
}

/// Returns the convolution of [`integer_convolution`], with the zero points subtracted from each element first.
fn differences_convolved(
    n: &mut Node<'_, '_, '_>,
    [x, filter]: [ValueId; 2],
    [left, right]: [Option<ValueId>; 2],
) -> One {
    let rank = n.e.rank(filter);
    let right = match right {
        Some(list) if n.e.rank(list) == 1 => {
            let mut shape = n.e.dims(list);
            shape.resize(rank, Dim::Fixed(1));
            Some(n.e.reshape(list, &shape)?)
        }
        other => other,
    };
    let x = centred(&mut n.e, x, left)?;
    let filter = centred(&mut n.e, filter, right)?;
    conv(n, x, filter)
}

/// Returns the right side of a product, and the remaining zero point, of which a list has one for each slice along
/// `axis`. Constants become `i8`: the zero point is subtracted if the differences fit, otherwise bytes and zero points
/// are shifted.
fn settled_bytes(
    e: &mut Emit<'_>,
    bytes: ValueId,
    zero: Option<ValueId>,
    axis: usize,
) -> Result<(ValueId, Option<ValueId>), Refusal> {
    let Some((zero, zeros)) = zero.and_then(|own| Some((own, elements_of(e.g(), own)?))) else {
        return Ok((bytes, zero));
    };
    let list = integers(&zeros);
    if list.iter().all(|&own| own == 0) {
        return Ok((bytes, None));
    }
    let known = elements_of(e.g(), bytes).filter(|own| zeros.rank() <= 1 && own.rank() > axis);
    let Some(known) = known else {
        return Ok((bytes, Some(zero)));
    };
    let axis = (list.len() > 1).then_some(axis);
    if let Some(differences) = differences(&known, &list, axis) {
        return Ok((e.tensor(&differences), None));
    }
    let shift = vec![SIGN];
    if let [Some(bytes), Some(zeros)] = [&known, &zeros].map(|own| differences(own, &shift, None)) {
        return Ok((e.tensor(&bytes), Some(e.tensor(&zeros))));
    }
    Ok((bytes, Some(zero)))
}

/// Returns whether the zero points are known to be 0.
pub(super) fn is_zero(g: &Graph, zero: ValueId) -> bool {
    elements_of(g, zero).is_some_and(|own| integers(&own).iter().all(|&own| own == 0))
}

/// The difference between an unsigned byte and the `i8` that it is shifted to.
const SIGN: i64 = 128;

/// Returns the sums of bytes along axes, which are kept with extent 1.
fn sums(e: &mut Emit<'_>, bytes: ValueId, axes: &[i64]) -> One {
    let wide = e.convert(bytes, DType::I32)?;
    Ok(Sum::with().axes(axes).keepdims(true).build(e, wide)?)
}

/// Returns `x - y z`.
fn less_product(e: &mut Emit<'_>, x: ValueId, factors: [ValueId; 2]) -> One {
    let product = e.apply(ScalarFn::Mul, &factors)?;
    e.apply(ScalarFn::Sub, &[x, product])
}

/// Returns a list as a column; a list of one element as a scalar.
fn column(e: &mut Emit<'_>, list: ValueId) -> One {
    match e.extent(list, 0)? {
        1 => e.reshape_to(list, &[]),
        rows => e.reshape_to(list, &[rows, 1]),
    }
}

/// Returns `x - zero` in `i32`.
fn centred(e: &mut Emit<'_>, x: ValueId, zero: Option<ValueId>) -> One {
    let wide = e.convert(x, DType::I32)?;
    let Some(zero) = zero else { return Ok(wide) };
    let zero = e.convert(zero, DType::I32)?;
    e.apply(ScalarFn::Sub, &[wide, zero])
}
