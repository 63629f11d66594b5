//! Dead code elimination.

use mind_core::ops::fused::Fused;
use mind_ir::Graph;
use mind_ir::opdef::Op;
use mind_pass::{Changed, Pass, PassCx, PassError, PassInfo};
use mind_rewrite::erase_dead;

use crate::unread::drop_unread;

pub(crate) const PASS: PassInfo = PassInfo {
    name: "dce",
    alias: None,
    summary: "Removes ops, and results of fused ops, that no output depends on; keeps inputs, because they are part \
              of the interface",
    example: "--dce",
    options: &[],
    enters_regions: true,
    make: |_| Box::new(Dce),
};

struct Dce;

impl Pass for Dce {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let erased = erase_dead(g);
        let dropped = drop_unread(g, Fused::DEF);
        let erased = erased + if dropped > 0 { erase_dead(g) } else { 0 };
        cx.statistics.add("erased", erased as u64);
        Ok(Changed::when(erased + dropped > 0))
    }
}
