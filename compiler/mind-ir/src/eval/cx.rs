//! The surroundings of an evaluation.

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
    /// The extent it already has, if that is another.
    pub fn bind(&mut self, sym: Sym, extent: usize) -> Result<(), usize> {
        match *self.extents.entry(sym).or_insert(extent) {
            bound if bound == extent => Ok(()),
            bound => Err(bound),
        }
    }

    /// The extent of `sym`.
    pub fn get(&self, sym: Sym) -> Option<usize> {
        self.extents.get(&sym).copied()
    }
}

/// What happens when an integer result does not fit its dtype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overflow {
    /// It wraps: execution.
    Wrap,
    /// It is an error: constant folding, which must not hide an overflow.
    Refuse,
}

/// The surroundings of an evaluation.
#[derive(Clone, Copy)]
pub struct EvalCx<'a> {
    /// The module.
    pub graph: &'a Graph,
    /// The extents of its symbolic dimensions.
    pub dims: &'a DimEnv,
    /// What integer overflow does.
    pub overflow: Overflow,
    /// The most bytes that one result may have. [`eval_block`](super::eval_block) takes off what
    /// the results alive beside it have.
    pub tensor_limit: u64,
    /// The most steps that one loop takes whose end only running tells.
    pub max_steps: u64,
}

impl<'a> EvalCx<'a> {
    /// The most bytes one tensor may have unless told otherwise: 4 GiB.
    pub const TENSOR_LIMIT: u64 = 4 << 30;

    /// The most steps of a loop unless told otherwise.
    pub const MAX_STEPS: u64 = 1 << 24;

    /// Execution: integers wrap.
    pub fn run(graph: &'a Graph, dims: &'a DimEnv) -> EvalCx<'a> {
        EvalCx {
            graph,
            dims,
            overflow: Overflow::Wrap,
            tensor_limit: EvalCx::TENSOR_LIMIT,
            max_steps: EvalCx::MAX_STEPS,
        }
    }

    /// The most steps of a loop that constant folding runs.
    pub const FOLDED_STEPS: u64 = 1 << 10;

    /// Constant folding: integer overflow is refused, and so are results over `tensor_limit` bytes.
    pub fn fold(graph: &'a Graph, dims: &'a DimEnv, tensor_limit: u64) -> EvalCx<'a> {
        EvalCx {
            graph,
            dims,
            overflow: Overflow::Refuse,
            tensor_limit,
            max_steps: EvalCx::FOLDED_STEPS,
        }
    }

    /// The number of elements of a result. Every `eval` asks before it allocates.
    ///
    /// # Errors
    ///
    /// [`EvalError::TooLarge`] past the limit, [`EvalError::OutOfMemory`] where the system has no such
    /// memory.
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

    /// The extent that `dim` has in this run; `None` for one that is not known.
    ///
    /// # Errors
    ///
    /// [`EvalError::UnboundDim`] for a symbol without extent.
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

/// Whether the system gives memory of that many bytes.
pub fn can_allocate(bytes: u64) -> bool {
    /// What is smaller is not asked for.
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

/// Whether this thread is in [`can_allocate`], which handles memory that it does not get.
///
/// For global allocators: nothing else handles that.
pub fn probes_memory() -> bool {
    PROBES_MEMORY.try_with(Cell::get).unwrap_or(false)
}
