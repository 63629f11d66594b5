//! Exports window reductions.

use mind_convert::Refusal;
use mind_core::ops::window::{ArgMaxWindow, ReduceWindow};
use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_ir::scalar::Reduction;
use mind_ir::types::{DType, Dim};

use super::super::draft::Val;
use super::super::emit::{Attrs, Emit, One};
use super::super::operator::{self as op, Operator};
use super::movement::padded;
use super::{Form, Row};

pub(super) const ROWS: &[Row] = &[
    (
        ReduceWindow::DEF,
        Form::One(|op, e| reduce_window(ReduceWindow::from_id(op), e)),
    ),
    (
        ArgMaxWindow::DEF,
        Form::One(|op, e| argmax_window(ArgMaxWindow::from_id(op), e)),
    ),
];

/// Maximum number of taps that are exported as slices.
const TAP_LIMIT: usize = 128;

/// A sliding window, with one entry for each dimension.
struct Windows {
    window: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    low: Vec<i64>,
    high: Vec<i64>,
}

impl Windows {
    fn new(window: &[i64], [strides, dilations, low, high]: [&[i64]; 4]) -> Windows {
        let filled = |list: &[i64], number: i64| match list {
            [] => vec![number; window.len()],
            list => list.to_vec(),
        };
        Windows {
            window: window.to_vec(),
            strides: filled(strides, 1),
            dilations: filled(dilations, 1),
            low: filled(low, 0),
            high: filled(high, 0),
        }
    }

    /// Returns whether the window has no effect on a dimension.
    fn is_unit(&self, at: usize) -> bool {
        let lists = [&self.window, &self.strides].map(|list| list[at]);
        lists == [1; 2] && [self.low[at], self.high[at]] == [0; 2]
    }

    /// Returns whether a pad is as long as the window, which the pools of runtimes do not support.
    fn is_far(&self) -> bool {
        (0..self.window.len())
            .any(|at| self.low[at].max(self.high[at]) >= self.window[at] && !self.is_unit(at))
    }

    fn is_dilated(&self) -> bool {
        (0..self.window.len()).any(|at| self.dilations[at] != 1 && self.window[at] != 1)
    }

    /// Returns the arrangement of the dimensions as batch, channels and one to three spatial ones. `still` is `None` if
    /// the shape already has this form; otherwise the dimensions must be permuted.
    fn arrangement(&self) -> Option<Arrangement> {
        let rank = self.window.len();
        let moving: Vec<usize> = (0..rank).filter(|&at| !self.is_unit(at)).collect();
        if (3..=5).contains(&rank) && moving.iter().all(|&at| at >= 2) {
            let spatial = (2..rank).collect();
            return Some(Arrangement {
                still: None,
                spatial,
            });
        }
        let still = (0..rank).filter(|at| !moving.contains(at)).collect();
        (1..=3).contains(&moving.len()).then_some(Arrangement {
            still: Some(still),
            spatial: moving,
        })
    }

    fn attrs(&self, spatial: &[usize]) -> Attrs {
        let list = |list: &[i64]| -> Vec<i64> { spatial.iter().map(|&at| list[at]).collect() };
        let pads = [list(&self.low), list(&self.high)].concat();
        let mut attrs: Attrs = vec![
            ("kernel_shape", list(&self.window)[..].into()),
            ("strides", list(&self.strides)[..].into()),
            ("pads", pads[..].into()),
        ];
        if self.is_dilated() {
            attrs.push(("dilations", list(&self.dilations)[..].into()));
        }
        attrs
    }
}

/// The spatial dimensions of a pool, and the dimensions that are moved in front of them if necessary.
struct Arrangement {
    still: Option<Vec<usize>>,
    spatial: Vec<usize>,
}

impl Arrangement {
    fn order(&self) -> Option<Vec<i64>> {
        let still = self.still.as_ref()?;
        let order = still.iter().chain(&self.spatial);
        Some(order.map(|&at| at as i64).collect())
    }

    /// Returns whether batch and channels are each one dimension of the input, so that the input need not be reshaped.
    fn is_permutation(&self) -> bool {
        self.still.as_ref().is_none_or(|still| still.len() == 2)
    }

    /// Returns `x` arranged as `[N, C, ..]`.
    fn arranged(&self, e: &mut Emit<'_>, x: Val, input: ValueId) -> One {
        let (Some(still), Some(order)) = (&self.still, self.order()) else {
            return Ok(x);
        };
        let moved = e.transpose(x, &order)?;
        if self.is_permutation() {
            return Ok(moved);
        }
        let shape = e.shape(input)?;
        let batch = still
            .iter()
            .try_fold(1i64, |all, &at| all.checked_mul(shape[at]))
            .ok_or_else(|| {
                Refusal::form("its input", e.g.type_text(input), "at most 2^63 - 1 images")
            })?;
        let spatial = self.spatial.iter().map(|&at| shape[at]);
        let target = [batch, 1].into_iter().chain(spatial).map(Dim::Fixed);
        e.reshaped(moved, &[], &target.collect::<Vec<Dim>>())
    }

    /// Returns the result of a pool in the arrangement of the original input.
    fn back(&self, e: &mut Emit<'_>, own: Val, result: ValueId) -> One {
        let Some(order) = self.order() else {
            return Ok(own);
        };
        let apart = if self.is_permutation() {
            own
        } else {
            let shape = e.dims(result);
            let target: Vec<Dim> = order.iter().map(|&at| shape[at as usize]).collect();
            e.reshaped(own, &[], &target)?
        };
        let mut back = vec![0; order.len()];
        for (at, &from) in order.iter().enumerate() {
            back[from as usize] = at as i64;
        }
        e.transpose(apart, &back)
    }
}

/// Returns the dtype in which a maximum is exact and padding is the least number.
fn pooled_dtype(e: &Emit<'_>, dtype: DType) -> Option<DType> {
    match dtype {
        own if op::MAX_POOL.runs(own, e.opset) => Some(own),
        DType::BF16 => Some(DType::F32),
        DType::I16 | DType::I32 | DType::U16 | DType::U32 => Some(DType::F64),
        DType::F16
        | DType::F32
        | DType::F64
        | DType::I8
        | DType::I64
        | DType::U8
        | DType::U64
        | DType::Bool => None,
    }
}

fn reduce_window(op: ReduceWindow, e: &mut Emit<'_>) -> One {
    let g = e.g;
    let (input, kind) = (op.input(g), op.kind(g));
    let lists = [op.strides(g), op.dilations(g), op.low(g), op.high(g)];
    let windows = Windows::new(op.window(g), lists);
    let dtype = e.dtype(input);
    let arrangement = windows.arrangement().filter(|own| {
        let is_known = own.is_permutation() || e.shape(input).is_ok();
        is_known && !windows.is_far()
    });
    match (kind, arrangement) {
        (Reduction::Max | Reduction::Min, Some(own)) if pooled_dtype(e, dtype).is_some() => {
            extreme(e, op, &windows, &own, kind == Reduction::Min)
        }
        (Reduction::Mean, Some(own)) if dtype.is_float() => mean(e, op, &windows, &own),
        (Reduction::Mean, _) => Err(Refusal::form(
            "its operand",
            e.g.type_text(input),
            "floats of known extents, with windows along up to 3 axes, as `AveragePool` takes them",
        )),
        (Reduction::Sum, _) => slices(e, op, &windows, op::ADD, Some(0.0)),
        (Reduction::Prod, _) => slices(e, op, &windows, op::MUL, Some(1.0)),
        (Reduction::Max, _) => slices(e, op, &windows, op::MAX, None),
        (Reduction::Min, _) => slices(e, op, &windows, op::MIN, None),
    }
}

/// Emits a pool, with the input arranged before it and the result arranged back.
fn pooled(
    e: &mut Emit<'_>,
    op: ReduceWindow,
    arrangement: &Arrangement,
    x: Val,
    pool: impl FnOnce(&mut Emit<'_>, Val) -> One,
) -> One {
    let x = arrangement.arranged(e, x, op.input(e.g))?;
    let own = pool(e, x)?;
    arrangement.back(e, own, op.result(e.g))
}

/// Returns the maximum, or the minimum as the negated maximum of the negated elements.
fn extreme(
    e: &mut Emit<'_>,
    op: ReduceWindow,
    windows: &Windows,
    arrangement: &Arrangement,
    is_least: bool,
) -> One {
    let input = op.input(e.g);
    let dtype = e.dtype(input);
    let carrier = match (pooled_dtype(e, dtype), is_least) {
        (Some(own), true) if !own.is_float() => DType::F64,
        (Some(own), _) => own,
        (None, _) => {
            let expected = "one that `MaxPool` takes, or a narrower one";
            return Err(Refusal::form("the dtype of its operand", dtype, expected));
        }
    };
    let own = e.value(input);
    let mut x = e.cast(own, dtype, carrier)?;
    if is_least {
        x = e.node(op::NEG, &[x], Vec::new())?;
    }
    let attrs = windows.attrs(&arrangement.spatial);
    let mut own = pooled(e, op, arrangement, x, |e, x| {
        e.node(op::MAX_POOL, &[x], attrs)
    })?;
    if is_least {
        own = e.node(op::NEG, &[own], Vec::new())?;
    }
    e.cast(own, carrier, dtype)
}

fn mean(e: &mut Emit<'_>, op: ReduceWindow, windows: &Windows, arrangement: &Arrangement) -> One {
    let input = op.input(e.g);
    let dtype = e.dtype(input);
    let operator = if windows.is_dilated() {
        op::DILATED_AVERAGE_POOL
    } else {
        op::AVERAGE_POOL
    };
    let carrier = e.carrier(operator, dtype)?;
    let own = e.value(input);
    let x = e.cast(own, dtype, carrier)?;
    let mut attrs = windows.attrs(&arrangement.spatial);
    attrs.push(("count_include_pad", op.count_padding(e.g).into()));
    let own = pooled(e, op, arrangement, x, |e, x| e.node(operator, &[x], attrs))?;
    e.cast(own, carrier, dtype)
}

/// Combines the taps, each a slice of the padded input, in order and from `start` if it is given.
fn slices(
    e: &mut Emit<'_>,
    op: ReduceWindow,
    windows: &Windows,
    operator: &'static Operator,
    start: Option<f64>,
) -> One {
    let (input, result) = (op.input(e.g), op.result(e.g));
    let dtype = e.dtype(input);
    let sizes = windows.window.iter();
    let taps = sizes.fold(1i64, |taps, &size| taps.saturating_mul(size));
    let positions = e.shape(result)?;
    if usize::try_from(taps).is_ok_and(|taps| taps > TAP_LIMIT) {
        return Err(Refusal::form(
            "the number of taps of its windows",
            taps,
            format_args!("at most {TAP_LIMIT}, because ONNX has no pool of the kind"),
        ));
    }
    // Narrower dtypes are carried in a wider one and rounded at the end.
    let carrier = e.carrier(operator, dtype.carrier())?;
    let own = e.value(input);
    let x = e.cast(own, dtype, carrier)?;
    let outside = match (op.kind(e.g), dtype.is_float()) {
        (Reduction::Sum | Reduction::Mean, _) => 0.0,
        (Reduction::Prod, _) => 1.0,
        (Reduction::Max, _) => f64::NEG_INFINITY,
        (Reduction::Min, _) => f64::INFINITY,
    };
    let outside = mind_convert::scalar(dtype, outside);
    let outside = mind_convert::converted(&outside, carrier);
    let outside = e.tensor(&outside);
    let ends = [&windows.low[..], &windows.high];
    let padded = padded(e, op::PAD, carrier, (x, Some(outside)), ends, "constant")?;
    let mut combined = start.map(|start| e.number(carrier, start));
    let rank = windows.window.len();
    let axes: Vec<i64> = (0..rank as i64).collect();
    for tap in 0..taps {
        let (mut starts, mut rest) = (vec![0; rank], tap);
        for at in (0..rank).rev() {
            starts[at] = rest % windows.window[at] * windows.dilations[at];
            rest /= windows.window[at];
        }
        let ends = (0..rank).map(|at| {
            let last = (positions[at] - 1) * windows.strides[at] + 1;
            starts[at] + last.max(0)
        });
        let ends: Vec<i64> = ends.collect();
        let part = e.slice(padded, &starts, &ends, &axes, &windows.strides)?;
        combined = Some(match combined {
            None => part,
            Some(own) => e.node(operator, &[own, part], Vec::new())?,
        });
    }
    let own = combined
        .ok_or_else(|| Refusal::form("the number of taps of its windows", 0, "1 or more"))?;
    e.cast(own, carrier, dtype)
}

fn argmax_window(op: ArgMaxWindow, e: &mut Emit<'_>) -> One {
    let g = e.g;
    let input: ValueId = op.input(g);
    let lists = [op.strides(g), op.dilations(g), op.low(g), op.high(g)];
    let windows = Windows::new(op.window(g), lists);
    let dtype = e.dtype(input);
    let carrier = pooled_dtype(e, dtype);
    let arrangement = windows.arrangement().filter(|own| own.still.is_none());
    let (Some(carrier), Some(arrangement)) = (carrier, arrangement) else {
        return Err(Refusal::form(
            "its operand",
            g.type_text(input),
            "numbers with windows along the last axes, for which `MaxPool` has places",
        ));
    };
    let own = e.value(input);
    let x = e.cast(own, dtype, carrier)?;
    let attrs = windows.attrs(&arrangement.spatial);
    Ok(e.nodes(op::MAX_POOL, &[Some(x)], attrs, 2)?[1])
}
