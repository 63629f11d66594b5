//! Convolutions, in the closest layout of core.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::convolution::{Conv, ConvTranspose, Layout, SumType};
use mind_core::ops::pad::PadOp;
use mind_core::ops::shape::Reverse;
use mind_ir::ValueId;

use super::Row;
use super::contract::{hints, sum_type};
use crate::import::emit::One;
use crate::import::node::Node;
use crate::text::Attr;

pub(super) const ROWS: &[Row] = &[Row::one("stablehlo.convolution", convolution)];

/// Positions of the dimensions of a tensor: two non-spatial ones, then the spatial ones.
struct Dims {
    first: usize,
    second: usize,
    spatial: Vec<usize>,
}

impl Dims {
    /// Returns the positions in the order batch or output, channels or input, spatial; `names` has the letters of the
    /// first two.
    fn parse(text: &str, names: [&str; 2]) -> Option<Dims> {
        let inside = text.trim().strip_prefix('[')?.strip_suffix(']')?;
        let list: Vec<&str> = inside.split(',').map(str::trim).collect();
        let find = |name: &str| list.iter().position(|own| *own == name);
        let spatial = (0..list.len().checked_sub(2)?).map(|at| find(&at.to_string()));
        Some(Dims {
            first: find(names[0])?,
            second: find(names[1])?,
            spatial: spatial.collect::<Option<_>>()?,
        })
    }

    fn channels_last(&self) -> Vec<usize> {
        let mut order = vec![self.first];
        order.extend(&self.spatial);
        order.push(self.second);
        order
    }

    fn channels_first(&self) -> Vec<usize> {
        let mut order = vec![self.first, self.second];
        order.extend(&self.spatial);
        order
    }

    /// Returns the permutation of a filter to spatial dimensions, input, output.
    fn filter_last(&self) -> Vec<usize> {
        let mut order = self.spatial.clone();
        order.extend([self.second, self.first]);
        order
    }
}

/// Parses `[b, 0, f]x[0, i, o]->[b, 0, f]`.
fn dimension_numbers(n: &Node<'_, '_, '_>) -> Result<[Dims; 3], Refusal> {
    let expected = "`[..]x[..]->[..]`, for example `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`";
    let text = match n.attr(&["dimension_numbers"]) {
        Some(Attr::Raw(text)) => *text,
        Some(other) => {
            let found = other.describe();
            return Err(Refusal::value("dimension_numbers", found, expected));
        }
        None => return Err(Refusal::missing("dimension_numbers")),
    };
    let parsed = || {
        let (operands, result) = text.split_once("->")?;
        let (input, filter) = operands.split_once(']')?;
        let filter = filter.trim().strip_prefix('x')?;
        Some([
            Dims::parse(&format!("{input}]"), ["b", "f"])?,
            Dims::parse(filter, ["o", "i"])?,
            Dims::parse(result, ["b", "f"])?,
        ])
    };
    parsed().ok_or_else(|| Refusal::value("dimension_numbers", format_args!("`{text}`"), expected))
}

/// Window parameters, with one entry for each spatial dimension.
struct Window {
    strides: Vec<i64>,
    low: Vec<i64>,
    high: Vec<i64>,
    /// Dilations of the input and of the filter.
    apart: Vec<i64>,
    dilations: Vec<i64>,
    reversed: Vec<i64>,
}

/// Returns the window from the pretty form or from attributes.
fn window(n: &Node<'_, '_, '_>, spatial: usize) -> Result<Window, Refusal> {
    let names = [
        ("stride", "window_strides"),
        ("pad", "padding"),
        ("lhs_dilate", "lhs_dilation"),
        ("rhs_dilate", "rhs_dilation"),
        ("reverse", "window_reversal"),
    ];
    let fields = match n.attr(&["window"]) {
        Some(_) => Some(n.fields(&["window"])?),
        None => None,
    };
    if let Some(fields) = fields {
        fields.check(&names.map(|(short, _)| short))?;
    }
    let get = |at: usize, default: i64, count: usize| -> Result<Vec<i64>, Refusal> {
        let (short, long) = names[at];
        let own = match fields {
            Some(fields) => fields.optional_ints(short)?,
            None => n.optional_ints(&[long])?,
        };
        let own = own.unwrap_or_else(|| vec![default; count]);
        match own.len() == count {
            true => Ok(own),
            false => {
                let reason = format!(
                    "{} for each of {spatial} spatial dimensions",
                    count / spatial.max(1)
                );
                Err(Refusal::length(short, own.len(), count, reason))
            }
        }
    };
    let pads = get(1, 0, 2 * spatial)?;
    let window = Window {
        strides: get(0, 1, spatial)?,
        low: pads.iter().copied().step_by(2).collect(),
        high: pads.iter().copied().skip(1).step_by(2).collect(),
        apart: get(2, 1, spatial)?,
        dilations: get(3, 1, spatial)?,
        reversed: get(4, 0, spatial)?,
    };
    if window.apart.iter().any(|own| *own < 1) {
        let found = format!("{:?}", window.apart);
        return Err(Refusal::value("lhs_dilate", found, "positive numbers"));
    }
    Ok(window)
}

fn convolution(n: &mut Node<'_, '_, '_>) -> One {
    hints(n)?;
    n.count(2)?;
    let batch_groups = n.optional_int(&["batch_group_count"])?.unwrap_or(1);
    if batch_groups != 1 {
        return Err(Refusal::value("batch_group_count", batch_groups, 1)
            .help("it is a gradient: lower the function itself, not its derivative"));
    }
    let groups = n.optional_int(&["feature_group_count"])?.unwrap_or(1);
    let [input, filter, result] = dimension_numbers(n)?;
    let (x, w) = (n.input(0)?, n.input(1)?);
    let spatial = input.spatial.len();
    for own in [&filter, &result] {
        if own.spatial.len() != spatial {
            let found = format!("{} and {spatial} spatial dimensions", own.spatial.len());
            return Err(Refusal::parts(
                "`dimension_numbers`",
                found,
                "as many in each part",
            ));
        }
    }
    for (at, value) in [x, w].into_iter().enumerate() {
        if n.e.rank(value) != spatial + 2 {
            let expected = format!("{}, as `dimension_numbers` says", spatial + 2);
            let ty = n.e.g().type_text(value);
            return Err(Refusal::rank(n.operand(at), ty, expected));
        }
    }
    let mut window = window(n, spatial)?;
    let sum = sum_type(n)?;
    let is_plain = |order: &[usize]| order.iter().copied().eq(0..spatial + 2);
    let is_first = is_plain(&input.channels_first()) && is_plain(&filter.channels_first());
    let (layout, input, filter, result) = match is_first {
        true => (
            Layout::Nchw,
            input.channels_first(),
            filter.channels_first(),
            result.channels_first(),
        ),
        false => (
            Layout::Nhwc,
            input.channels_last(),
            filter.filter_last(),
            result.channels_last(),
        ),
    };
    let mut x = n.e.permute(x, &input)?;
    let mut w = n.e.permute(w, &filter)?;
    // The first spatial dimension of images and of filters.
    let (of_image, of_filter) = match layout {
        Layout::Nchw => (2, 2),
        Layout::Nhwc => (1, 0),
    };
    let reversed = (0..spatial).filter(|&at| window.reversed[at] != 0);
    let reversed: Vec<i64> = reversed.map(|at| (at + of_filter) as i64).collect();
    if !reversed.is_empty() {
        w = Reverse::with(&reversed).build(&mut n.e, w)?;
    }
    let is_apart = window.apart.iter().any(|own| *own != 1);
    let is_negative = window.low.iter().chain(&window.high).any(|own| *own < 0);
    let plain_strides = window.strides.iter().all(|own| *own == 1);
    let is_plain_sum = sum == SumType::Same;
    let may_turn = is_apart && plain_strides && groups == 1 && is_plain_sum;
    let own = if may_turn && layout == Layout::Nhwc {
        backwards(n, x, w, &window)?
    } else {
        None
    };
    let own = match own {
        Some(own) => own,
        None => {
            if is_apart || is_negative {
                x = padded(n, x, &mut window, of_image)?;
            }
            let pads = [&window.low[..], &window.high[..]].concat();
            Conv::with()
                .layout(layout)
                .strides(&window.strides)
                .dilations(&window.dilations)
                .pads(&pads)
                .groups(groups)
                .dtype(sum)
                .build(&mut n.e, x, w)?
        }
    };
    // `result` is the position of each core dimension in the text's result.
    let mut back = vec![0; result.len()];
    for (at, &place) in result.iter().enumerate() {
        back[place] = at;
    }
    n.e.permute(own, &back)
}

/// Applies the input dilation and the negative padding of `window`, and sets the negative padding to 0.
fn padded(n: &mut Node<'_, '_, '_>, x: ValueId, window: &mut Window, first: usize) -> One {
    let rank = n.e.rank(x);
    let (mut low, mut high, mut interior) = (vec![0; rank], vec![0; rank], vec![0; rank]);
    for at in 0..window.low.len() {
        interior[first + at] = window.apart[at] - 1;
        low[first + at] = window.low[at].min(0);
        high[first + at] = window.high[at].min(0);
        window.low[at] = window.low[at].max(0);
        window.high[at] = window.high[at].max(0);
    }
    Ok(PadOp::with(&low, &high)
        .interior(&interior)
        .build(&mut n.e, x, None)?)
}

/// Returns a convolution with input dilation as a transposed convolution with the filter reversed; `None` if the
/// padding does not allow it.
fn backwards(
    n: &mut Node<'_, '_, '_>,
    x: ValueId,
    w: ValueId,
    window: &Window,
) -> Result<Option<ValueId>, Refusal> {
    let spatial = window.low.len();
    let dims = n.e.dims(w);
    let (mut low, mut high, mut more) = (Vec::new(), Vec::new(), Vec::new());
    for (at, dim) in dims.iter().take(spatial).enumerate() {
        let Some(taps) = dim.fixed() else {
            return Ok(None);
        };
        let reach = (taps - 1).checked_mul(window.dilations[at]);
        let before = reach.and_then(|reach| reach.checked_sub(window.low[at]));
        let after = reach.and_then(|reach| reach.checked_sub(window.high[at]));
        let (Some(before), Some(after)) = (before, after) else {
            return Ok(None);
        };
        if before < 0 {
            return Ok(None);
        }
        low.push(before);
        high.push(after.max(0));
        more.push(after.min(0).saturating_neg());
    }
    let all: Vec<i64> = (0..spatial as i64).collect();
    let turned = Reverse::with(&all).build(&mut n.e, w)?;
    // Filters of a transposed convolution have the channels of the input last.
    let mut order: Vec<usize> = (0..spatial).collect();
    order.extend([spatial + 1, spatial]);
    let turned = n.e.permute(turned, &order)?;
    let pads = [low, high].concat();
    let own = ConvTranspose::with()
        .layout(Layout::Nhwc)
        .strides(&window.apart)
        .dilations(&window.dilations)
        .pads(&pads)
        .output_padding(&more)
        .build(&mut n.e, x, turned)?;
    Ok(Some(own))
}
