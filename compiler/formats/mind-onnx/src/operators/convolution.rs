//! Imports convolutions.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::convolution::{ConvTranspose, Layout};
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;

use super::Operator;
use super::integers::{convolution, integer_convolution};
use super::pool::{AUTO_PADS, spatial_list, spatial_pads};
use super::quantize::optional_point;
use crate::import::emit::One;
use crate::import::node::Node;

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

/// Adds the third input to `own`, one number per channel.
pub(super) fn biased(n: &mut Node<'_, '_, '_>, own: ValueId) -> One {
    let Some(bias) = n.optional(2)? else {
        return Ok(own);
    };
    let bias = n.e.per_channel(bias, n.e.rank(own))?;
    n.e.apply(ScalarFn::Add, &[own, bias])
}

/// Returns the refusal of strides or dilations whose result is out of range.
fn overflow(strides: &[i64], dilations: &[i64]) -> Refusal {
    let found = format!("that of strides {strides:?} and dilations {dilations:?}");
    Refusal::too_large("an extent of the result", found, "2^63 - 1")
}

fn transposed(n: &mut Node<'_, '_, '_>) -> One {
    let (x, filter) = (n.input(0)?, n.input(1)?);
    let taps = n.e.shape(filter)?;
    let taps = taps.get(2..).unwrap_or_default().to_vec();
    if taps.is_empty() || n.e.rank(x) != taps.len() + 2 {
        let expected = format!(
            "{} (that of the filter, at least 3)",
            (taps.len() + 2).max(3)
        );
        return Err(Refusal::rank(n.operand(0), n.e.g().type_text(x), expected));
    }
    n.ignore("kernel_shape");
    let spatial = taps.len();
    let strides = spatial_list(n, "strides", spatial, 1)?;
    let dilations = spatial_list(n, "dilations", spatial, 1)?;
    let mut more = spatial_list(n, "output_padding", spatial, 0)?;
    let groups = n.int("group")?.unwrap_or(1);
    let auto = n.word("auto_pad")?.unwrap_or("NOTSET");
    let wanted = n.ints("output_shape")?;
    let given = spatial_pads(n, spatial)?;
    if let Some(list) = wanted.filter(|list| list.len() < spatial) {
        let reason = "1 for each spatial dimension";
        return Err(Refusal::length("output_shape", list.len(), spatial, reason));
    }
    let mut pads = match (auto, given) {
        ("NOTSET", Some(pads)) => pads,
        ("NOTSET" | "VALID" | "SAME_UPPER" | "SAME_LOWER", _) => vec![0; 2 * spatial],
        (other, _) => {
            return Err(Refusal::word("auto_pad", other, AUTO_PADS));
        }
    };
    let is_same = matches!(auto, "SAME_UPPER" | "SAME_LOWER");
    if wanted.is_some() || is_same {
        for at in 0..spatial {
            let whole = |own: i64| i128::from(own);
            let stride = whole(strides[at]);
            let reach = whole(taps[at] - 1) * whole(dilations[at]) + 1;
            // By default the result has the extents of the input times the stride.
            let beyond = match wanted {
                Some(list) => {
                    let extent = whole(n.e.extent(x, 2 + at)?);
                    (extent - 1) * stride - whole(list[list.len() - spatial + at])
                }
                None => -stride,
            };
            let total = beyond + whole(more[at]) + reach;
            let total = i64::try_from(total).ok().filter(|total| *total != i64::MIN);
            let total = total.ok_or_else(|| overflow(&strides, &dilations))?;
            if total < 0 {
                let longer = more[at].checked_sub(total);
                more[at] = longer.ok_or_else(|| overflow(&strides, &dilations))?;
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
