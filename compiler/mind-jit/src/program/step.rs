//! What a program does, step by step.

use std::iter;

use mind_ir::types::DType;
use smallvec::SmallVec;

use super::layout::{Base, Place, Region};

/// A step of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Runs a kernel over its grid.
    Call(Call),
    /// Copies slices that indices name.
    Gather(Gather),
    /// Copies an output to others.
    Repeat(Repeat),
}

impl Step {
    /// The memory that it reads and writes, scratch memory apart.
    pub(super) fn regions(&self) -> SmallVec<[Region; 6]> {
        match self {
            Step::Call(call) => call.args.clone(),
            Step::Gather(gather) => {
                SmallVec::from_slice(&[gather.data, gather.indices, gather.result])
            }
            Step::Repeat(repeat) => iter::once(repeat.from).chain(repeat.targets()).collect(),
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

/// The type of an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

/// A copy of one output to others, which yield the same value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repeat {
    /// The output that a kernel writes.
    pub from: Region,
    /// The numbers of the others.
    pub outputs: Vec<u32>,
}

impl Repeat {
    /// Where the copies go.
    pub(super) fn targets(&self) -> impl Iterator<Item = Region> {
        let target = |&output| Region {
            place: Place {
                base: Base::Output(output),
                offset: 0,
            },
            bytes: self.from.bytes,
        };
        self.outputs.iter().map(target)
    }
}
