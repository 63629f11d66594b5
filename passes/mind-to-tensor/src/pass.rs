//! The pass `lower-to-tensor`.

use mind_ir::Graph;
use mind_pass::{Changed, OptionInfo, OptionKind, Pass, PassCx, PassError, PassInfo};

use crate::conversion::{Options, lower};

/// The lowering of products of 8-bit integers; an option of every pass that lowers them.
pub const DOT_BYTES: OptionInfo = OptionInfo {
    name: "dot-bytes",
    kind: OptionKind::Flag,
    default: "false",
    summary: "whether products of 8-bit integers use dot products of four bytes, for targets with VNNI; otherwise of two integers, widened to 16 bits",
};

impl Options {
    /// Reads the options of a pass that has the option [`DOT_BYTES`].
    pub fn of(options: &mind_pass::Options) -> Options {
        Options {
            dots_bytes: options.flag(DOT_BYTES.name),
        }
    }
}

pub(crate) const PASS: PassInfo = PassInfo {
    name: "lower-to-tensor",
    alias: None,
    summary: "Lowers core ops to the tensor dialect: explicit broadcasts, arithmetic as maps, fused ops \
              as groups; constants and inputs are kept",
    example: "--lower-to-tensor",
    options: &[DOT_BYTES],
    enters_regions: true,
    make: |options| Box::new(LowerToTensor(Options::of(options))),
};

struct LowerToTensor(Options);

impl Pass for LowerToTensor {
    fn prepare(&self, g: &mut Graph) -> Result<Changed, PassError> {
        let expanded = mind_core::solve::expand(g).map_err(PassError::Rejected)?;
        Ok(Changed::when(expanded > 0))
    }

    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let lowered = lower(g, &self.0).map_err(PassError::Rejected)?;
        cx.statistics.add("lowered", lowered as u64);
        Ok(Changed::when(lowered > 0))
    }
}
