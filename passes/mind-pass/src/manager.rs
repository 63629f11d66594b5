//! The pass manager.

use std::time::Duration;

use mind_core::region::{controlled, inline, outline, settled_arguments};
use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_ir::Graph;
use mind_ir::listener::{Listener, NoopListener, Rewrite, RuleTime};
use mind_ir::opdef::Registry;
use mind_ir::verify::{VerifyConfig, verify};

use crate::{
    Changed, Drawing, Pass, PassCx, PassError, PassInfo, Pipeline, RewriteOptions, RunCache,
    Statistics, Step,
};

/// A point of a pipeline's execution, for timing and IR dumps.
#[derive(Clone, Copy)]
pub enum PipelineEvent<'a> {
    /// A pass is about to run.
    Before(&'a PassInfo),
    /// A pass has run.
    After(&'a PassInfo, Changed),
    /// The verifier has accepted the module after a pass.
    Verified(&'a PassInfo),
}

/// Observer of a pipeline and of the rewrites of its passes.
pub trait Instrument: Listener {
    /// Called at every stage.
    fn event(&mut self, event: PipelineEvent<'_>, g: &Graph);

    /// Returns the requested e-graph drawing, if it is still to be made.
    fn drawing(&mut self) -> Option<&mut Drawing> {
        None
    }
}

impl Instrument for NoopListener {
    fn event(&mut self, _: PipelineEvent<'_>, _: &Graph) {}
}

/// Runs pipelines.
pub struct Manager<'a> {
    /// The ops of all dialects.
    pub registry: &'a Registry,
    /// Whether the verifier runs after every pass.
    pub verify_each: bool,
    /// Checks of the verifier beyond the op tables.
    pub verify: VerifyConfig,
    /// The user's rewrite options.
    pub rewriting: &'a RewriteOptions,
    /// Caches shared by all runs with this registry and these rules.
    pub shared: &'a RunCache,
}

/// Why a pipeline stopped.
#[derive(Debug)]
pub enum Failure {
    /// A pass failed.
    Pass {
        /// Its name.
        pass: &'static str,
        /// Its reason.
        error: PassError,
    },
    /// A pass left an invalid module, which is a bug of the pass.
    Invalid {
        /// Its name.
        pass: &'static str,
        /// The verifier's diagnostics.
        found: Diagnostics,
    },
}

impl Manager<'_> {
    /// Runs the steps in order on a verified module.
    ///
    /// # Errors
    ///
    /// Errors at the first pass that fails or leaves an invalid module. The module must not be used after that, because
    /// the pass may have stopped halfway.
    pub fn run(
        &self,
        pipeline: &Pipeline,
        g: &mut Graph,
        statistics: &mut Statistics,
        watch: &mut dyn Instrument,
    ) -> Result<(), Failure> {
        for Step { pass, options } in &pipeline.steps {
            watch.event(PipelineEvent::Before(pass), g);
            statistics.enter(pass.name);
            let made = (pass.make)(options);
            let changed = self.pass(pass, &*made, (g, false), statistics, watch)?;
            watch.event(PipelineEvent::After(pass, changed), g);
            if self.verify_each {
                let found = verify(g, &self.verify);
                if found.has_errors() {
                    return Err(Failure::Invalid {
                        pass: pass.name,
                        found,
                    });
                }
                watch.event(PipelineEvent::Verified(pass), g);
            }
        }
        Ok(())
    }

    /// Runs a pass on a module or region; if the pass enters regions, first on those of control flow ops, for example
    /// the body of a `scan`.
    fn pass(
        &self,
        info: &'static PassInfo,
        pass: &dyn Pass,
        (g, is_region): (&mut Graph, bool),
        statistics: &mut Statistics,
        watch: &mut dyn Instrument,
    ) -> Result<Changed, Failure> {
        let failed = |error| Failure::Pass {
            pass: info.name,
            error,
        };
        let prepared = pass.prepare(g).map_err(failed)?;
        let mut entered = Changed::No;
        let blocks = match info.enters_regions {
            true => controlled(g, g.body()),
            false => Vec::new(),
        };
        let settled = settled_arguments(g, &blocks);
        for (block, settled) in blocks.into_iter().zip(settled) {
            let mut region = outline(g, block, |at| settled.contains(&at));
            let watch = &mut InRegion(watch);
            if self.pass(info, pass, (&mut region, true), statistics, watch)? == Changed::Yes {
                inline(g, block, &region);
                entered = Changed::Yes;
            }
        }
        let mut cx = PassCx {
            registry: self.registry,
            rewriting: self.rewriting,
            shared: self.shared,
            verify: &self.verify,
            is_region,
            statistics,
            watch,
        };
        let changed = pass.run(g, &mut cx);
        let changed = changed.map_err(failed)?;
        let all = [prepared, entered, changed];
        Ok(Changed::when(all.contains(&Changed::Yes)))
    }
}

/// Forwards the rewrites of a pass on a region, but not the stages of the pipeline.
struct InRegion<'w>(&'w mut dyn Instrument);

impl Instrument for InRegion<'_> {
    fn event(&mut self, _: PipelineEvent<'_>, _: &Graph) {}
}

impl Listener for InRegion<'_> {
    fn admits(&self, rules: &[&str]) -> bool {
        self.0.admits(rules)
    }

    fn admit(&mut self, rules: &[&str]) -> bool {
        self.0.admit(rules)
    }

    fn applied(&mut self, g: &Graph, rewrite: &Rewrite<'_>) {
        self.0.applied(g, rewrite);
    }

    fn observes_missed(&self, rule: &str) -> bool {
        self.0.observes_missed(rule)
    }

    fn missed(&mut self, span: Span, rule: &str, reason: &str) {
        self.0.missed(span, rule, reason);
    }

    fn noted(&mut self, note: &Diagnostic) {
        self.0.noted(note);
    }

    fn visit(&mut self, span: Span) {
        self.0.visit(span);
    }

    fn now(&self) -> Option<Duration> {
        self.0.now()
    }

    fn spent(&mut self, rule: &str, time: RuleTime) {
        self.0.spent(rule, time);
    }
}
