//! The dtypes for which ONNX Runtime has CPU kernels.
//!
//! The operator sets allow more dtypes than any runtime implements, and a model with an unimplemented node fails to
//! load. `kernels.tsv` is measured: `lit_tests/tests/onnx_kernels.py` loads a model for each operator and dtype.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use mind_diag::{Diagnostic, Diagnostics, Severity, Span};
use mind_ir::types::DType;
use rustc_hash::FxHashMap;

/// One line for each operator and version with new kernels: name, version and dtypes.
const TABLE: &str = include_str!("kernels.tsv");

/// The versions of an operator in ascending order, with the dtypes that have kernels from each version on.
type Versions = Vec<(i64, Vec<DType>)>;

static KERNELS: LazyLock<FxHashMap<&str, Versions>> = LazyLock::new(|| {
    let mut kernels: FxHashMap<&str, Versions> = FxHashMap::default();
    for line in TABLE.lines() {
        let (name, version, dtypes) = row(line).expect("a line of the table has three fields");
        kernels.entry(name).or_default().push((version, dtypes));
    }
    kernels
});

fn row(line: &str) -> Option<(&str, i64, Vec<DType>)> {
    let (name, rest) = line.split_once('\t')?;
    let (version, dtypes) = rest.split_once('\t')?;
    let dtypes = dtypes.split_whitespace().map(DType::parse);
    Some((name, version.parse().ok()?, dtypes.collect::<Option<_>>()?))
}

/// Returns whether ONNX Runtime has a kernel for an operator in a version of the operator set; true for operators that
/// are not listed.
pub(super) fn has(name: &str, opset: i64, dtype: DType) -> bool {
    let Some(versions) = KERNELS.get(name) else {
        return true;
    };
    let own = versions.iter().rev().find(|(since, _)| *since <= opset);
    own.is_some_and(|(_, dtypes)| dtypes.contains(&dtype))
}

/// Returns notes on the used operator forms for which ONNX Runtime does not have a kernel.
pub(super) fn notes(without_kernel: &BTreeSet<String>) -> Diagnostics {
    let mut notes = Diagnostics::new();
    for form in without_kernel {
        let message =
            format!("ONNX Runtime 1.32 does not load this model: it has no kernel for {form}");
        let note = Diagnostic::new(Severity::Note, Span::FILE, message);
        notes.push(note.help("other engines may have one; for ONNX Runtime compute it in another dtype, for example f32"));
    }
    notes
}

/// Returns whether the table has the operator.
#[cfg(test)]
pub(super) fn is_listed(name: &str) -> bool {
    KERNELS.contains_key(name)
}
