//! Imports pools, and the windows of pools and convolutions.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::pad::PadOp;
use mind_core::ops::reduce::{Max, Mean};
use mind_core::ops::window::{ArgMaxWindow, ReduceWindow};
use mind_ir::ValueId;
use mind_ir::scalar::{Reduction, ScalarFn};

use super::{Many, Operator};
use crate::import::emit::{Emit, One};
use crate::import::node::Node;

pub(super) const ROWS: &[Operator] = &[
    Operator::many("MaxPool", &[1, 8, 10, 11, 12, 22], max_pool),
    Operator::one("AveragePool", &[1, 7, 10, 11, 19, 22], average_pool),
    Operator::one("LpPool", &[1, 2, 11, 18, 22], lp_pool),
    Operator::one("GlobalMaxPool", &[1, 22], |n| {
        let (x, axes) = spatial(n)?;
        Ok(Max::with().axes(&axes).keepdims(true).build(&mut n.e, x)?)
    }),
    Operator::one("GlobalAveragePool", &[1, 22], |n| {
        let (x, axes) = spatial(n)?;
        Ok(Mean::with().axes(&axes).keepdims(true).build(&mut n.e, x)?)
    }),
];

/// Returns the input and its spatial axes.
fn spatial(n: &mut Node<'_, '_, '_>) -> Result<(ValueId, Vec<i64>), Refusal> {
    let x = n.input(0)?;
    Ok((x, (2..n.e.rank(x) as i64).collect()))
}

/// The values of `auto_pad`.
pub(super) const AUTO_PADS: &[&str] = &["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"];

/// Returns an attribute with one entry for each spatial dimension, all `default` if it is missing.
///
/// # Errors
///
/// A list of another length.
pub(super) fn spatial_list(
    n: &Node<'_, '_, '_>,
    name: &'static str,
    spatial: usize,
    default: i64,
) -> Result<Vec<i64>, Refusal> {
    let Some(list) = n.ints(name)? else {
        return Ok(vec![default; spatial]);
    };
    if list.len() != spatial {
        let reason = format!("1 for each of {spatial} spatial dimensions");
        return Err(Refusal::length(name, list.len(), spatial, reason));
    }
    Ok(list.to_vec())
}

/// Returns the attribute `pads`: those at the begin of each spatial dimension, then those at the end of each.
///
/// # Errors
///
/// A list of another length.
pub(super) fn spatial_pads(
    n: &Node<'_, '_, '_>,
    spatial: usize,
) -> Result<Option<Vec<i64>>, Refusal> {
    let Some(list) = n.ints("pads")? else {
        return Ok(None);
    };
    if list.len() != 2 * spatial {
        let reason = format!("begin and end for each of {spatial} spatial dimensions");
        return Err(Refusal::length("pads", list.len(), 2 * spatial, reason));
    }
    Ok(Some(list.to_vec()))
}

/// Sliding windows along the spatial dimensions of `[N, C, ..]`.
pub(super) struct Geometry {
    pub window: Vec<i64>,
    pub strides: Vec<i64>,
    pub dilations: Vec<i64>,
    low: Vec<i64>,
    high: Vec<i64>,
}

impl Geometry {
    /// Returns the windows of a node, with `taps` elements along each dimension.
    pub fn of(n: &Node<'_, '_, '_>, x: ValueId, taps: &[i64]) -> Result<Geometry, Refusal> {
        let spatial = taps.len();
        if let Some(own) = n.ints("kernel_shape")?
            && own != taps
        {
            let expected = format!("{taps:?}, the spatial extents of the filter");
            return Err(Refusal::value(
                "kernel_shape",
                format_args!("{own:?}"),
                expected,
            ));
        }
        if n.e.rank(x) != spatial + 2 {
            let expected = format!(
                "{} (batch, channels and {spatial} spatial dimensions)",
                spatial + 2
            );
            return Err(Refusal::rank(
                "the input".to_owned(),
                n.e.g().type_text(x),
                expected,
            ));
        }
        let strides = spatial_list(n, "strides", spatial, 1)?;
        let dilations = spatial_list(n, "dilations", spatial, 1)?;
        let pads = spatial_pads(n, spatial)?;
        let auto = n.word("auto_pad")?.unwrap_or("NOTSET");
        let lists = [
            ("kernel_shape", taps),
            ("strides", &strides),
            ("dilations", &dilations),
        ];
        for (name, list) in lists {
            if list.iter().any(|own| *own <= 0) {
                let found = format!("{list:?}");
                return Err(Refusal::value(name, found, "positive numbers"));
            }
        }
        let mut geometry = Geometry {
            window: taps.to_vec(),
            strides,
            dilations,
            low: vec![0; spatial],
            high: vec![0; spatial],
        };
        match (auto, &pads) {
            ("NOTSET", Some(pads)) => {
                geometry.low = pads[..spatial].to_vec();
                geometry.high = pads[spatial..].to_vec();
            }
            ("NOTSET", None) | ("VALID", _) => {}
            ("SAME_UPPER" | "SAME_LOWER", _) => {
                for at in 0..spatial {
                    let stride = geometry.strides[at];
                    let total = match stride {
                        1 => geometry.reach(at) - 1,
                        _ => {
                            let Some(extent) = n.e.dims(x)[2 + at].fixed() else {
                                geometry.same_of_any(n, x, at, auto)?;
                                continue;
                            };
                            let last = extent.saturating_add(stride - 1) / stride - 1;
                            let end = last.saturating_mul(stride);
                            let end = end.saturating_add(geometry.reach(at));
                            end.saturating_sub(extent).max(0)
                        }
                    };
                    let low = before(auto, total);
                    (geometry.low[at], geometry.high[at]) = (low, total - low);
                }
            }
            (other, _) => {
                return Err(Refusal::word("auto_pad", other, AUTO_PADS));
            }
        }
        Ok(geometry)
    }

    /// Returns the distance from the first to the last tap, plus one.
    fn reach(&self, at: usize) -> i64 {
        let last = (self.window[at] - 1).saturating_mul(self.dilations[at]);
        last.saturating_add(1)
    }

    /// Returns the padding at the begin of each spatial dimension, then at the end of each.
    pub fn pads(&self) -> Vec<i64> {
        [&self.low[..], &self.high].concat()
    }

    /// Returns the same windows without padding, for an input that is padded already.
    pub fn unpadded(self) -> Geometry {
        let none = vec![0; self.window.len()];
        Geometry {
            low: none.clone(),
            high: none,
            ..self
        }
    }

    /// Applies `auto` to a dimension of unknown extent, if the padding at the begin does not depend on the extent. The
    /// padding at the end is the largest possible one; it gives ⌈extent / stride⌉ windows for every extent.
    ///
    /// # Errors
    ///
    /// E4105 if the padding at the begin depends on the extent.
    fn same_of_any(
        &mut self,
        n: &Node<'_, '_, '_>,
        x: ValueId,
        at: usize,
        auto: &str,
    ) -> Result<(), Refusal> {
        let (stride, reach) = (self.strides[at], self.reach(at));
        // `short` is the difference between the extent and the next multiple of the stride.
        let total = |short: i64| short.saturating_add(reach).saturating_sub(stride).max(0);
        let (least, most) = (total(0), total(stride - 1));
        let low = before(auto, most);
        if before(auto, least) != low {
            let what = format!(
                "dimension {} of {}, on which the padding of \"{auto}\" with stride {stride} depends,",
                2 + at,
                n.e.g().type_text(x)
            );
            return Err(Refusal::not_constant(what, "is not known")
                .help("`--dim NAME=EXTENT` gives an extent of an input; or export the model with explicit `pads`"));
        }
        (self.low[at], self.high[at]) = (low, most - low);
        Ok(())
    }

    /// Extends the padding for `ceil_mode`, so that the last window that starts inside of the input or its begin
    /// padding is complete.
    fn raise(&mut self, n: &Node<'_, '_, '_>, x: ValueId) -> Result<(), Refusal> {
        for at in 0..self.window.len() {
            let (stride, reach) = (self.strides[at], self.reach(at));
            // If no window can start after the input for any extent, the padding that rounds up is valid for an unknown
            // extent as well.
            let raised = self.high[at].saturating_add(stride - 1);
            let Some(extent) = n.e.dims(x)[2 + at].fixed() else {
                if raised >= reach {
                    n.e.extent(x, 2 + at)?;
                }
                self.high[at] = raised;
                continue;
            };
            let inside = extent.saturating_add(self.low[at]);
            let room = inside.saturating_add(self.high[at]).saturating_sub(reach);
            let mut last = room.saturating_add(stride - 1).div_euclid(stride);
            if last.saturating_mul(stride) >= inside {
                last -= 1;
            }
            let end = last.saturating_mul(stride).saturating_add(reach);
            self.high[at] = end.saturating_sub(inside).max(self.high[at]);
        }
        Ok(())
    }

    /// Returns the windows with one entry for each dimension of the input.
    fn whole(&self) -> Whole {
        Whole {
            window: whole(&self.window, 1),
            strides: whole(&self.strides, 1),
            dilations: whole(&self.dilations, 1),
            low: whole(&self.low, 0),
            high: whole(&self.high, 0),
        }
    }
}

/// Returns the part of a padding that goes to the begin of a dimension.
fn before(auto: &str, total: i64) -> i64 {
    if auto == "SAME_UPPER" {
        total / 2
    } else {
        total - total / 2
    }
}

/// Sliding windows along all dimensions of `[N, C, ..]`.
struct Whole {
    window: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    low: Vec<i64>,
    high: Vec<i64>,
}

/// Returns a list of spatial dimensions with entries for batch and channels added.
fn whole(list: &[i64], outer: i64) -> Vec<i64> {
    [&[outer; 2], list].concat()
}

/// Returns the windows of a pool over `x`.
fn windows(n: &Node<'_, '_, '_>, x: ValueId) -> Result<Geometry, Refusal> {
    let taps = n
        .ints("kernel_shape")?
        .ok_or_else(|| Refusal::missing("kernel_shape"))?;
    Geometry::of(n, x, taps)
}

/// Reduces each window of `[N, C, ..]`.
pub(super) fn reduce_windows(
    e: &mut Emit<'_>,
    x: ValueId,
    geometry: &Geometry,
    kind: Reduction,
    counts_padding: bool,
) -> One {
    let own = geometry.whole();
    let pool = ReduceWindow::with(&own.window, kind)
        .strides(&own.strides)
        .dilations(&own.dilations)
        .low(&own.low)
        .high(&own.high);
    Ok(pool.count_padding(counts_padding).build(e, x)?)
}

fn max_pool(n: &mut Node<'_, '_, '_>) -> Many {
    let x = n.input(0)?;
    let mut geometry = windows(n, x)?;
    if n.flag("ceil_mode")? {
        geometry.raise(n, x)?;
    }
    let columns_first = n.flag("storage_order")?;
    let max = reduce_windows(&mut n.e, x, &geometry, Reduction::Max, false)?;
    if n.proto.output.len() < 2 {
        return Ok(vec![max]);
    }
    let own = geometry.whole();
    let place = ArgMaxWindow::with(&own.window)
        .strides(&own.strides)
        .dilations(&own.dilations)
        .low(&own.low)
        .high(&own.high);
    let place = place.build(&mut n.e, x)?;
    let place = if columns_first {
        by_columns(n, x, place)?
    } else {
        place
    };
    Ok(vec![max, place])
}

/// Converts positions in row-major images to column-major ones.
fn by_columns(n: &mut Node<'_, '_, '_>, x: ValueId, place: ValueId) -> One {
    let &[.., height, width] = &n.e.shape(x)?[..] else {
        return Err(Refusal::value(
            "storage_order",
            1,
            "0, because the input has no rows and columns",
        ));
    };
    let by = |n: &mut Node<'_, '_, '_>, function, x, number: i64| {
        n.e.apply_number(function, x, number as f64)
    };
    let column = by(n, ScalarFn::Remainder, place, width)?;
    let rows = by(n, ScalarFn::Div, place, width)?;
    let row = by(n, ScalarFn::Remainder, rows, height)?;
    let image = by(n, ScalarFn::Div, rows, height)?;
    let start = by(n, ScalarFn::Mul, image, height * width)?;
    let across = by(n, ScalarFn::Mul, column, height)?;
    let inside = n.e.apply(ScalarFn::Add, &[across, row])?;
    n.e.apply(ScalarFn::Add, &[start, inside])
}

fn average_pool(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    average_of(n, x)
}

/// Returns the averages of the windows of `x` that the attributes of a node describe.
pub(super) fn average_of(n: &mut Node<'_, '_, '_>, x: ValueId) -> One {
    let mut geometry = windows(n, x)?;
    let counts = n.flag("count_include_pad")?;
    let raises = n.flag("ceil_mode")?;
    if !raises {
        return reduce_windows(&mut n.e, x, &geometry, Reduction::Mean, counts);
    }
    if !counts {
        geometry.raise(n, x)?;
        return reduce_windows(&mut n.e, x, &geometry, Reduction::Mean, false);
    }
    // Explicit padding counts, but the padding added for `ceil_mode` does not.
    let (low, high) = (whole(&geometry.low, 0), whole(&geometry.high, 0));
    let (before, after) = (geometry.low.clone(), geometry.high.clone());
    geometry.raise(n, x)?;
    for at in 0..before.len() {
        geometry.low[at] -= before[at];
        geometry.high[at] -= after[at];
    }
    let padded = PadOp::with(&low, &high).build(&mut n.e, x, None)?;
    reduce_windows(&mut n.e, padded, &geometry, Reduction::Mean, false)
}

/// Imports an Lp pool: the p-th root of the sum of p-th powers.
fn lp_pool(n: &mut Node<'_, '_, '_>) -> One {
    let p = n.int("p")?.unwrap_or(2);
    let x = n.input(0)?;
    let mut geometry = windows(n, x)?;
    if n.flag("ceil_mode")? {
        geometry.raise(n, x)?;
    }
    let power = match p {
        2 => n.e.apply(ScalarFn::Mul, &[x, x])?,
        p => {
            let size = n.e.apply(ScalarFn::Abs, &[x])?;
            n.e.apply_number(ScalarFn::Pow, size, p as f64)?
        }
    };
    let sum = reduce_windows(&mut n.e, power, &geometry, Reduction::Sum, false)?;
    match p {
        2 => n.e.apply(ScalarFn::Sqrt, &[sum]),
        p => n.e.apply_number(ScalarFn::Pow, sum, 1.0 / p as f64),
    }
}
