//! Quantisation granularity: the scale that applies to each element.

use mind_ir::eval::EvalError;
use mind_ir::graph::Graph;
use mind_ir::types::Dim;
use mind_ir::verify::VerifyError;

use crate::axes::resolve;
use crate::extent::{agree, text};

/// The elements that share a scale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Granularity {
    /// All elements.
    Tensor,
    /// A slice along this axis (per-channel).
    Axis(usize),
    /// A block along every axis, of `ceil(n / m)` elements if there are `m` scales for `n` elements.
    Blocks,
}

impl Granularity {
    /// Returns the granularity for scales of rank `scale_rank`, in an op named `op` on a tensor of `rank`.
    ///
    /// # Errors
    ///
    /// E3002 neither 0, nor 1, nor `rank`; E3004 axis out of range.
    pub fn new(
        op: &'static str,
        rank: usize,
        scale_rank: usize,
        axis: i64,
    ) -> Result<Granularity, VerifyError> {
        let axis = resolve(op, axis, rank.max(1))?;
        match scale_rank {
            0 => Ok(Granularity::Tensor),
            own if own == rank => Ok(Granularity::Blocks),
            1 if rank > 0 => Ok(Granularity::Axis(axis)),
            found => Err(VerifyError::Rank {
                op,
                operand: "scale",
                expected: format!("0, 1 or {rank}"),
                found,
            }),
        }
    }

    /// Checks the extents of scales against those of the tensor.
    ///
    /// # Errors
    ///
    /// E3003 extents that do not match.
    pub fn check(
        self,
        g: &Graph,
        op: &'static str,
        shape: &[Dim],
        scale: &[Dim],
    ) -> Result<(), VerifyError> {
        match self {
            Granularity::Tensor => Ok(()),
            Granularity::Axis(axis) => {
                let dimension = "the number of scales";
                let help = "there is a scale for each slice along the axis";
                agree(g, op, dimension, shape[axis], scale[0], help).map(|_| ())
            }
            Granularity::Blocks => {
                let clash = (0..shape.len()).find(|&at| {
                    let known = shape[at].fixed().zip(scale[at].fixed());
                    known.is_some_and(|(extent, blocks)| !divides(extent, blocks))
                });
                clash.map_or(Ok(()), |at| {
                    Err(VerifyError::Extent {
                        op,
                        dimension: format!("the number of blocks at dimension {at}"),
                        expected: format!("from 1 to {}", text(g, &shape[at..=at])),
                        found: text(g, &scale[at..=at]),
                        help: "a block has at least one element",
                    })
                })
            }
        }
    }

    /// Like [`Self::check`], for the extents of a run.
    ///
    /// # Errors
    ///
    /// Extents that do not match.
    pub(crate) fn check_in_run(
        self,
        op: &str,
        shape: &[usize],
        scale: &[usize],
    ) -> Result<(), EvalError> {
        let fits = match self {
            Granularity::Tensor => true,
            Granularity::Axis(axis) => scale[0] == shape[axis],
            Granularity::Blocks => {
                let mut pairs = shape.iter().zip(scale);
                pairs.all(|(&extent, &blocks)| divides(extent as i64, blocks as i64))
            }
        };
        if fits {
            return Ok(());
        }
        Err(EvalError::Shape(format!(
            "scales of shape {scale:?} do not fit a tensor of shape {shape:?} in `{op}`"
        )))
    }

    /// Returns the index, in row-major order of shape `scale`, of the scale for the element at `index` of a tensor of
    /// `shape`.
    pub(crate) fn scale_index(self, index: &[usize], shape: &[usize], scale: &[usize]) -> usize {
        match self {
            Granularity::Tensor => 0,
            Granularity::Axis(axis) => index[axis],
            Granularity::Blocks => (0..index.len()).fold(0, |flat, at| {
                flat * scale[at] + index[at] / shape[at].div_ceil(scale[at])
            }),
        }
    }
}

/// Returns whether an extent can be split into `blocks` blocks; the last ones may be short or empty.
fn divides(extent: i64, blocks: i64) -> bool {
    blocks <= extent.max(1) && (blocks > 0 || extent == 0)
}
