//! Programs of MIL: what modules become, and what is asked of those that are read.

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

/// Lowers a verified module to MIL in its canonical form, where what is known of constants has been computed; a program
/// of MIL stays as it is.
///
/// # Errors
///
/// E6003 for each op that MIL cannot say, with the reason; the module is then not to be used.
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

/// A note for each part of a program of MIL that a pass of the pipeline does not keep.
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

/// What the spelling of `format` has that compilers reject when they parse.
pub(crate) fn warnings(format: &FormatInfo, g: &Graph) -> Diagnostics {
    if format.text() == Some(Format::MilPrimer) {
        mind_mil::primer::rejected(g)
    } else {
        Diagnostics::new()
    }
}

/// What a verified module breaks of the rules of whole programs; nothing if it is no program of MIL.
pub(crate) fn check(g: &Graph) -> Diagnostics {
    if program(g).is_some() {
        mind_mil::check::check(g, Interface::Any)
    } else {
        Diagnostics::new()
    }
}
