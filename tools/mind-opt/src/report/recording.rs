//! What passes did to a module, as it is kept for the page.

use std::time::Duration;

use mind_draw::Drawing;
use mind_driver::draw;
use mind_driver::formats::{Format, Formats};
use mind_ir::Graph;
use mind_pass::Changed;

/// The module between passes, and what stands between.
#[derive(Default)]
pub(crate) struct Recording {
    /// The module before the first pass and after each.
    pub(super) states: Vec<State>,
    /// The passes in order.
    pub(super) passes: Vec<PassRun>,
    /// The first state as a module.
    pub(super) first: Option<Graph>,
    /// The last state as a module.
    pub(super) last: Option<Graph>,
}

/// A module between passes.
#[derive(Debug)]
pub(super) struct State {
    pub(super) drawing: Drawing,
    pub(super) text: String,
    pub(super) ops: usize,
}

/// A pass that ran.
#[derive(Debug)]
pub(super) struct PassRun {
    pub(super) name: &'static str,
    pub(super) changed: bool,
    pub(super) time: Duration,
    /// The first of its rewrites among all.
    pub(super) rewrites: std::ops::Range<usize>,
}

impl Recording {
    /// A pass is about to run on `g`, after so many rewrites of others.
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

    /// Keeps the first state.
    fn begin(&mut self, formats: &Formats, g: &Graph) {
        if self.states.is_empty() {
            self.states.push(State::of(formats, g));
            self.first = Some(g.clone());
        }
    }

    /// The pass has left `g`, after so many rewrites of it and others.
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
        self.states.push(State::of(formats, g));
    }

    /// Keeps the module that is left after all passes.
    pub(crate) fn finish(&mut self, formats: &Formats, g: &Graph) {
        self.begin(formats, g);
        self.last = Some(g.clone());
    }
}

impl State {
    fn of(formats: &Formats, g: &Graph) -> State {
        let text = formats.print(Format::Core, g);
        State {
            drawing: draw::module(g),
            text: text.unwrap_or_else(|_| "# this cannot be printed".to_owned()),
            ops: g.walk().count(),
        }
    }
}
