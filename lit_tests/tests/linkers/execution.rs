//! Runs libraries of other systems in this process.

#[path = "image.rs"]
mod image;
#[path = "macho.rs"]
mod macho;
#[path = "pe.rs"]
mod pe;

use mind_interp::{Extents, RunConfig, bind, compare, random_inputs, run};
use mind_ir::Graph;
use mind_ir::tensor::{Buffer, Tensor};
use mind_vir::object::Container;

/// Whether libraries are run.
pub(super) const RUNS: bool = true;

/// Runs the library of a module and compares its results with the interpreter.
///
/// # Errors
///
/// The first difference, or a library that cannot be loaded or fails.
pub(super) fn check(
    g: &Graph,
    container: Container,
    library: &[u8],
    seed: u64,
) -> Result<(), String> {
    let arrays = random_inputs(g, seed, Extents::default()).map_err(|why| format!("{why:?}"))?;
    let bound = bind(g, &arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
    let expected = run(g, &bound, &RunConfig::default()).map_err(|why| format!("{why:?}"))?;
    let image = match container {
        Container::Coff => pe::load(library),
        Container::MachO => macho::load(library),
        Container::Elf => Err("the system itself loads it".to_owned()),
    }?;
    let (mut weights, mut inputs) = (Vec::new(), Vec::new());
    for input in mind_interp::inputs(g) {
        let bytes = arrays[input.name].buffer().to_bytes();
        if input.param {
            &mut weights
        } else {
            &mut inputs
        }
        .push(bytes);
    }
    let mut outputs: Vec<Vec<u8>> = expected
        .iter()
        .map(|tensor| vec![0xa5; tensor.buffer().to_bytes().len()])
        .collect();
    // SAFETY: the header of the file declares functions with these parameters, and the arrays have the declared sizes.
    unsafe { image.run(&weights, &inputs, &mut outputs)? };
    let tensor = |(tensor, bytes): (&Tensor, &Vec<u8>)| {
        let elements = Buffer::from_bytes(tensor.dtype(), bytes);
        Tensor::new(tensor.shape().to_vec(), elements)
    };
    let found: Vec<Tensor> = expected.iter().zip(&outputs).map(tensor).collect();
    compare(&expected, &found).map_err(|differ| differ.to_string())
}
