//! Imports pools.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::window::ReduceWindow;
use mind_ir::scalar::Reduction;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::infer::window::Windows;
use mind_mil::ops::pool;

use crate::conv::check_pads;
use crate::emit::{Emit, Import, One};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&pool::MAX_POOL, |op, e| {
        let (x, windows) = (e.argument(op, "x")?, Pool::of(op, e)?);
        windows.reduce(e, x, Reduction::Max, false)
    }),
    (&pool::AVG_POOL, |op, e| {
        let (x, windows) = (e.argument(op, "x")?, Pool::of(op, e)?);
        let exclude = e.call(op)?.flag("exclude_padding_from_average");
        windows.reduce(e, x, Reduction::Mean, !exclude)
    }),
];

/// The sliding windows of a pool over `[N, C, ..]`, with one entry for each dimension.
pub(crate) struct Pool {
    window: Vec<i64>,
    strides: Vec<i64>,
    low: Vec<i64>,
    /// The padding at the end, large enough for the last window.
    high: Vec<i64>,
}

impl Pool {
    /// Returns windows of `size` elements along one axis of `rank`, centred at each element.
    pub(crate) fn along(axis: usize, rank: usize, size: i64) -> Pool {
        let mut pool = Pool {
            window: vec![1; rank],
            strides: vec![1; rank],
            low: vec![0; rank],
            high: vec![0; rank],
        };
        pool.window[axis] = size;
        (pool.low[axis], pool.high[axis]) = (size / 2, (size - 1) / 2);
        pool
    }

    pub(crate) fn of(op: OpId, e: &mut Emit<'_>) -> Result<Pool, Refusal> {
        let x = e.argument(op, "x")?;
        let call = e.call(op)?;
        let kernel = call.ints("kernel_sizes").known().unwrap_or_default();
        let dims = &e.g().ty(x).shape[2..];
        let windows = Windows::of(&call, &kernel, dims)?;
        check_pads(e, x, &windows, call.word("pad_type"))?;
        let counts = windows.counts(dims);
        let mut pool = Pool {
            window: vec![1, 1],
            strides: vec![1, 1],
            low: vec![0, 0],
            high: vec![0, 0],
        };
        for ((axis, extent), count) in windows.axes.iter().zip(dims).zip(counts) {
            pool.window.push(axis.kernel);
            pool.strides.push(axis.stride);
            pool.low.push(axis.pads[0]);
            pool.high.push(match (extent.fixed(), count.fixed()) {
                (Some(extent), Some(count)) => {
                    let reach = (count - 1) * axis.stride + axis.reach;
                    (reach - extent - axis.pads[0]).max(0)
                }
                _ => axis.pads[1],
            });
        }
        Ok(pool)
    }

    pub(crate) fn reduce(
        &self,
        e: &mut Emit<'_>,
        x: ValueId,
        kind: Reduction,
        count_padding: bool,
    ) -> One {
        let pool = ReduceWindow::with(&self.window, kind)
            .strides(&self.strides)
            .low(&self.low)
            .high(&self.high)
            .count_padding(count_padding);
        Ok(pool.build(&mut e.b, x)?)
    }
}
