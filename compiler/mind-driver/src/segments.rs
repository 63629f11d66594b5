//! How a program is divided: stretches that are compiled, and the ops between them that run by their `eval`.

use mind_diag::Span;
use mind_ir::graph::Graph;
use mind_ir::{BlockId, OpId};
use mind_loops::memory::is_kernel;
use mind_loops::ops::evaluate::Evaluate;

/// The stretches of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Segments {
    /// How many stretches are compiled. Those of a region count where an op of the region is a cut.
    pub compiled: usize,
    /// The ops at which it is cut, in the order in which they run.
    pub cuts: Vec<Cut>,
}

/// An op that runs by its `eval`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Its name.
    pub op: &'static str,
    /// Where it stands in the source.
    pub span: Span,
    /// Why it is not compiled.
    pub reason: Reason,
}

/// Why an op is not compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// It has no kernel.
    NoKernel,
    /// Elements decide the extents of its results.
    Extents,
}

impl Reason {
    /// The reason in words.
    pub const fn text(self) -> &'static str {
        match self {
            Reason::NoKernel => "it has no kernel",
            Reason::Extents => "elements decide the extents of its results",
        }
    }
}

impl Cut {
    /// The cut at an op.
    pub fn at(g: &Graph, op: OpId, reason: Reason) -> Cut {
        Cut {
            op: g.def(op).name,
            span: g.span(op),
            reason,
        }
    }
}

impl Segments {
    /// Those of a module at loops level.
    pub fn of(g: &Graph) -> Segments {
        let mut all = Segments::default();
        all.add_block(g, g.body());
        all
    }

    /// Adds those of what runs next.
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
