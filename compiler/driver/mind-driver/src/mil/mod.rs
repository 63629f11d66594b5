//! MIL programs: lowering modules to MIL, and checks of programs.

pub mod weights;

use mind_diag::Diagnostics;
use mind_ir::Graph;
use mind_ir::listener::NoopListener;
use mind_ir::verify::VerifyConfig;
use mind_mil::check::Interface;
use mind_mil::structure::program;
use mind_pass::{Manager, Pipeline, RewriteOptions, RunCache, Statistics, Step, parse_pipeline};
use mind_to_mil::{Config, Lowered};

use crate::failure;
use crate::formats::{Format, FormatInfo};
use crate::session::Session;

/// Canonicalises a verified module, which folds constants, and lowers it to MIL. A MIL program is left as it is.
///
/// # Errors
///
/// Errors with E6003 and the reason for each op that MIL cannot express; the module is then in an unspecified state.
pub fn lower(session: &Session, g: &mut Graph, config: &Config) -> Result<Lowered, Diagnostics> {
    if program(g).is_some() {
        return Ok(Lowered::default());
    }
    let pipeline = parse_pipeline("canonicalize", &session.passes)?;
    let manager = Manager {
        registry: &session.registry,
        verify_each: cfg!(debug_assertions),
        verify: VerifyConfig::default(),
        rewriting: &RewriteOptions::default(),
        shared: &RunCache::default(),
    };
    let done = manager.run(&pipeline, g, &mut Statistics::default(), &mut NoopListener);
    done.map_err(failure::diagnostics)?;
    mind_to_mil::lower(g, config)
}

/// Returns a note for each part of a MIL program that an importing pass of the pipeline drops.
pub fn left_out(pipeline: &Pipeline, g: &Graph) -> Diagnostics {
    let is_import = |step: &Step| {
        let mut passes = mind_from_mil::PASSES.iter();
        passes.any(|own| own.name == step.pass.name)
    };
    if pipeline.steps.iter().any(is_import) {
        mind_from_mil::left_out(g)
    } else {
        Diagnostics::new()
    }
}

/// Returns warnings for constructs in the primer's spelling that compilers reject.
pub(crate) fn warnings(format: &FormatInfo, g: &Graph) -> Diagnostics {
    if format.text() == Some(Format::MilPrimer) {
        mind_mil::primer::rejected(g)
    } else {
        Diagnostics::new()
    }
}

/// Checks the rules of whole programs; returns nothing if the module is not a MIL program.
pub(crate) fn check(g: &Graph) -> Diagnostics {
    if program(g).is_some() {
        mind_mil::check::check(g, Interface::Any)
    } else {
        Diagnostics::new()
    }
}
