//! Pools.

use mind_ir::tensor::{Tensor, advance};
use mind_ir::types::Dim;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::infer::window::{Axis, Windows};
use mind_mil::ops::pool;

use crate::conv::{padded, tap};
use crate::emit::{Emit, Import, Imported};
use crate::refuse::Refused;

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&pool::MAX_POOL, |op, e| {
        let windows = Sliding::of(op, e)?;
        let x = e.argument(op, "x")?;
        e.rounding_once(x, |e, x| {
            windows.folded(e, x, f32::NEG_INFINITY, |e, x, y| e.max(x, y))
        })
    }),
    (&pool::L2_POOL, |op, e| {
        let windows = Sliding::of(op, e)?;
        let x = e.argument(op, "x")?;
        e.rounding_once(x, |e, x| {
            let square = e.mul(x, x)?;
            let sum = windows.folded(e, square, 0.0, |e, x, y| e.add(x, y))?;
            e.sqrt(sum)
        })
    }),
    (&pool::AVG_POOL, |op, e| {
        let windows = Sliding::of(op, e)?;
        let exclude = e.call(op)?.flag("exclude_padding_from_average");
        let x = e.argument(op, "x")?;
        e.rounding_once(x, |e, x| {
            let sum = windows.folded(e, x, 0.0, |e, x, y| e.add(x, y))?;
            if !exclude {
                let taps: i64 = windows.axes.iter().map(|axis| axis.kernel).product();
                return e.div_n(sum, taps as f64);
            }
            let counts = windows.elements()?;
            let counts = e.constant(&counts);
            e.div(sum, counts)
        })
    }),
];

/// The most positions of a window.
const MOST_TAPS: i64 = 256;

/// The most windows whose elements are counted.
const MOST_WINDOWS: usize = 1 << 22;

/// How a pool slides over `[N, C, ..]`.
struct Sliding {
    /// Padded behind far enough for the last window.
    axes: Vec<Axis>,
    extents: Vec<i64>,
    counts: Vec<i64>,
}

impl Sliding {
    /// # Errors
    ///
    /// Windows of too many positions.
    fn of(op: OpId, e: &mut Emit<'_>) -> Result<Sliding, Box<Refused>> {
        let x = e.argument(op, "x")?;
        let outer = e.shape(x)?;
        let call = e.call(op)?;
        let kernel = call.ints("kernel_sizes").known().unwrap_or_default();
        let extents = outer[2..].to_vec();
        let taps = kernel
            .iter()
            .fold(1i64, |taps, &size| taps.saturating_mul(size));
        if taps > MOST_TAPS {
            return Err(Refused::new(format!(
                "a window of {taps} positions is larger than {MOST_TAPS}"
            )));
        }
        let dims: Vec<Dim> = extents.iter().copied().map(Dim::Fixed).collect();
        let windows = Windows::of(&call, &kernel, &dims)?;
        let counts: Vec<i64> = windows
            .counts(&dims)
            .iter()
            .filter_map(|dim| dim.fixed())
            .collect();
        let mut axes = windows.axes;
        for ((axis, extent), count) in axes.iter_mut().zip(&extents).zip(&counts) {
            let reach = (count - 1) * axis.stride + axis.reach;
            axis.pads[1] = axis.pads[1].max(reach - extent - axis.pads[0]);
        }
        Ok(Sliding {
            axes,
            extents,
            counts,
        })
    }

    /// What `join` makes of the positions of each window, the padding being `edge`.
    fn folded(
        &self,
        e: &mut Emit<'_>,
        x: ValueId,
        edge: f32,
        join: fn(&mut Emit<'_>, ValueId, ValueId) -> Imported,
    ) -> Imported {
        let x = padded(e, x, &self.axes, &Tensor::scalar(edge))?;
        let kernel: Vec<usize> = self.axes.iter().map(|axis| axis.kernel as usize).collect();
        let mut place = vec![0usize; kernel.len()];
        let mut all: Option<ValueId> = None;
        for _ in 0..kernel.iter().product() {
            let read = tap(e, x, &self.axes, &place)?;
            all = Some(match all {
                Some(all) => join(e, all, read)?,
                None => read,
            });
            advance(&mut place, &kernel);
        }
        all.ok_or_else(|| Refused::new("a window without positions"))
    }

    /// How many elements inside of the padding each window has, as one number a window in `f32`.
    ///
    /// # Errors
    ///
    /// Too many windows to list.
    fn elements(&self) -> Result<Tensor, Box<Refused>> {
        let shape: Vec<usize> = self.counts.iter().map(|&count| count as usize).collect();
        let windows = shape.iter().product::<usize>();
        if windows > MOST_WINDOWS {
            return Err(Refused::new(format!(
                "{windows} windows are more than {MOST_WINDOWS}"
            )));
        }
        let own = |at: usize, window: usize| {
            let axis = &self.axes[at];
            let first = window as i64 * axis.stride - axis.pads[0];
            let taps = (0..axis.kernel).map(|tap| first + tap * axis.dilation);
            taps.filter(|place| (0..self.extents[at]).contains(place))
                .count()
        };
        let mut index = vec![0usize; shape.len()];
        let mut counts = Vec::with_capacity(windows);
        for _ in 0..windows {
            let inside = index
                .iter()
                .enumerate()
                .map(|(at, &window)| own(at, window));
            counts.push(inside.product::<usize>() as f32);
            advance(&mut index, &shape);
        }
        Ok(Tensor::of(shape, counts))
    }
}
