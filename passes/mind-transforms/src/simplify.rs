//! The canonical form and the merging of equal ops, until neither finds more.

use mind_ir::Graph;
use mind_pass::{Changed, Options, Pass, PassCx, PassError, PassInfo};

use crate::{canonicalize, cse};

pub(crate) const PASS: PassInfo = PassInfo {
    name: "simplify",
    alias: None,
    summary: "Runs canonicalize and cse in turns until cse merges nothing: equal operands that merging makes \
              are simplified, and what that makes equal is merged",
    example: "--simplify",
    options: &[],
    enters_regions: true,
    make: |_| Box::new(Simplify),
};

struct Simplify;

impl Pass for Simplify {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let defaults = |pass: &'static PassInfo| (pass.make)(&Options::new(pass, &[]));
        let [canonicalize, cse] = [&canonicalize::PASS, &cse::PASS].map(defaults);
        let mut changed = Changed::No;
        // Each round merges at least one op, so that there are at most as many as ops.
        loop {
            let rewritten = canonicalize.run(g, cx)?;
            let merged = cse.run(g, cx)?;
            changed = Changed::when([changed, rewritten, merged].contains(&Changed::Yes));
            if merged == Changed::No {
                return Ok(changed);
            }
        }
    }
}
