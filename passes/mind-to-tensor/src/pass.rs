//! The pass.

use mind_ir::Graph;
use mind_pass::{Changed, Pass, PassCx, PassError, PassInfo};

use crate::conversion::lower;

pub(crate) const PASS: PassInfo = PassInfo {
    name: "lower-to-tensor",
    alias: None,
    summary: "Lowers core ops to the tensor dialect: broadcasts written out, arithmetic as maps, fused \
              ops as groups; constants and inputs stay",
    example: "--lower-to-tensor",
    options: &[],
    enters_regions: true,
    make: |_| Box::new(LowerToTensor),
};

struct LowerToTensor;

impl Pass for LowerToTensor {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let lowered = lower(g).map_err(PassError::Rejected)?;
        cx.statistics.add("lowered", lowered as u64);
        Ok(Changed::when(lowered > 0))
    }
}
