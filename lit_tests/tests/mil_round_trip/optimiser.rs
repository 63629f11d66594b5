//! The pipeline `-O2` as it runs before a lowering to MIL.

use mind_driver::session::{LEVELS, PASSES, Session};
use mind_ir::Graph;
use mind_ir::listener::NoopListener;
use mind_ir::verify::VerifyConfig;
use mind_pass::{Manager, Pipeline, RewriteOptions, RunCache, Statistics, parse_pipeline};

/// A named pipeline, as mind-opt runs it before a lowering to MIL.
pub struct Optimiser {
    session: Session,
    shared: RunCache,
    pipeline: Pipeline,
}

impl Optimiser {
    /// Returns the optimiser for `-O2`.
    pub fn new() -> Optimiser {
        let level = LEVELS.iter().find(|level| level.name == "2");
        let text = level.expect("there is a level 2").pipeline_for(true);
        Optimiser {
            session: Session::default(),
            shared: RunCache::default(),
            pipeline: parse_pipeline(&text, &PASSES).expect("a pipeline"),
        }
    }

    /// Optimises a verified module.
    pub fn run(&self, g: &mut Graph) {
        let manager = Manager {
            registry: &self.session.registry,
            verify_each: true,
            verify: VerifyConfig::default(),
            rewriting: &RewriteOptions::default(),
            shared: &self.shared,
        };
        let statistics = &mut Statistics::default();
        let ran = manager.run(&self.pipeline, g, statistics, &mut NoopListener);
        ran.unwrap_or_else(|failure| panic!("{failure:?}"));
    }
}
