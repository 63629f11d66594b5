//! Tests of the errors and lints of rule files.

mod files;
mod lints;

use mind_ir::builtin;
use mind_ir::opdef::Registry;

fn registry() -> Registry {
    Registry::with([builtin::DIALECT, mind_core::DIALECT])
}
