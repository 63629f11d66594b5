//! Running a pipeline.

use mind_diag::Diagnostics;
use mind_ir::Graph;
use mind_ir::listener::{Listener, NoopListener};
use mind_ir::opdef::Registry;
use mind_ir::verify::{VerifyConfig, verify};

use crate::{
    Changed, Drawing, PassCx, PassError, PassInfo, Pipeline, RewriteOptions, RunCache, Statistics,
    Step,
};

/// What a pipeline is doing, for timing and printing.
#[derive(Clone, Copy)]
pub enum Stage<'a> {
    /// A pass is about to run.
    Before(&'a PassInfo),
    /// A pass has run.
    After(&'a PassInfo, Changed),
    /// The module after a pass has been verified.
    Verified(&'a PassInfo),
}

/// Watches a pipeline run, and the rewrites that its passes make.
pub trait Instrument: Listener {
    /// Called at every stage.
    fn stage(&mut self, stage: Stage<'_>, g: &Graph);

    /// The drawing that is wanted of an e-graph and still to be made.
    fn drawing(&mut self) -> Option<&mut Drawing> {
        None
    }
}

impl Instrument for NoopListener {
    fn stage(&mut self, _: Stage<'_>, _: &Graph) {}
}

/// Runs pipelines.
pub struct Manager<'a> {
    /// The ops of all dialects.
    pub registry: &'a Registry,
    /// Whether the verifier runs after every pass.
    pub verify_each: bool,
    /// What the verifier checks besides the op tables.
    pub verify: VerifyConfig,
    /// What the user asked of rewriting.
    pub rewriting: &'a RewriteOptions,
    /// What passes share, over all runs with this registry and these rules.
    pub shared: &'a RunCache,
}

/// Why a pipeline stopped.
#[derive(Debug)]
pub enum Failure {
    /// A pass gave up.
    Pass {
        /// Its name.
        pass: &'static str,
        /// Its reason.
        error: PassError,
    },
    /// A pass left a module that breaks a rule: a bug of the pass.
    Invalid {
        /// Its name.
        pass: &'static str,
        /// What the verifier found.
        found: Diagnostics,
    },
}

impl Manager<'_> {
    /// Runs the steps in order on a verified module.
    ///
    /// # Errors
    ///
    /// The first pass that gives up or leaves an invalid module; the module is then not to be
    /// used.
    pub fn run(
        &self,
        pipeline: &Pipeline,
        g: &mut Graph,
        statistics: &mut Statistics,
        watch: &mut dyn Instrument,
    ) -> Result<(), Failure> {
        for Step { pass, options } in &pipeline.steps {
            watch.stage(Stage::Before(pass), g);
            statistics.enter(pass.name);
            let mut cx = PassCx {
                registry: self.registry,
                rewriting: self.rewriting,
                shared: self.shared,
                verify: &self.verify,
                statistics,
                watch: &mut *watch,
            };
            let changed = (pass.make)(options).run(g, &mut cx);
            let changed = changed.map_err(|error| Failure::Pass {
                pass: pass.name,
                error,
            })?;
            watch.stage(Stage::After(pass, changed), g);
            if self.verify_each {
                let found = verify(g, &self.verify);
                if found.has_errors() {
                    return Err(Failure::Invalid {
                        pass: pass.name,
                        found,
                    });
                }
                watch.stage(Stage::Verified(pass), g);
            }
        }
        Ok(())
    }
}
