//! The context of an evaluation.

use std::cell::Cell;

use rustc_hash::FxHashMap;

use super::EvalError;
use crate::entity::Sym;
use crate::graph::Graph;
use crate::types::{DType, Dim};

/// The extents of symbolic dimensions.
#[derive(Clone, Debug, Default)]
pub struct DimEnv {
    extents: FxHashMap<Sym, usize>,
}

impl DimEnv {
    /// Binds `sym` to `extent`.
    ///
    /// # Errors
    ///
    /// The extent that it is already bound to, if that is different.
    pub fn bind(&mut self, sym: Sym, extent: usize) -> Result<(), usize> {
        match *self.extents.entry(sym).or_insert(extent) {
            bound if bound == extent => Ok(()),
            bound => Err(bound),
        }
    }

    /// Returns the extent of `sym`.
    pub fn get(&self, sym: Sym) -> Option<usize> {
        self.extents.get(&sym).copied()
    }
}

/// The handling of integer results that overflow their dtype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overflow {
    /// The result wraps. Used for execution.
    Wrap,
    /// The evaluation fails. Used for constant folding, because a fold must not hide an overflow.
    Refuse,
}

/// The context of an evaluation.
#[derive(Clone, Copy)]
pub struct EvalCx<'a> {
    /// The module.
    pub graph: &'a Graph,
    /// The extents of its symbolic dimensions.
    pub dims: &'a DimEnv,
    /// The handling of integer overflow.
    pub overflow: Overflow,
    /// The maximum size of one result in bytes. [`eval_block`](super::eval_block) subtracts the size of the other live
    /// results.
    pub tensor_limit: u64,
    /// The maximum number of iterations of a loop without a known trip count.
    pub max_steps: u64,
}

impl<'a> EvalCx<'a> {
    /// The default of `tensor_limit`: 4 GiB.
    pub const TENSOR_LIMIT: u64 = 4 << 30;

    /// The default of `max_steps`.
    pub const MAX_STEPS: u64 = 1 << 24;

    /// Returns a context for execution, in which integers wrap.
    pub fn run(graph: &'a Graph, dims: &'a DimEnv) -> EvalCx<'a> {
        EvalCx {
            graph,
            dims,
            overflow: Overflow::Wrap,
            tensor_limit: EvalCx::TENSOR_LIMIT,
            max_steps: EvalCx::MAX_STEPS,
        }
    }

    /// The value of `max_steps` for constant folding.
    pub const FOLDED_STEPS: u64 = 1 << 10;

    /// Returns a context for constant folding, in which integer overflow and results over `tensor_limit` bytes are
    /// errors.
    pub fn fold(graph: &'a Graph, dims: &'a DimEnv, tensor_limit: u64) -> EvalCx<'a> {
        EvalCx {
            graph,
            dims,
            overflow: Overflow::Refuse,
            tensor_limit,
            max_steps: EvalCx::FOLDED_STEPS,
        }
    }

    /// Returns the number of elements of a result. Every `eval` calls it before it allocates.
    ///
    /// # Errors
    ///
    /// [`EvalError::TooLarge`] over the limit, [`EvalError::OutOfMemory`] if the system cannot allocate the result.
    pub fn count(&self, dtype: DType, shape: &[usize]) -> Result<usize, EvalError> {
        let empty = shape.contains(&0);
        let count = if empty {
            Some(0)
        } else {
            shape
                .iter()
                .try_fold(1usize, |count, &extent| count.checked_mul(extent))
        };
        let bytes = count.and_then(|count| (count as u64).checked_mul(dtype.size() as u64));
        match (count, bytes) {
            (Some(_), Some(bytes)) if bytes <= self.tensor_limit && !can_allocate(bytes) => {
                Err(EvalError::OutOfMemory {
                    shape: shape.to_vec(),
                    bytes,
                })
            }
            (Some(count), Some(bytes)) if bytes <= self.tensor_limit => Ok(count),
            _ => Err(EvalError::TooLarge {
                shape: shape.to_vec(),
                limit: self.tensor_limit,
            }),
        }
    }

    /// Returns the extent of `dim` in this run; `None` if it is unknown.
    ///
    /// # Errors
    ///
    /// [`EvalError::UnboundDim`] if a symbol is not bound.
    pub fn extent(&self, dim: Dim) -> Result<Option<i64>, EvalError> {
        match dim {
            Dim::Fixed(extent) => Ok(Some(extent)),
            Dim::Dynamic => Ok(None),
            Dim::Symbol(sym) => match self.dims.get(sym) {
                Some(extent) => Ok(Some(extent as i64)),
                None => Err(EvalError::UnboundDim(self.graph.name(sym).to_owned())),
            },
        }
    }
}

thread_local! {
    static PROBES_MEMORY: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether the system can allocate this many bytes. Sizes up to 1 MiB are not tried.
pub fn can_allocate(bytes: u64) -> bool {
    /// Sizes that are not tried.
    const SMALL: u64 = 1 << 20;
    let reserve = |bytes| Vec::<u8>::new().try_reserve_exact(bytes);
    if bytes <= SMALL {
        return true;
    }
    PROBES_MEMORY.set(true);
    let given = usize::try_from(bytes).is_ok_and(|bytes| reserve(bytes).is_ok());
    PROBES_MEMORY.set(false);
    given
}

/// Whether this thread is in [`can_allocate`].
///
/// Global allocators use it to decide whether a failed allocation is fatal, because only [`can_allocate`] handles
/// failures.
pub fn probes_memory() -> bool {
    PROBES_MEMORY.try_with(Cell::get).unwrap_or(false)
}
