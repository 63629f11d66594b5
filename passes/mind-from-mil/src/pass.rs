//! The pass that imports the mil dialect.

use mind_ir::Graph;
use mind_pass::{Changed, Pass, PassCx, PassError, PassInfo};

use crate::conversion::import;

pub(crate) const PASS: PassInfo = PassInfo {
    name: "import-mil",
    alias: None,
    summary: "Turns the function of a MIL program into core and tensor ops, which every other pass takes; \
              refuses ops without a counterpart by name",
    example: "--import-mil",
    options: &[],
    enters_regions: false,
    make: |_| Box::new(ImportMil),
};

struct ImportMil;

impl Pass for ImportMil {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let imported = import(g).map_err(PassError::Invalid)?;
        cx.statistics.add("imported", imported as u64);
        Ok(Changed::when(imported > 0))
    }
}
