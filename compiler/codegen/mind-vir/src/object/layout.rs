//! The memory of a program, including its subprograms.

use crate::program::{Control, Flow, Region, Step};

use super::ALIGN;

/// The location of a subprogram's bound memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BoundAt {
    /// Whether it is in the bound memory of the whole program; otherwise it is in the workspace.
    pub(super) is_bound_once: bool,
    /// Its offset; if it is bound once, [`ALIGN`] bytes before it hold the bind status.
    pub(super) offset: u64,
}

/// The memory of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// Bytes of bound memory.
    pub(super) bound: u64,
    /// Bytes of workspace.
    pub(super) workspace: u64,
    /// The offset of the kernels' scratch memory in the workspace.
    pub(super) scratch: u64,
    /// The offset of loop-carried values in the workspace.
    pub(super) carried: u64,
    /// The offset of the workspace of subprograms, which they share because one runs at a time.
    pub(super) inner: u64,
    /// The bound memory of each subprogram.
    pub(super) regions: Vec<BoundAt>,
}

/// Bytes of a program's memory without its subprograms.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnBytes {
    pub(super) bound: u64,
    pub(super) workspace: u64,
    pub(super) scratch: u64,
}

impl Layout {
    /// Returns the layout of a program whose subprograms have the layouts `regions`.
    pub(super) fn of(own: OwnBytes, steps: &[Step], regions: &[&Layout]) -> Layout {
        let scratch = aligned(own.workspace);
        let carried = scratch + aligned(own.scratch);
        let controls = || steps.iter().filter_map(Step::as_control);
        let mut workspace = carried + controls().map(carried_by).max().unwrap_or(0);
        let mut bound = aligned(own.bound);
        let mut places = vec![BoundAt::default(); regions.len()];
        for control in controls() {
            for &at in &control.programs {
                let is_bound_once = control.is_bound_once;
                let end = if is_bound_once {
                    bound += ALIGN;
                    &mut bound
                } else {
                    &mut workspace
                };
                let offset = *end;
                *end += aligned(regions[at].bound);
                places[at] = BoundAt {
                    is_bound_once,
                    offset,
                };
            }
        }
        let inner = workspace;
        let most = regions.iter().map(|region| region.workspace).max();
        Layout {
            bound,
            workspace: inner + aligned(most.unwrap_or(0)),
            scratch,
            carried,
            inner,
            regions: places,
        }
    }
}

/// Returns the bytes of the loop-carried values of a step.
fn carried_by(control: &Control) -> u64 {
    let room = |regions: &[Region]| regions.iter().map(room).sum::<u64>();
    match &control.flow {
        Flow::If => 0,
        // Double buffering, plus the condition.
        Flow::While => 2 * room(&control.operands) + ALIGN,
        // Double buffering, where the results are the second buffer.
        Flow::Scan { carried, .. } => room(&control.operands[..*carried]),
    }
}

/// Returns the aligned size of a value of the size of `region`.
pub(super) fn room(region: &Region) -> u64 {
    aligned(region.bytes as u64)
}

fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(ALIGN)
}
