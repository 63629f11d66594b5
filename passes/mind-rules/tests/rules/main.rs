//! Tests of rule files: what is refused, where and in which words.

mod files;
mod lints;

use mind_ir::builtin;
use mind_ir::opdef::Registry;

fn registry() -> Registry {
    Registry::with([builtin::DIALECT, mind_core::DIALECT])
}
