//! Alternates canonicalisation and common subexpression elimination to a fixed point.

use mind_ir::Graph;
use mind_pass::{Changed, Options, Pass, PassCx, PassError, PassInfo};

use crate::{canonicalize, cse};

pub(crate) const PASS: PassInfo = PassInfo {
    name: "simplify",
    alias: None,
    summary: "Alternates canonicalize and cse until cse merges nothing, because merged operands allow \
              simplifications, which make more ops equal",
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
        // Each round but the last merges at least one op, so the number of rounds is bounded by the number of ops.
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
