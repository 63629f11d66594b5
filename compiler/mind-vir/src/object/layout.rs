//! The memory that a program needs, with that of the programs that its control flow runs.

use crate::program::{Control, Flow, Region, Step};

use super::ALIGN;

/// Where a program that control flow runs keeps what it is bound to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BoundAt {
    /// In what is bound with the whole program, or in the workspace.
    pub(super) is_bound_once: bool,
    /// Its first byte; before it is the status of binding, in [`ALIGN`] bytes, if it is bound once.
    pub(super) offset: u64,
}

/// The memory of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// Bytes of what is made when weights are bound.
    pub(super) bound: u64,
    /// Bytes of one run.
    pub(super) workspace: u64,
    /// Where the scratch memory of kernels is in the workspace.
    pub(super) scratch: u64,
    /// Where values that loops carry are.
    pub(super) carried: u64,
    /// Where the workspace of the programs of control flow is, of which one runs at a time.
    pub(super) inner: u64,
    /// Where each of these is bound.
    pub(super) regions: Vec<BoundAt>,
}

/// Bytes of a program's memory besides that of the programs that it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnBytes {
    pub(super) bound: u64,
    pub(super) workspace: u64,
    pub(super) scratch: u64,
}

impl Layout {
    /// The layout of a program whose control flow runs programs of these layouts.
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

/// Bytes of the values that a step carries from one iteration to the next.
fn carried_by(control: &Control) -> u64 {
    let room = |regions: &[Region]| regions.iter().map(room).sum::<u64>();
    match &control.flow {
        Flow::If => 0,
        // One place is read while the other is written, and the condition is written.
        Flow::While => 2 * room(&control.operands) + ALIGN,
        // The results are the other place.
        Flow::Scan { carried, .. } => room(&control.operands[..*carried]),
    }
}

/// Bytes of memory for a value like `region`.
pub(super) fn room(region: &Region) -> u64 {
    aligned(region.bytes as u64)
}

fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(ALIGN)
}
