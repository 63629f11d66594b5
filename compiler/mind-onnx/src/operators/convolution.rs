//! Convolutions.

use mind_core::ops::convolution::{ConvTranspose, Layout};
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;

use super::Operator;
use super::integers::{convolution, integer_convolution};
use super::quantize::optional_point;
use crate::import::emit::One;
use crate::import::node::Node;
use crate::refused::Refused;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("Conv", &[1, 11, 22], |n| {
        let (x, filter) = (n.input(0)?, n.input(1)?);
        let own = convolution(n, x, filter)?;
        biased(n, own)
    }),
    Operator::one("ConvInteger", &[10], |n| {
        let (x, filter) = (n.input(0)?, n.input(1)?);
        let (left, right) = (optional_point(n, 2)?, optional_point(n, 3)?);
        integer_convolution(n, [x, filter], [left, right])
    }),
    Operator::one("ConvTranspose", &[1, 11, 22], transposed),
];

/// `own` with the third input, a number for each channel.
pub(super) fn biased(n: &mut Node<'_, '_, '_>, own: ValueId) -> One {
    let Some(bias) = n.optional(2)? else {
        return Ok(own);
    };
    let bias = n.e.per_channel(bias, n.e.rank(own))?;
    n.e.apply(ScalarFn::Add, &[own, bias])
}

fn transposed(n: &mut Node<'_, '_, '_>) -> One {
    let (x, filter) = (n.input(0)?, n.input(1)?);
    let taps = n.e.shape(filter)?;
    let taps = taps.get(2..).unwrap_or_default().to_vec();
    if taps.is_empty() || n.e.rank(x) != taps.len() + 2 {
        return Err(Refused::new(
            "its filter has no spatial dimensions, or its image has others",
        ));
    }
    n.ignore("kernel_shape");
    let spatial = taps.len();
    let ones = vec![1; spatial];
    let strides = n.ints("strides")?.unwrap_or(&ones).to_vec();
    let dilations = n.ints("dilations")?.unwrap_or(&ones).to_vec();
    let mut more = n
        .ints("output_padding")?
        .map_or_else(|| vec![0; spatial], <[i64]>::to_vec);
    let groups = n.int("group")?.unwrap_or(1);
    let auto = n.word("auto_pad")?.unwrap_or("NOTSET");
    let wanted = n.ints("output_shape")?;
    let given = n.ints("pads")?;
    if [strides.len(), dilations.len(), more.len()] != [spatial; 3]
        || given.is_some_and(|pads| pads.len() != 2 * spatial)
        || wanted.is_some_and(|list| list.len() < spatial)
    {
        return Err(Refused::new(
            "a list has not one entry for each spatial dimension",
        ));
    }
    let mut pads = match (auto, given) {
        ("NOTSET", Some(pads)) => pads.to_vec(),
        ("NOTSET" | "VALID" | "SAME_UPPER" | "SAME_LOWER", _) => vec![0; 2 * spatial],
        (other, _) => {
            return Err(Refused::new(format!(
                "`auto_pad` \"{other}\" is not supported"
            )));
        }
    };
    let is_same = matches!(auto, "SAME_UPPER" | "SAME_LOWER");
    if wanted.is_some() || is_same {
        let shape = n.e.shape(x)?;
        for at in 0..spatial {
            let whole = |own: i64| i128::from(own);
            let (extent, stride) = (whole(shape[2 + at]), whole(strides[at]));
            let wanted = wanted.map_or(extent * stride, |list| {
                whole(list[list.len() - spatial + at])
            });
            let reach = whole(taps[at] - 1) * whole(dilations[at]) + 1;
            let total = (extent - 1) * stride + whole(more[at]) + reach - wanted;
            let total = i64::try_from(total).ok().filter(|total| *total != i64::MIN);
            let total = total.ok_or_else(|| Refused::new("its windows are too far apart"))?;
            if total < 0 {
                let longer = more[at].checked_sub(total);
                more[at] = longer.ok_or_else(|| Refused::new("its result is too large"))?;
            }
            let total = total.max(0);
            let low = if auto == "SAME_UPPER" {
                total / 2
            } else {
                total - total / 2
            };
            (pads[at], pads[at + spatial]) = (low, total - low);
        }
    }
    let conv = ConvTranspose::with()
        .layout(Layout::Nchw)
        .strides(&strides)
        .dilations(&dilations)
        .pads(&pads)
        .output_padding(&more)
        .groups(groups);
    let own = conv.build(&mut n.e, x, filter)?;
    biased(n, own)
}
