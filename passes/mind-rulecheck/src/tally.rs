//! Results of the check of one direction of a rule so far.

use indexmap::IndexMap;
use mind_ir::types::DType;
use mind_rules::FastMath;

use crate::instance::Draw;
use crate::values::Mode;
use mind_ir::tensor::Tensor;

/// The classes that are compared with the declared one, strictest first.
pub(crate) const CLASSES: [FastMath; 5] = [
    FastMath::EXACT,
    FastMath::NSZ,
    FastMath::NNAN,
    FastMath::NSZ.union(FastMath::NNAN),
    FastMath::REASSOC,
];

/// A case that breaks the rule's promise.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) draw: Draw,
    pub(crate) values: Vec<Tensor>,
    pub(crate) mode: Mode,
    /// The first element that differs, in row-major order.
    pub(crate) at: usize,
}

/// Results on modules that exactly one part of the condition excludes.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Without {
    pub(crate) cases: usize,
    pub(crate) differs: bool,
    /// Whether results differ on values for which the class promises nothing.
    pub(crate) excused: bool,
}

/// Results of one form so far.
#[derive(Default, Debug)]
pub(crate) struct Tally {
    /// The number of modules that the rule acted on, per dtype that it claims.
    pub(crate) dtypes: Vec<(DType, usize)>,
    /// The dtypes that the condition excludes.
    pub(crate) excluded: Vec<DType>,
    pub(crate) draws: usize,
    /// Whether a module with the left side was built, regardless of whether the rule acts on it.
    pub(crate) built: bool,
    /// The first error of the verifier about an op of the left side.
    pub(crate) rejection: Option<String>,
    /// Whether the condition held in a module in which the right side has no type that fits.
    pub(crate) untyped: bool,
    /// Numbers of elements compared, and of those that were not NaN.
    pub(crate) cases: usize,
    pub(crate) numbers: usize,
    /// The number of elements for which the class makes a promise.
    pub(crate) judged: usize,
    /// Whether the promise of each class of [`CLASSES`] was broken.
    pub(crate) broken: [bool; CLASSES.len()],
    pub(crate) failure: Option<Failure>,
    /// Whether results differ on values for which the class promises nothing.
    pub(crate) excused: bool,
    /// Results without each part of the condition.
    pub(crate) without: Vec<Without>,
    /// For each alternative of the condition, whether it held in a module that the rule acted on.
    pub(crate) taken: Vec<bool>,
    /// The mutants of the right side, and whether each was distinguished from the left side.
    pub(crate) mutants: IndexMap<String, bool>,
}

impl Tally {
    /// Returns the strictest class that held in every case; `None` if all were broken.
    pub(crate) fn holds(&self) -> Option<FastMath> {
        let kept = CLASSES.iter().zip(self.broken).find(|(_, broken)| !broken);
        kept.map(|(class, _)| *class)
    }

    /// Returns why the verifier rejects every module with the left side; `None` if one was built.
    pub(crate) fn rejected_left_side(&self) -> Option<&str> {
        self.rejection.as_deref().filter(|_| !self.built)
    }

    /// Records a mutant, and whether it was distinguished from the left side.
    pub(crate) fn mutant(&mut self, label: String, killed: bool) {
        *self.mutants.entry(label).or_default() |= killed;
    }
}
