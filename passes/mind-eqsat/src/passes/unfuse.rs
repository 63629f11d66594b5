//! The pass `unfuse`.

use mind_core::ops::fused::Fused;
use mind_ir::Graph;
use mind_ir::opdef::Op;
use mind_pass::{Changed, Pass, PassCx, PassError, PassInfo};

use crate::fusion::inline::unfuse;

pub(crate) const PASS: PassInfo = PassInfo {
    name: "unfuse",
    alias: None,
    summary: "Puts the bodies of fused ops back in line, the inverse of fuse",
    example: "--unfuse, or to see groups anew: fuse,unfuse,fuse",
    options: &[],
    enters_regions: true,
    make: |_| Box::new(Unfuse),
};

struct Unfuse;

impl Pass for Unfuse {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let inlined = unfuse(g, Fused::DEF);
        cx.statistics.add("groups-inlined", inlined as u64);
        Ok(Changed::when(inlined > 0))
    }
}
