//! Verification as a pass.

use mind_ir::Graph;
use mind_pass::{Changed, Pass, PassCx, PassError, PassInfo};

pub(crate) const PASS: PassInfo = PassInfo {
    name: "verify",
    alias: None,
    summary: "Checks every rule of every op; every tool does so on reading, too",
    example: "--verify",
    options: &[],
    make: |_| Box::new(Verify),
};

/// Does nothing itself: a module is verified on reading and after each pass.
struct Verify;

impl Pass for Verify {
    fn run(&self, _: &mut Graph, _: &mut PassCx<'_>) -> Result<Changed, PassError> {
        Ok(Changed::No)
    }
}
