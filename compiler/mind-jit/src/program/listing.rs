//! What kernels are made of, for people to read.

use mind_ir::graph::Graph;

use super::build::{self, Makers};
use super::error::ProgramError;
use super::panels::PanelChoice;
use super::weights::Weights;
use mind_vir::disassemble;
use mind_vir::kernel::assemble;
use mind_vir::target::TargetInfo;

/// A kernel as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelListing {
    /// The op that it was made for first.
    pub op: &'static str,
    /// Its function in vector IR.
    pub vector_ir: String,
    /// Its instructions, one a line with its offset; empty if they are not x86-64's.
    pub assembly: String,
    /// The size of its code, constants included.
    pub bytes: usize,
}

/// The kernels of a verified module at loops level, in the order in which they are first called; then those of the regions of
/// control flow.
///
/// `target` need not be this machine.
///
/// # Errors
///
/// An op without a kernel, places that clash, a kernel that the target cannot run.
pub fn listings(g: &Graph, target: &TargetInfo) -> Result<Vec<KernelListing>, ProgramError> {
    mind_loops::memory::check(g).map_err(|why| ProgramError::Memory(why.message))?;
    let builder = build::build(
        g,
        target,
        PanelChoice::Best,
        Weights::Shared,
        Makers::Caller,
    )?;
    let listing = |(function, op): &(mind_vir::ir::Function, &'static str)| {
        let code = assemble(function, target);
        let code = code.map_err(|source| ProgramError::Kernel { op, source })?;
        Ok(KernelListing {
            op,
            vector_ir: function.to_string(),
            assembly: if target.isa.target().is_x86 {
                disassemble(&code)
            } else {
                String::new()
            },
            bytes: code.len(),
        })
    };
    let own = builder.functions.iter().map(listing);
    let mut all = own.collect::<Result<Vec<KernelListing>, _>>()?;
    for region in &builder.regions {
        all.extend(listings(region, target)?);
    }
    Ok(all)
}
