//! Readable listings of kernels.

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
    /// The op that first needed it.
    pub op: &'static str,
    /// Its function in vector IR.
    pub vector_ir: String,
    /// Its disassembly, an instruction per line with its offset; empty for other architectures than x86-64.
    pub assembly: String,
    /// Bytes of its code, including constants.
    pub bytes: usize,
}

/// Returns the kernels of a verified module at loops level in the order of their first calls, followed by those of
/// control-flow regions.
///
/// `target` may be another machine than this one.
///
/// # Errors
///
/// An op has no kernel; buffers overlap; the target cannot run a kernel.
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
