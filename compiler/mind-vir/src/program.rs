//! Programs: the steps that call functions on memory.
//!
//! The executor runs these steps, and [`c`](crate::c) writes them.

use std::fmt;

use mind_ir::types::DType;
use smallvec::SmallVec;

mod algorithm;

pub use algorithm::{
    Algorithm, Between, Beyond, Bounds, Coordinates, Dimension, Elements, Extents, Sampling,
    Scattering, Search, Slide, Sorting, Update,
};

/// The memory that an argument of a kernel points into.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Base {
    /// An array of the caller's, for each call.
    Input(u32),
    /// An array of the caller's that is written.
    Output(u32),
    /// A weight, while it is bound.
    Param(u32),
    /// The constants of the program.
    Constants,
    /// What is made once when weights are bound.
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

    /// Where it begins.
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
    /// Calls a routine of the executor's.
    Evaluate(Evaluate),
    /// Runs other programs.
    Control(Control),
}

impl Step {
    /// The control flow that it is, if it is any.
    pub fn as_control(&self) -> Option<&Control> {
        match self {
            Step::Control(control) => Some(control),
            Step::Call(_) | Step::Gather(_) | Step::Transfer(_) | Step::Evaluate(_) => None,
        }
    }

    /// The call of a routine that it is, if it is any.
    pub fn as_evaluate(&self) -> Option<&Evaluate> {
        match self {
            Step::Evaluate(call) => Some(call),
            Step::Call(_) | Step::Gather(_) | Step::Transfer(_) | Step::Control(_) => None,
        }
    }

    /// The memory that it reads and writes, scratch memory apart.
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
    /// What its pointers point to, with all that it reads and writes there. After them come the task and the scratch
    /// memory of the thread, if it has any.
    pub args: SmallVec<[Region; 6]>,
    /// Whether the kernel has scratch memory.
    pub has_scratch: bool,
    /// The tasks.
    pub grid: SmallVec<[Axis; 4]>,
    /// The work, in about nanoseconds of one thread.
    pub cost: u64,
    /// Multiply-adds of products.
    pub products: u64,
    /// The op, for messages.
    pub op: &'static str,
}

/// A dimension of a grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Axis {
    /// The kernel gets one index.
    Each(usize),
    /// The kernel gets a range, which begins at a multiple of `grain` and ends at one or at the extent.
    Range {
        /// Where the last range ends.
        extent: usize,
        /// What ranges begin at multiples of.
        grain: usize,
    },
}

/// What stops a run of a program in C or in an object file, besides the bits of a [`Status`](crate::ir::Status).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stop(pub u32);

impl Stop {
    /// An index is out of bounds.
    pub const INDEX_OUT_OF_BOUNDS: Stop = Stop(4);
    /// The processor lacks instructions that the code was compiled to; nothing is done.
    pub const PROCESSOR_LACKS: Stop = Stop(8);
    /// A loop takes more steps than are allowed.
    pub const TOO_MANY_STEPS: Stop = Stop(16);
    /// An array of extents holds others than the result's.
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
    /// The type of indices of `dtype`; `None` if indices cannot have it.
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

/// A copy of the slices of `data` along an axis that `indices` names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gather {
    /// Where the slices are.
    pub data: Region,
    /// Which ones are wanted.
    pub indices: Region,
    /// Where they go.
    pub result: Region,
    /// Type of an index.
    pub index_dtype: IndexType,
    /// Groups of slices.
    pub outer: usize,
    /// Slices of a group.
    pub extent: usize,
    /// Slices wanted of each group.
    pub count: usize,
    /// Bytes of a slice.
    pub slice: usize,
    /// The axis, for messages.
    pub axis: usize,
}

/// A copy of bytes to as many others, which they do not overlap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Where they are.
    pub from: Region,
    /// Where they go.
    pub to: Region,
}

/// A call of a routine that is no kernel, once for all elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evaluate {
    /// The routine's number in the program.
    pub routine: usize,
    /// The arrays that it reads.
    pub operands: Vec<Region>,
    /// The arrays that it writes.
    pub results: Vec<Region>,
    /// The op, for messages.
    pub op: &'static str,
    /// What the routine computes, where C and object files can say it, too.
    pub algorithm: Option<Algorithm>,
}

impl Evaluate {
    /// What the routine computes, whose arrays have the bytes of what it reads and writes.
    ///
    /// # Errors
    ///
    /// Only the executor can say it, or it is handed other arrays.
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

/// Why a step that is no kernel cannot be written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RoutineError {
    /// Only the executor can compute it.
    #[error("only the compiler itself evaluates it")]
    Unknown,
    /// It is handed arrays of other sizes than it takes.
    #[error("it is handed arrays of {found:?} bytes; expected {expected:?}")]
    Arrays {
        /// The bytes of what it is handed.
        found: Vec<usize>,
        /// The bytes of what it takes.
        expected: Vec<usize>,
    },
    /// What it computes does not fit its arrays.
    #[error("it reads or writes beyond its arrays")]
    Outside,
}

/// Control flow: which other programs run, how often and on what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Control {
    /// What it does.
    pub flow: Flow,
    /// The numbers of the programs, one for each region of the op.
    pub programs: SmallVec<[usize; 2]>,
    /// The arrays that are read, but for those in `fixed`.
    pub operands: Vec<Region>,
    /// The arrays that the programs are bound to as to weights.
    pub fixed: Vec<Region>,
    /// Whether `fixed` stays as it is, so that it is bound once.
    pub is_bound_once: bool,
    /// The arrays that are written.
    pub results: Vec<Region>,
    /// The op, for messages.
    pub op: &'static str,
}

/// A kind of control flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The first operand is a truth value that chooses the program; the others are its inputs.
    If,
    /// The operands are carried from step to step by the second program, while the first one writes true.
    While,
    /// The program runs for each slice. The operands are what is carried, then what is taken by slices; the results are
    /// what is carried, then what is stacked.
    Scan {
        /// How often it runs.
        steps: usize,
        /// How many operands, and results, are carried.
        carried: usize,
        /// The slices of the other operands.
        inputs: Vec<Slices>,
        /// The slices of the other results.
        outputs: Vec<Slices>,
    },
}

/// Equal parts of an array, one behind the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slices {
    /// Bytes of one.
    pub bytes: usize,
    /// Whether the last one comes first.
    pub is_reversed: bool,
}

impl Slices {
    /// Where the slice of step `step` of `steps` begins.
    pub const fn offset(self, step: usize, steps: usize) -> usize {
        let at = if self.is_reversed {
            steps - 1 - step
        } else {
            step
        };
        at * self.bytes
    }
}
