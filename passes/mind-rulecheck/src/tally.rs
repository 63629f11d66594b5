//! What was seen of one direction of a rule so far.

use indexmap::IndexMap;
use mind_ir::types::DType;
use mind_rules::FastMath;

use crate::instance::Draw;
use crate::values::Mode;
use mind_ir::tensor::Tensor;

/// The classes that a rule that breaks its promise may still keep, strictest first.
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

/// What was seen of one part of a condition being the only one that does not hold.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Without {
    pub(crate) cases: usize,
    pub(crate) differs: bool,
    /// Whether results differ where the class promises nothing.
    pub(crate) excused: bool,
}

/// What was seen of one form so far.
#[derive(Default, Debug)]
pub(crate) struct Tally {
    /// For each dtype that the rule claims, how many modules it acted on.
    pub(crate) dtypes: Vec<(DType, usize)>,
    /// The dtypes that the condition excludes.
    pub(crate) excluded: Vec<DType>,
    pub(crate) draws: usize,
    /// Whether a module with the left side was built, on which the rule may act or not.
    pub(crate) built: bool,
    /// The first error of the verifier about an op of the left side.
    pub(crate) rejection: Option<String>,
    /// Whether the right side had no fitting type somewhere where the condition held.
    pub(crate) untyped: bool,
    /// Elements compared, and those of them that were not NaN.
    pub(crate) cases: usize,
    pub(crate) numbers: usize,
    /// Elements that the class promises something of.
    pub(crate) judged: usize,
    /// Whether each class of [`CLASSES`] was broken.
    pub(crate) broken: [bool; CLASSES.len()],
    pub(crate) failure: Option<Failure>,
    /// Whether results differ where the class promises nothing.
    pub(crate) excused: bool,
    /// By the parts of the condition.
    pub(crate) without: Vec<Without>,
    /// By the alternatives of the condition: whether it held where the rule acted.
    pub(crate) taken: Vec<bool>,
    /// The mutants of the right side and whether each was told apart.
    pub(crate) mutants: IndexMap<String, bool>,
}

impl Tally {
    /// The strictest class that was kept.
    pub(crate) fn holds(&self) -> Option<FastMath> {
        let kept = CLASSES.iter().zip(self.broken).find(|(_, broken)| !broken);
        kept.map(|(class, _)| *class)
    }

    /// Returns why the verifier accepts no module with the left side; `None` if one was built.
    pub(crate) fn rejected_left_side(&self) -> Option<&str> {
        self.rejection.as_deref().filter(|_| !self.built)
    }

    /// Notes a mutant, which was told apart or not.
    pub(crate) fn mutant(&mut self, label: String, killed: bool) {
        *self.mutants.entry(label).or_default() |= killed;
    }
}
