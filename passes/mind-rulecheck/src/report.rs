//! Results of the check, per rule and direction.

use mind_ir::types::DType;
use mind_rules::FastMath;

use crate::counterexample::Counterexample;

/// The result of the check of one direction of a rule.
#[derive(Debug)]
pub struct RuleCheck {
    /// The name of the rule.
    pub name: String,
    /// Whether this is the direction from right to left of a rule with `<=>`.
    pub reversed: bool,
    /// The class of exactness that the rule declares.
    pub class: FastMath,
    /// Whether the rule keeps its promise.
    pub verdict: Verdict,
    /// The strictest class that held in every case; `None` if none did.
    pub holds: Option<FastMath>,
    /// The dtypes in which the rule was tried.
    pub dtypes: Vec<DType>,
    /// The dtypes that its condition excludes.
    pub excluded: Vec<DType>,
    /// The number of modules built that the rule acts on, each with its own shapes and attributes.
    pub draws: usize,
    /// The number of elements compared.
    pub cases: usize,
    /// Remarks, for example that a condition seems needless or that a stricter class than the declared one holds.
    pub notes: Vec<String>,
}

/// Whether a rule keeps the promise of its class.
#[derive(Debug)]
pub enum Verdict {
    /// It was kept in every case.
    Holds,
    /// It was broken in this case.
    Rejected(Box<Counterexample>),
    /// The rule could not be tested, for this reason.
    Unchecked(String),
}

impl RuleCheck {
    /// Returns whether the rule may be used.
    pub fn passed(&self) -> bool {
        matches!(self.verdict, Verdict::Holds)
    }
}

/// Returns the name of a class: `exact`, or its parts separated by commas.
pub fn class_text(class: FastMath) -> String {
    let parts = FastMath::NAMES
        .iter()
        .filter(|(_, part)| *part != FastMath::EXACT && class.allows(*part));
    let words: Vec<&str> = parts.map(|(name, _)| *name).collect();
    if words.is_empty() {
        "exact".to_owned()
    } else {
        words.join(", ")
    }
}
