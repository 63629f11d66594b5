//! Cut points of a program: stretches of compiled ops, separated by ops that the interpreter evaluates.

use mind_diag::Span;
use mind_ir::graph::Graph;
use mind_ir::{BlockId, OpId};
use mind_loops::memory::is_kernel;
use mind_loops::ops::evaluate::Evaluate;

/// The stretches and cut points of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Segments {
    /// Number of compiled stretches. Stretches in a region are counted only if the region has a cut point.
    pub compiled: usize,
    /// The cut points, in execution order.
    pub cuts: Vec<Cut>,
}

/// An op that runs by its `eval`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// The name of the op.
    pub op: &'static str,
    /// Its span in the source.
    pub span: Span,
    /// The reason why it is not compiled.
    pub reason: Reason,
}

/// Reason why an op is not compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// It has no kernel.
    NoKernel,
    /// Its results have data-dependent shapes.
    Extents,
}

impl Reason {
    /// Returns the reason as text.
    pub const fn text(self) -> &'static str {
        match self {
            Reason::NoKernel => "it has no kernel",
            Reason::Extents => "its results have data-dependent shapes",
        }
    }
}

impl Cut {
    /// Returns the cut point at an op.
    pub fn at(g: &Graph, op: OpId, reason: Reason) -> Cut {
        Cut {
            op: g.def(op).name,
            span: g.span(op),
            reason,
        }
    }
}

impl Segments {
    /// Returns the stretches and cut points of a module at loops level.
    pub fn of(g: &Graph) -> Segments {
        let mut all = Segments::default();
        all.add_block(g, g.body());
        all
    }

    /// Appends those of the program that runs next.
    pub fn extend(&mut self, next: Segments) {
        self.compiled += next.compiled;
        self.cuts.extend(next.cuts);
    }

    fn add_block(&mut self, g: &Graph, block: BlockId) {
        let mut is_compiled = false;
        for op in g.ops(block).filter(|&op| is_kernel(g, op)) {
            let evaluate = g.view::<Evaluate>(op);
            let control = evaluate.and_then(|evaluate| evaluate.control(g));
            let cut = evaluate.filter(|_| control.is_none());
            if cut.is_none() && !is_compiled {
                self.compiled += 1;
            }
            is_compiled = cut.is_none();
            if let Some(evaluate) = cut {
                let inner = g.ops(evaluate.body(g)).next().unwrap_or(op);
                self.cuts.push(Cut::at(g, inner, Reason::NoKernel));
            }
            for &region in control.map_or(&[][..], |control| g.regions(control)) {
                let mut inside = Segments::default();
                inside.add_block(g, g.block(region));
                if !inside.cuts.is_empty() {
                    self.extend(inside);
                }
            }
        }
    }
}
