//! Convolutions and pooling.

use mind_ir::types::{Dim, Shape};
use mind_ir::verify::{InferManyResult, VerifyError};

use super::rule::{agree, declared, mapped, positive, rank, typed};
use crate::call::{ArgState, Call};

/// Geometry of a window along one dimension.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Extent of the window, including dilation.
    pub reach: i64,
    /// Step from one window to the next.
    pub stride: i64,
    /// Step between two positions of the window.
    pub dilation: i64,
    /// Number of positions of the window.
    pub kernel: i64,
    /// Padding before and after.
    pub pads: [i64; 2],
}

impl Axis {
    /// Returns the positions that a transposed convolution crops at the front, if `extent` positions give `out`.
    pub fn cut(&self, pad_type: &str, extent: i64, out: i64) -> i64 {
        if pad_type == "custom" {
            return self.pads[0];
        }
        let off = ((extent - 1) * self.stride + self.reach - out).max(0);
        match pad_type {
            "same_lower" => off - off / 2,
            _ => off / 2,
        }
    }
}

/// Geometry of the windows of a convolution or a pool.
#[derive(Clone, Debug)]
pub struct Windows {
    /// One entry per spatial dimension.
    pub axes: Vec<Axis>,
    /// Whether a last, partial window is included.
    pub ceil: bool,
}

const PAD_TYPES: [&str; 4] = ["valid", "custom", "same", "same_lower"];

impl Windows {
    /// Returns the geometry of the windows of `call` over `extents`, with a kernel of `kernel` positions.
    ///
    /// # Errors
    ///
    /// Returns E4010 for invalid strides, dilations or pads, E4108 for an invalid word and E4109 for a list of another
    /// length.
    pub fn of(
        call: &Call<'_>,
        kernel: &[i64],
        extents: &[Dim],
    ) -> Result<Windows, Box<VerifyError>> {
        let list = |name: &'static str, each: i64| -> Result<Vec<i64>, Box<VerifyError>> {
            let entries = match call.ints(name) {
                ArgState::Known(entries) => entries,
                _ => vec![each; kernel.len()],
            };
            call.length(name, entries.len(), kernel.len())?;
            match entries
                .iter()
                .find(|&&entry| !(1..=1 << 20).contains(&entry))
            {
                Some(entry) => Err(call.refused(name, &entry.to_string(), "positive")),
                None => Ok(entries),
            }
        };
        let (strides, dilations) = (list("strides", 1)?, list("dilations", 1)?);
        let pad_type = match call.word("pad_type") {
            "" => "valid",
            _ => call.one_of("pad_type", &PAD_TYPES)?,
        };
        let pads = match (pad_type, call.ints("pad")) {
            ("custom", ArgState::Known(pads)) => {
                call.length("pad", pads.len(), 2 * kernel.len())?;
                pads
            }
            ("valid", ArgState::Known(pads)) if pads.iter().any(|&pad| pad != 0) => {
                let found = format!("{pads:?} with `pad_type` of valid");
                return Err(call.refused("pad", &found, "left out, or `pad_type` is custom"));
            }
            _ => vec![0; 2 * kernel.len()],
        };
        if let Some(pad) = pads.iter().find(|&&pad| !(0..=1 << 20).contains(&pad)) {
            return Err(call.refused("pad", &pad.to_string(), "not negative"));
        }
        let axis = |at: usize| {
            let (kernel, stride, dilation) = (kernel[at], strides[at], dilations[at]);
            let reach = (kernel - 1).saturating_mul(dilation).saturating_add(1);
            let extent = extents[at].fixed().unwrap_or(1);
            let same = || {
                (stride * (extent + stride - 1).div_euclid(stride) - extent + reach - stride).max(0)
            };
            let pads = match pad_type {
                "same" => [same() / 2, same() - same() / 2],
                "same_lower" => [same() - same() / 2, same() / 2],
                _ => [pads[2 * at], pads[2 * at + 1]],
            };
            Axis {
                reach,
                stride,
                dilation,
                kernel,
                pads,
            }
        };
        let axes = (0..kernel.len()).map(axis).collect();
        Ok(Windows {
            axes,
            ceil: call.flag("ceil_mode"),
        })
    }

    /// Returns the number of windows along each dimension.
    pub fn counts(&self, extents: &[Dim]) -> Shape {
        let pairs = self.axes.iter().zip(extents);
        let count = |(axis, &extent): (&Axis, &Dim)| {
            mapped(extent, |extent| {
                let padded = extent + axis.pads[0] + axis.pads[1];
                let room = padded - axis.reach;
                if room < 0 {
                    return Some(0);
                }
                let floor = room / axis.stride + 1;
                if !self.ceil {
                    return Some(floor);
                }
                let ceil = (room + axis.stride - 1) / axis.stride + 1;
                let beyond = (ceil - 1) * axis.stride >= extent + axis.pads[0];
                Some(ceil - i64::from(beyond && axis.pads[0] + axis.pads[1] > 0))
            })
        };
        pairs.map(count).collect()
    }
}

/// Convolves `[N, C, ..]` with a `weight` of `[O, C / groups, ..]`.
pub(crate) fn conv(call: &Call<'_>) -> InferManyResult {
    rank(call, "x", 3..=5)?;
    let x = call.ty("x");
    rank(call, "weight", x.rank()..=x.rank())?;
    let weight = call.ty("weight");
    let groups = groups(call)?;
    let inner = mapped(x.shape[1], |channels| {
        (channels % groups == 0).then_some(channels / groups)
    });
    if inner == Dim::Dynamic && x.shape[1] != Dim::Dynamic {
        return Err(call.refused(
            "groups",
            &groups.to_string(),
            "a divisor of the input channels",
        ));
    }
    agree(
        call,
        "`weight` at dimension 1, the channels of a group",
        inner,
        weight.shape[1],
    )?;
    if weight.shape[0].fixed().is_some_and(|out| out % groups != 0) {
        return Err(call.refused(
            "groups",
            &groups.to_string(),
            "a divisor of the output channels",
        ));
    }
    bias(call, weight.shape[0])?;
    let kernel: Option<Vec<i64>> = weight.shape[2..].iter().map(|dim| dim.fixed()).collect();
    let Some(kernel) = kernel else {
        return declared(call);
    };
    let windows = Windows::of(call, &kernel, &x.shape[2..])?;
    let mut shape: Shape = [x.shape[0], weight.shape[0]].into_iter().collect();
    shape.extend(windows.counts(&x.shape[2..]));
    positive(call, &shape)?;
    typed(x.dtype, shape)
}

fn groups(call: &Call<'_>) -> Result<i64, Box<VerifyError>> {
    match call.int("groups").unwrap_or(1) {
        groups @ 1.. => Ok(groups),
        other => Err(call.refused("groups", &other.to_string(), "positive")),
    }
}

fn bias(call: &Call<'_>, out: Dim) -> Result<(), Box<VerifyError>> {
    if call.value("bias").is_some() {
        rank(call, "bias", 1..=1)?;
        agree(
            call,
            "`bias` and the output channels",
            out,
            call.ty("bias").shape[0],
        )?;
    }
    Ok(())
}

/// Transposed convolution of `[N, C, ..]` with a `weight` of `[C, O / groups, ..]`.
pub(crate) fn conv_transpose(call: &Call<'_>) -> InferManyResult {
    rank(call, "x", 3..=5)?;
    let x = call.ty("x");
    rank(call, "weight", x.rank()..=x.rank())?;
    let weight = call.ty("weight");
    let groups = groups(call)?;
    agree(
        call,
        "`weight` at dimension 0, the input channels",
        x.shape[1],
        weight.shape[0],
    )?;
    let out = mapped(weight.shape[1], |out| out.checked_mul(groups));
    bias(call, out)?;
    if let ArgState::Known(shape) = call.ints("output_shape") {
        call.length("output_shape", shape.len(), x.rank())?;
        return typed(x.dtype, shape.into_iter().map(Dim::Fixed).collect());
    }
    let kernel: Option<Vec<i64>> = weight.shape[2..].iter().map(|dim| dim.fixed()).collect();
    let Some(kernel) = kernel else {
        return declared(call);
    };
    let windows = Windows::of(call, &kernel, &x.shape[2..])?;
    let same = call.word("pad_type").starts_with("same");
    let mut shape: Shape = [x.shape[0], out].into_iter().collect();
    for (axis, &extent) in windows.axes.iter().zip(&x.shape[2..]) {
        shape.push(mapped(extent, |extent| {
            if same {
                extent.checked_mul(axis.stride)
            } else {
                Some((extent - 1) * axis.stride + axis.reach - axis.pads[0] - axis.pads[1])
            }
        }));
    }
    positive(call, &shape)?;
    typed(x.dtype, shape)
}

/// Windows of `kernel_sizes` positions.
pub(crate) fn pool(call: &Call<'_>) -> InferManyResult {
    rank(call, "x", 3..=5)?;
    let x = call.ty("x");
    let ArgState::Known(kernel) = call.ints("kernel_sizes") else {
        return declared(call);
    };
    call.length("kernel_sizes", kernel.len(), x.rank() - 2)?;
    if let Some(size) = kernel.iter().find(|&&size| !(1..=1 << 20).contains(&size)) {
        return Err(call.refused("kernel_sizes", &size.to_string(), "positive"));
    }
    let windows = Windows::of(call, &kernel, &x.shape[2..])?;
    let word = call.word("pad_type");
    if windows.ceil && word.starts_with("same") {
        return Err(call.refused("ceil_mode", "true", "false where `pad_type` is same"));
    }
    if let Some(axis) = windows
        .axes
        .iter()
        .find(|axis| axis.pads.iter().any(|&pad| pad >= axis.kernel))
    {
        let found = format!("{:?} at a kernel of {}", axis.pads, axis.kernel);
        return Err(call.refused("pad", &found, "less than the kernel"));
    }
    let mut shape: Shape = x.shape[..2].iter().copied().collect();
    shape.extend(windows.counts(&x.shape[2..]));
    positive(call, &shape)?;
    typed(x.dtype, shape)
}
