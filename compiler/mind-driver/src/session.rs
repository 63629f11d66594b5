//! The dialects, formats and passes that every tool knows.

use crate::formats::text::Formats;
use mind_ir::opdef::Registry;
use mind_pass::{PassInfo, PassRegistry};

/// What the tools are made of, put together once per run.
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

/// Every dialect.
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

/// Every pass.
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

/// A named pipeline: `-O2`.
#[derive(Debug)]
pub struct Level {
    /// The name behind `-O`.
    pub name: &'static str,
    /// What it runs.
    pub pipeline: &'static str,
    /// One sentence on what it is for.
    pub summary: &'static str,
}

impl Level {
    /// What it runs for a target whose convolutions have their channels last, or first.
    pub fn pipeline_for(&self, channels_first: bool) -> String {
        let lays_out = |pass: &str| channels_first && matches!(pass, "fold" | "fuse");
        let passes = self.pipeline.split(',').map(|pass| {
            let layout = if lays_out(pass) { "{layout=nchw}" } else { "" };
            format!("{pass}{layout}")
        });
        passes.collect::<Vec<_>>().join(",")
    }
}

/// The named pipelines, in rising order. All keep every bit of the results.
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
