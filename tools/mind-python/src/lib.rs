//! Native part of the Python package `mind_opt`: the crate `mind` as Python classes, and the tools.

mod array;
mod buffer;
mod cache;
mod caller_array;
mod dlpack;
mod errors;
mod executable;
mod memory;
mod model;
mod module;
mod nan;
mod ops;
mod optimize;
mod port;
mod rules;
mod signals;
mod text;
mod tools;

use pyo3::prelude::*;

/// The compiler.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::array::{Array, array};
    #[pymodule_export]
    use crate::executable::{BoundExecutable, Executable};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::module::{Module, interface, load, parse, restore};
    #[pymodule_export]
    use crate::ops::{Op, OpBody};
    #[pymodule_export]
    use crate::optimize::Remark;
    #[pymodule_export]
    use crate::port::Port;
    #[pymodule_export]
    use crate::rules::{Rules, Verdict, check_rules, rules};
    #[pymodule_export]
    use crate::tools::run_tool;

    /// The version.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init() {
        mind_host::silence_expected_panics();
    }
}
