//! Shape rules and address computation that gathers and scatters share.

use mind_ir::eval::EvalError;
use mind_ir::graph::Graph;
use mind_ir::tensor::{Tensor, row_major};
use mind_ir::types::{Dim, Shape, TypeView};
use mind_ir::verify::VerifyError;

use crate::axes::{check_rank, resolve};
use crate::eval::bounds::{Bounds, indices};
use crate::extent::agree;

/// Checks indices along one axis: they have the rank of `data`, and no larger extents along the other axes.
///
/// # Errors
///
/// E3002 different ranks, E3003 `indices` larger than `data` along another axis, E3004 axis out of range.
pub(crate) fn along_axis(
    g: &Graph,
    op: &'static str,
    data: TypeView<'_>,
    indices: TypeView<'_>,
    axis: i64,
) -> Result<(), VerifyError> {
    let axis = resolve(op, axis, data.rank())?;
    if indices.rank() != data.rank() {
        return Err(VerifyError::Rank {
            op,
            operand: "indices",
            expected: data.rank().to_string(),
            found: indices.rank(),
        });
    }
    for (at, (&own, &extent)) in indices.shape.iter().zip(data.shape).enumerate() {
        let past = own
            .fixed()
            .zip(extent.fixed())
            .is_some_and(|(own, extent)| own > extent);
        if at != axis && past {
            return Err(VerifyError::Extent {
                op,
                dimension: format!("dimension {at} of `indices`"),
                expected: format!("at most {}", extent.display(g.symbols())),
                found: own.display(g.symbols()).to_string(),
                help: "only along `axis` may `indices` be larger than `data`",
            });
        }
    }
    Ok(())
}

/// Checks the extents of a run like [`along_axis`].
///
/// # Errors
///
/// `indices` are larger than `data` along another axis.
pub(crate) fn along_axis_fits(
    data: &Tensor,
    indices: &Tensor,
    axis: usize,
) -> Result<(), EvalError> {
    let (own, extents) = (indices.shape(), data.shape());
    if (0..own.len()).any(|at| at != axis && own[at] > extents[at]) {
        return Err(EvalError::Shape(format!(
            "indices of shape {own:?} are larger than {extents:?} along another axis than {axis}"
        )));
    }
    Ok(())
}

/// Index tuples and the slices that they select.
pub(crate) struct Tuples {
    /// The shape of the gathered slices.
    pub(crate) shape: Vec<usize>,
    /// The number of elements of a slice.
    pub(crate) width: usize,
    list: Vec<i64>,
    /// The number of tuples in a batch.
    per_batch: usize,
    /// The number of elements of `data` in a batch.
    batch: usize,
    /// For each index of a tuple, the extent and the stride of its dimension of `data`, and the axis.
    indexed: Vec<(usize, usize, usize)>,
    count: usize,
}

impl Tuples {
    /// Infers the shape of the slices of `data` at the tuples in `indices`.
    ///
    /// # Errors
    ///
    /// E3002 a rank too small, or a result of rank above 32, E3003 batches differ, or the length of the tuples is not
    /// known, E3004 `batch_dims` out of range.
    pub(crate) fn verified(
        op: &'static str,
        g: &Graph,
        data: TypeView<'_>,
        indices: TypeView<'_>,
        batch_dims: i64,
    ) -> Result<Shape, VerifyError> {
        let rank = |operand, least: usize, found| VerifyError::Rank {
            op,
            operand,
            expected: format!("at least {least}"),
            found,
        };
        let most = indices.rank().saturating_sub(1).min(data.rank());
        if indices.rank() == 0 {
            return Err(rank("indices", 1, 0));
        }
        let batch = usize::try_from(batch_dims).ok().filter(|&own| own <= most);
        let batch = batch.ok_or(VerifyError::AxisRange {
            op,
            axis: batch_dims,
            rank: most + 1,
        })?;
        for at in 0..batch {
            let dimension = format!("dimension {at}");
            let help = "the batch dimensions of both operands must have equal extents";
            agree(g, op, dimension, data.shape[at], indices.shape[at], help)?;
        }
        let (outer, last) = indices.shape.split_at(indices.rank() - 1);
        let Some(length) = last[0].fixed() else {
            return Err(VerifyError::Extent {
                op,
                dimension: "the last dimension of `indices`".to_owned(),
                expected: "a number".to_owned(),
                found: last[0].display(g.symbols()).to_string(),
                help: "the length of the index tuples must be known, because the rank of the result depends on it",
            });
        };
        let first = usize::try_from(length)
            .ok()
            .and_then(|own| own.checked_add(batch));
        let Some(first) = first.filter(|&first| first <= data.rank()) else {
            let least = usize::try_from(length).unwrap_or(0).saturating_add(batch);
            return Err(rank("data", least, data.rank()));
        };
        let shape: Vec<Dim> = outer.iter().chain(&data.shape[first..]).copied().collect();
        check_rank(op, shape.len())?;
        Ok(shape.into_iter().collect())
    }

    /// Creates the tuples of a run.
    ///
    /// # Errors
    ///
    /// Batches that differ.
    pub(crate) fn of(data: &Tensor, list: &Tensor, batch_dims: i64) -> Result<Tuples, EvalError> {
        let batch = usize::try_from(batch_dims).expect("verified batches");
        let (outer, length) = list.shape().split_at(list.rank() - 1);
        let (length, own) = (length[0], data.shape());
        if outer[..batch] != own[..batch] || batch + length > own.len() {
            let found = list.shape();
            return Err(EvalError::Shape(format!(
                "indices of shape {found:?} do not fit batches of {own:?}"
            )));
        }
        let shape = [outer, &own[batch + length..]].concat();
        // The products of the other extents may overflow, since the result is empty.
        if shape.contains(&0) {
            return Ok(Tuples {
                shape,
                width: 1,
                list: Vec::new(),
                per_batch: 1,
                batch: 0,
                indexed: Vec::new(),
                count: 0,
            });
        }
        let strides = row_major(own);
        let indexed = (batch..batch + length).map(|axis| (own[axis], strides[axis], axis));
        Ok(Tuples {
            width: own[batch + length..].iter().product(),
            list: indices(list),
            per_batch: outer[batch..].iter().product(),
            batch: own[batch..].iter().product(),
            indexed: indexed.collect(),
            count: outer.iter().product(),
            shape,
        })
    }

    /// Returns the offset of the slice of each tuple; `None` if it is skipped.
    ///
    /// # Errors
    ///
    /// E6001 out of bounds.
    pub(crate) fn starts(&self, bounds: Bounds) -> Result<Vec<Option<usize>>, EvalError> {
        (0..self.count)
            .map(|tuple| self.start(tuple, bounds))
            .collect()
    }

    fn start(&self, tuple: usize, bounds: Bounds) -> Result<Option<usize>, EvalError> {
        let length = self.indexed.len();
        let indices = &self.list[tuple * length..][..length];
        let mut start = Some(tuple / self.per_batch * self.batch);
        for (&index, &(extent, stride, axis)) in indices.iter().zip(&self.indexed) {
            let place = bounds.position(index, axis, extent)?;
            start = start
                .zip(place)
                .map(|(start, place)| start + place * stride);
        }
        Ok(start)
    }
}
