//! Programs: the steps that run kernels on memory.
//!
//! The executor runs these steps, and [`c`](crate::c) writes them as C.

use std::fmt;

use mind_ir::types::DType;
use smallvec::SmallVec;

mod algorithm;

pub use algorithm::{
    Algorithm, Between, Beyond, Bounds, Coordinates, Dimension, Elements, Extents, Sampling,
    Scattering, Search, Slide, Sorting, Update,
};

/// The buffer that an argument of a kernel points into.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Base {
    /// A caller's array, one per call.
    Input(u32),
    /// A caller's array that is written.
    Output(u32),
    /// A weight, while it is bound.
    Param(u32),
    /// The constants of the program.
    Constants,
    /// Values that are computed once, when weights are bound.
    Bound,
    /// The results of one call.
    Workspace,
}

/// Bytes that a step reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Region {
    /// The memory.
    pub base: Base,
    /// The first byte.
    pub offset: u64,
    /// How many there are.
    pub bytes: usize,
}

impl Region {
    /// The first `bytes` bytes of `base`.
    pub const fn whole(base: Base, bytes: usize) -> Region {
        Region {
            base,
            offset: 0,
            bytes,
        }
    }

    /// Returns the buffer and the offset of its first byte.
    pub const fn start(&self) -> (Base, u64) {
        (self.base, self.offset)
    }

    /// The byte after the last one.
    pub const fn end(&self) -> u64 {
        self.offset + self.bytes as u64
    }
}

/// A step of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Runs a kernel over its grid.
    Call(Call),
    /// Copies slices that indices name.
    Gather(Gather),
    /// Copies bytes.
    Transfer(Transfer),
    /// Calls a routine of the executor.
    Evaluate(Evaluate),
    /// Runs other programs.
    Control(Control),
}

impl Step {
    /// Returns the control flow of the step; `None` if it is another step.
    pub fn as_control(&self) -> Option<&Control> {
        match self {
            Step::Control(control) => Some(control),
            Step::Call(_) | Step::Gather(_) | Step::Transfer(_) | Step::Evaluate(_) => None,
        }
    }

    /// Returns the routine call of the step; `None` if it is another step.
    pub fn as_evaluate(&self) -> Option<&Evaluate> {
        match self {
            Step::Evaluate(call) => Some(call),
            Step::Call(_) | Step::Gather(_) | Step::Transfer(_) | Step::Control(_) => None,
        }
    }

    /// Returns the regions that it reads and writes, without scratch memory.
    pub fn regions(&self) -> SmallVec<[Region; 6]> {
        match self {
            Step::Call(call) => call.args.clone(),
            Step::Gather(gather) => {
                SmallVec::from_slice(&[gather.data, gather.indices, gather.result])
            }
            Step::Transfer(copy) => SmallVec::from_slice(&[copy.from, copy.to]),
            Step::Evaluate(call) => call.operands.iter().chain(&call.results).copied().collect(),
            Step::Control(control) => {
                let read = control.operands.iter().chain(&control.fixed);
                read.chain(&control.results).copied().collect()
            }
        }
    }
}

/// A call of a kernel, for each task of a grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The kernel's number in the program.
    pub kernel: usize,
    /// The regions that its pointers point to, which are all that it reads and writes. They are followed by the task
    /// and, if the kernel has it, the thread's scratch memory.
    pub args: SmallVec<[Region; 6]>,
    /// Whether the kernel has scratch memory.
    pub has_scratch: bool,
    /// The tasks.
    pub grid: SmallVec<[Axis; 4]>,
    /// Estimated work, in nanoseconds of one thread.
    pub cost: u64,
    /// Number of multiply-adds in matrix products.
    pub products: u64,
    /// The op, for diagnostics.
    pub op: &'static str,
}

/// A dimension of a grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Axis {
    /// The kernel gets one index.
    Each(usize),
    /// The kernel gets a range, which begins at a multiple of `grain` and ends at one or at the extent.
    Range {
        /// The end of the last range.
        extent: usize,
        /// The alignment of the start of each range.
        grain: usize,
    },
}

/// Why a program in C or in an object file stopped, in addition to the bits of a [`Status`](crate::ir::Status).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stop(pub u32);

impl Stop {
    /// An index is out of bounds.
    pub const INDEX_OUT_OF_BOUNDS: Stop = Stop(4);
    /// The processor lacks instructions that the code was compiled for; nothing was run.
    pub const PROCESSOR_LACKS: Stop = Stop(8);
    /// A loop exceeds its maximum trip count.
    pub const TOO_MANY_STEPS: Stop = Stop(16);
    /// Run-time extents differ from those that the result was compiled for.
    pub const OTHER_EXTENTS: Stop = Stop(32);
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The type of an index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IndexType {
    /// Four bytes.
    I32,
    /// Eight bytes.
    I64,
}

impl IndexType {
    /// Returns the index type of `dtype`; `None` if `dtype` cannot be an index.
    pub fn of(dtype: DType) -> Option<IndexType> {
        let all = [IndexType::I32, IndexType::I64];
        all.into_iter().find(|index| index.dtype() == dtype)
    }

    /// Bytes of an index.
    pub fn size(self) -> usize {
        self.dtype().size()
    }

    const fn dtype(self) -> DType {
        match self {
            IndexType::I32 => DType::I32,
            IndexType::I64 => DType::I64,
        }
    }
}

/// A copy of the slices of `data` that `indices` select along an axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gather {
    /// The slices.
    pub data: Region,
    /// The indices of the selected slices.
    pub indices: Region,
    /// The destination.
    pub result: Region,
    /// Type of an index.
    pub index_dtype: IndexType,
    /// Groups of slices.
    pub outer: usize,
    /// Slices of a group.
    pub extent: usize,
    /// Slices selected from each group.
    pub count: usize,
    /// Bytes of a slice.
    pub slice: usize,
    /// The axis, for diagnostics.
    pub axis: usize,
}

/// A copy of bytes to the same number of bytes, which do not overlap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// The source.
    pub from: Region,
    /// The destination.
    pub to: Region,
}

/// A call of a routine without a kernel, for example a sort, once for all elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evaluate {
    /// The routine's number in the program.
    pub routine: usize,
    /// The arrays that it reads.
    pub operands: Vec<Region>,
    /// The arrays that it writes.
    pub results: Vec<Region>,
    /// The op, for diagnostics.
    pub op: &'static str,
    /// The algorithm of the routine; `None` if only the executor can run it.
    pub algorithm: Option<Algorithm>,
}

impl Evaluate {
    /// Returns the algorithm, after checking that the arrays have the sizes that it reads and writes.
    ///
    /// # Errors
    ///
    /// Errors if only the executor can run the routine, or if the arrays have other sizes.
    pub fn checked(&self) -> Result<&Algorithm, RoutineError> {
        let algorithm = self.algorithm.as_ref().ok_or(RoutineError::Unknown)?;
        let expected = algorithm.bytes();
        let regions = self.operands.iter().chain(&self.results);
        let found: Vec<usize> = regions.map(|region| region.bytes).collect();
        if found != expected {
            return Err(RoutineError::Arrays { found, expected });
        }
        if !algorithm.stays_inside() {
            return Err(RoutineError::Outside);
        }
        Ok(algorithm)
    }
}

/// Why a routine cannot be written as C or as an object file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RoutineError {
    /// Only the executor can run it.
    #[error("only the compiler itself evaluates it")]
    Unknown,
    /// The arrays have other sizes than the algorithm expects.
    #[error("it is handed arrays of {found:?} bytes; expected {expected:?}")]
    Arrays {
        /// Bytes of the arrays of the step.
        found: Vec<usize>,
        /// Bytes that the algorithm expects.
        expected: Vec<usize>,
    },
    /// The algorithm accesses memory outside of its arrays.
    #[error("it reads or writes beyond its arrays")]
    Outside,
}

/// Control flow: which subprograms run, how often and on which arrays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Control {
    /// The kind of control flow.
    pub flow: Flow,
    /// The numbers of the subprograms, one for each region of the op.
    pub programs: SmallVec<[usize; 2]>,
    /// The arrays that are read, except those in `fixed`.
    pub operands: Vec<Region>,
    /// The arrays that are bound to the subprograms as weights.
    pub fixed: Vec<Region>,
    /// Whether `fixed` is loop-invariant, so that it is bound once.
    pub is_bound_once: bool,
    /// The arrays that are written.
    pub results: Vec<Region>,
    /// The op, for diagnostics.
    pub op: &'static str,
}

/// A kind of control flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The first operand is a boolean that selects the subprogram; the others are its inputs.
    If,
    /// The second subprogram updates the carried operands as long as the first one returns true.
    While,
    /// The subprogram runs once for each slice. Operands are the carried values, then the sliced ones; results are the
    /// carried values, then the stacked ones.
    Scan {
        /// The trip count.
        steps: usize,
        /// The number of carried operands, which is the number of carried results.
        carried: usize,
        /// The slices of the other operands.
        inputs: Vec<Slices>,
        /// The slices of the other results.
        outputs: Vec<Slices>,
    },
}

/// Equal, adjacent slices of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slices {
    /// Bytes of one.
    pub bytes: usize,
    /// Whether the last slice comes first.
    pub is_reversed: bool,
}

impl Slices {
    /// Returns the offset of the slice of step `step` of `steps`.
    pub const fn offset(self, step: usize, steps: usize) -> usize {
        let at = if self.is_reversed {
            steps - 1 - step
        } else {
            step
        };
        at * self.bytes
    }
}
