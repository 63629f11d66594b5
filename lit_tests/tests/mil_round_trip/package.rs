//! Packages in memory, and what their programs compute.

use std::path::PathBuf;

use mind_cli::MemoryHost;
use mind_diag::Diagnostics;
use mind_driver::mil::weights;
use mind_interp::{Arrays, Extents, RunConfig, bind, run};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{VerifyConfig, verify};
use mind_mil::check::{Interface, check};
use mind_text::limits::Limits;

/// The most steps of a loop.
const MAX_STEPS: u64 = 1000;

const MODEL: &str = "m.mlpackage/Data/com.apple.CoreML/model.mlmodel";
const WEIGHTS: &str = "m.mlpackage/Data/com.apple.CoreML/weights/weight.bin";

/// Returns the message of the first error.
pub fn first(found: Diagnostics) -> String {
    let first = found.first_error().map(|own| own.message.clone());
    first.unwrap_or_default()
}

/// Writes a module as a package and reads its program back. Returns `None` if a package cannot have its inputs or outputs,
/// for example integers of 64 bits.
pub fn read_back(low: &Graph) -> Option<Result<Graph, String>> {
    let package = mind_coreml::package::package(low).ok()?;
    let mut host = MemoryHost::default();
    host.files
        .insert(PathBuf::from(MODEL), package.model.clone());
    host.files.insert(PathBuf::from(WEIGHTS), package.weights);
    let limits = Limits::default();
    let (_, program) = mind_coreml::package::read::program(MODEL, &package.model, &limits);
    Some(program.map_err(first).and_then(|mut again| {
        let found = verify(&mut again, &VerifyConfig::default());
        let broken = if found.has_errors() {
            found
        } else {
            check(&again, Interface::Any)
        };
        if broken.has_errors() {
            return Err(first(broken));
        }
        weights::read(&mut again, MODEL, &mut host).map_err(first)?;
        Ok(again)
    }))
}

/// Returns the outputs of a program; `None` if its run fails.
pub fn results(g: &Graph, arrays: &Arrays) -> Option<Vec<Tensor>> {
    let bound = bind(g, arrays, Extents::default()).ok()?;
    let config = RunConfig {
        max_steps: MAX_STEPS,
        ..RunConfig::default()
    };
    run(g, &bound, &config).ok()
}

/// Returns whether two runs gave the same bits, or both failed.
pub fn same_bits(expected: Option<&[Tensor]>, found: Option<&[Tensor]>) -> bool {
    match (expected, found) {
        (Some(expected), Some(found)) => {
            let mut pairs = expected.iter().zip(found);
            expected.len() == found.len() && pairs.all(|(a, b)| a.same_bits(b))
        }
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}
