//! Exports convolutions.

use mind_convert::Refusal;
use mind_core::ops::conv::Conv2d;
use mind_core::ops::convolution::{Conv, ConvTranspose, Convolve, Layout};
use mind_ir::ValueId;
use mind_ir::attr::Padding;
use mind_ir::opdef::Op;
use mind_ir::types::DType;

use super::super::draft::Val;
use super::super::emit::{Attrs, Emit, One};
use super::super::operator::{self as op, Operator};
use super::{Form, Row};

pub(super) const ROWS: &[Row] = &[
    (
        Conv2d::DEF,
        Form::One(|op, e| {
            let own = Conv2d::from_id(op);
            let (input, filter) = (own.input(e.g), own.filter(e.g));
            let attrs = attrs_of_2d(own, e);
            let layout = Layout::Nhwc;
            convolved(e, op::CONV, [input, filter, e.g.result(op)], layout, attrs)
        }),
    ),
    (
        Conv::DEF,
        Form::One(|op, e| {
            let own = Conv::from_id(op);
            let (input, filter) = (own.input(e.g), own.filter(e.g));
            let convolve = own.convolve(e.g)?;
            let (layout, attrs) = (convolve.layout, attrs(&convolve));
            convolved(e, op::CONV, [input, filter, e.g.result(op)], layout, attrs)
        }),
    ),
    (
        ConvTranspose::DEF,
        Form::One(|op, e| {
            let own = ConvTranspose::from_id(op);
            let (input, filter) = (own.input(e.g), own.filter(e.g));
            let convolve = own.convolve(e.g)?;
            let mut attrs = attrs(&convolve);
            if convolve.more.iter().any(|&more| more != 0) {
                attrs.push(("output_padding", convolve.more[..].into()));
            }
            let layout = convolve.layout;
            convolved(
                e,
                op::CONV_TRANSPOSE,
                [input, filter, e.g.result(op)],
                layout,
                attrs,
            )
        }),
    ),
];

/// Maximum number of products of 16-bit integers whose sum is exact in `f64`.
const EXACT_PRODUCTS: i64 = 1 << 20;

fn attrs(convolve: &Convolve) -> Attrs {
    let pads = [&convolve.low[..], &convolve.high].concat();
    vec![
        ("strides", convolve.strides[..].into()),
        ("dilations", convolve.dilations[..].into()),
        ("pads", pads[..].into()),
        ("group", convolve.groups.into()),
    ]
}

fn attrs_of_2d(op: Conv2d, e: &Emit<'_>) -> Attrs {
    let strides = op.strides(e.g);
    let (image, filter) = (e.dims(op.input(e.g)), e.dims(op.filter(e.g)));
    let mut attrs: Attrs = vec![("strides", strides.into())];
    match op.padding(e.g) {
        Padding::Valid => {}
        Padding::Custom(&[top, bottom, left, right]) => {
            attrs.push(("pads", [top, left, bottom, right][..].into()));
        }
        Padding::Same => {
            let (mut low, mut high) = (Vec::new(), Vec::new());
            for at in 0..2 {
                let (Some(extent), Some(taps)) = (image[1 + at].fixed(), filter[at].fixed()) else {
                    attrs.push(("auto_pad", "SAME_UPPER".into()));
                    return attrs;
                };
                let stride = strides[at];
                let reach = match extent % stride {
                    0 => stride,
                    rest => rest,
                };
                let total = (taps - reach).max(0);
                low.push(total / 2);
                high.push(total - total / 2);
            }
            attrs.push(("pads", [low, high].concat()[..].into()));
        }
    }
    attrs
}

/// Returns the permutations from layout `nhwc` to `nchw` of images and of filters, and the one from `nchw` back for
/// images.
fn permutations(rank: usize) -> [Vec<i64>; 3] {
    let rank = rank as i64;
    let image = [0, rank - 1].into_iter().chain(1..rank - 1);
    let filter = [rank - 1, rank - 2].into_iter().chain(0..rank - 2);
    let back = std::iter::once(0).chain(2..rank).chain([1]);
    [image.collect(), filter.collect(), back.collect()]
}

fn convolved(
    e: &mut Emit<'_>,
    operator: &'static Operator,
    [input, filter, result]: [ValueId; 3],
    layout: Layout,
    attrs: Attrs,
) -> One {
    let (image, taps) = (e.value(input), e.value(filter));
    let dtypes = [e.dtype(input), e.dtype(result)];
    let products = products(e, filter);
    if layout == Layout::Nchw {
        return products_of(e, operator, [image, taps], dtypes, products, attrs);
    }
    let [to, of_filter, back] = permutations(e.rank(input));
    let image = e.transpose(image, &to)?;
    let taps = e.transpose(taps, &of_filter)?;
    let own = products_of(e, operator, [image, taps], dtypes, products, attrs)?;
    e.transpose(own, &back)
}

/// Returns an upper bound on the number of products in each sum.
fn products(e: &Emit<'_>, filter: ValueId) -> Option<i64> {
    e.g.ty(filter).count()
}

/// Returns the convolution in layout `nchw`.
fn products_of(
    e: &mut Emit<'_>,
    operator: &'static Operator,
    operands: [Val; 2],
    [from, to]: [DType; 2],
    products: Option<i64>,
    attrs: Attrs,
) -> One {
    if to.is_float() {
        let operands = e.cast_all(&operands, from, to)?;
        return e.apply(operator, to, &operands, attrs);
    }
    let is_forward = std::ptr::eq(operator, op::CONV);
    if is_forward && to == DType::I32 && op::CONV_INTEGER.takes(from, e.opset) {
        return e.node(op::CONV_INTEGER, &operands, attrs);
    }
    if from.size() > 2 || products.is_none_or(|products| products > EXACT_PRODUCTS) {
        let name = operator.name;
        let expected = format!(
            "floats, or integers of 8 or 16 bits with sums that f64 holds, because `{name}` takes no integers"
        );
        return Err(Refusal::form("the dtype of its operands", from, expected));
    }
    let operands = e.cast_all(&operands, from, DType::F64)?;
    e.note_kernel(operator.name, DType::F64);
    let own = e.node(operator, &operands, attrs)?;
    let own = e.cast(own, DType::F64, DType::I64)?;
    e.cast(own, DType::I64, to)
}
