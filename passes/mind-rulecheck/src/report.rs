//! What the check says of a rule.

use mind_ir::types::DType;
use mind_rules::FastMath;

use crate::counterexample::Counterexample;

/// What the check found of one direction of a rule.
#[derive(Debug)]
pub struct RuleCheck {
    /// The rule's name.
    pub name: String,
    /// Whether this is `<=>` read from right to left.
    pub reversed: bool,
    /// What the rule promises.
    pub class: FastMath,
    /// What was found.
    pub verdict: Verdict,
    /// The strictest class that held in every case; `None` if none did.
    pub holds: Option<FastMath>,
    /// The dtypes that it was tried on.
    pub dtypes: Vec<DType>,
    /// The dtypes that its condition excludes.
    pub excluded: Vec<DType>,
    /// How many modules were built on which the rule acts, each with shapes and attributes of its own.
    pub draws: usize,
    /// How many elements were compared.
    pub cases: usize,
    /// Remarks: conditions that seem needless, a class stronger than declared.
    pub notes: Vec<String>,
}

/// Whether a rule keeps its promise.
#[derive(Debug)]
pub enum Verdict {
    /// In every case.
    Holds,
    /// Not in this case.
    Rejected(Box<Counterexample>),
    /// It was not put to the test, for this reason.
    Unchecked(String),
}

impl RuleCheck {
    /// Whether the rule may act.
    pub fn passed(&self) -> bool {
        matches!(self.verdict, Verdict::Holds)
    }
}

/// The words of a class: `exact`, or its parts with commas.
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
