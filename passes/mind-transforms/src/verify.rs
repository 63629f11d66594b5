//! Verification as a pass.

use mind_ir::Graph;
use mind_ir::verify::verify;
use mind_pass::{Changed, Pass, PassCx, PassError, PassInfo};

pub(crate) const PASS: PassInfo = PassInfo {
    name: "verify",
    alias: None,
    summary: "Checks all rules of all ops; tools also do this when they read a module",
    example: "--verify",
    options: &[],
    enters_regions: false,
    make: |_| Box::new(Verify),
};

struct Verify;

impl Pass for Verify {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let found = verify(g, cx.verify);
        if found.has_errors() {
            Err(PassError::Invalid(found))
        } else {
            Ok(Changed::No)
        }
    }
}
