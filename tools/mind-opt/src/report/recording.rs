//! Recording of the module's states between passes.

use std::time::Duration;

use mind_draw::Drawing;
use mind_driver::draw;
use mind_driver::formats::{Format, Formats};
use mind_ir::Graph;
use mind_pass::Changed;

/// The states of the module between passes, and the passes.
#[derive(Default)]
pub(crate) struct Recording {
    /// The states before the first pass and after each pass.
    pub(super) states: Vec<ModuleState>,
    /// The passes in order.
    pub(super) passes: Vec<PassRun>,
    /// The first state as a module.
    pub(super) first: Option<Graph>,
    /// The last state as a module.
    pub(super) last: Option<Graph>,
}

/// The module between two passes.
#[derive(Debug)]
pub(super) struct ModuleState {
    pub(super) drawing: Drawing,
    pub(super) text: String,
    pub(super) ops: usize,
}

/// A run of a pass.
#[derive(Debug)]
pub(super) struct PassRun {
    pub(super) name: &'static str,
    pub(super) changed: bool,
    pub(super) time: Duration,
    /// The range of its rewrites among those of all passes.
    pub(super) rewrites: std::ops::Range<usize>,
}

impl Recording {
    /// Called before a pass runs on `g`, with the number of rewrites so far.
    pub(crate) fn before(
        &mut self,
        name: &'static str,
        formats: &Formats,
        g: &Graph,
        rewrites: usize,
    ) {
        self.begin(formats, g);
        let run = PassRun {
            name,
            changed: false,
            time: Duration::ZERO,
            rewrites: rewrites..rewrites,
        };
        self.passes.push(run);
    }

    /// Records the first state.
    fn begin(&mut self, formats: &Formats, g: &Graph) {
        if self.states.is_empty() {
            self.states.push(ModuleState::of(formats, g));
            self.first = Some(g.clone());
        }
    }

    /// Called after a pass ran on `g`, with the number of rewrites so far.
    pub(crate) fn after(
        &mut self,
        formats: &Formats,
        g: &Graph,
        changed: Changed,
        time: Duration,
        rewrites: usize,
    ) {
        if let Some(run) = self.passes.last_mut() {
            (run.changed, run.time) = (changed == Changed::Yes, time);
            run.rewrites.end = rewrites;
        }
        self.states.push(ModuleState::of(formats, g));
    }

    /// Records the module after all passes.
    pub(crate) fn finish(&mut self, formats: &Formats, g: &Graph) {
        self.begin(formats, g);
        self.last = Some(g.clone());
    }
}

impl ModuleState {
    fn of(formats: &Formats, g: &Graph) -> ModuleState {
        let text = formats.print(Format::Core, g);
        ModuleState {
            drawing: draw::module(g),
            text: text.unwrap_or_else(|_| "# this cannot be printed".to_owned()),
            ops: g.walk().count(),
        }
    }
}
