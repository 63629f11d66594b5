//! Dialects, formats and passes of all tools.

use crate::formats::text::Formats;
use mind_ir::opdef::Registry;
use mind_pass::{PassInfo, PassRegistry};

/// The dialects, formats and passes of the tools, created once per run.
pub struct Session {
    /// The ops of all dialects.
    pub registry: Registry,
    /// The text formats.
    pub formats: Formats,
    /// The passes.
    pub passes: PassRegistry,
}

impl Default for Session {
    fn default() -> Session {
        let registry = registry();
        let formats = Formats::new(&registry);
        Session {
            registry,
            formats,
            passes: PASSES,
        }
    }
}

/// Returns a registry of all dialects.
pub fn registry() -> Registry {
    Registry::with([
        mind_ir::builtin::DIALECT,
        mind_core::DIALECT,
        mind_tensor::DIALECT,
        #[cfg(feature = "loops")]
        mind_loops::DIALECT,
        #[cfg(feature = "mil")]
        mind_mil::DIALECT,
    ])
}

/// All passes.
pub const PASSES: PassRegistry = PassRegistry::new(PASS_GROUPS);

const PASS_GROUPS: &[&[PassInfo]] = &[
    mind_transforms::PASSES,
    #[cfg(feature = "egraph")]
    mind_eqsat::PASSES,
    #[cfg(feature = "loops")]
    mind_to_tensor::PASSES,
    #[cfg(feature = "loops")]
    mind_to_loops::PASSES,
    #[cfg(feature = "mil")]
    mind_to_mil::PASSES,
    #[cfg(feature = "mil")]
    mind_from_mil::PASSES,
];

/// An optimisation level, for example `-O2`.
#[derive(Debug)]
pub struct Level {
    /// The name after `-O`.
    pub name: &'static str,
    /// Its pipeline.
    pub pipeline: &'static str,
    /// A summary in one line.
    pub summary: &'static str,
}

impl Level {
    /// Returns the pipeline for targets whose convolutions are channels-last, or channels-first.
    pub fn pipeline_for(&self, channels_first: bool) -> String {
        let lays_out = |pass: &str| channels_first && matches!(pass, "fold" | "fuse");
        let passes = self.pipeline.split(',').map(|pass| {
            let layout = if lays_out(pass) { "{layout=nchw}" } else { "" };
            format!("{pass}{layout}")
        });
        passes.collect::<Vec<_>>().join(",")
    }
}

/// The optimisation levels in rising order. Results stay bit-identical at all levels.
pub const LEVELS: &[Level] = &[
    Level {
        name: "0",
        pipeline: "verify",
        summary: "verify only",
    },
    Level {
        name: "1",
        pipeline: "simplify,dce",
        summary: "cheap clean-up",
    },
    #[cfg(feature = "egraph")]
    Level {
        name: "2",
        pipeline: "simplify,fold,simplify,fuse,cse,dce",
        summary: "e-graph folding and fusion",
    },
    #[cfg(feature = "egraph")]
    Level {
        name: "3",
        pipeline: "simplify,fold,simplify,fold,simplify,fuse,cse,dce",
        summary: "as 2, folding twice",
    },
];
