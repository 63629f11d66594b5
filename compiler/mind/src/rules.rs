//! Checking rewrite rules.

use mind_driver::admission::{config, difference, module_text};
use mind_rulecheck::{Verdict, check, class_text};
use mind_rules::{RuleErrors, RuleSet};

use crate::error::{Error, refused};
use crate::module::session;

/// What a check found of one direction of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleVerdict {
    /// The rule.
    pub name: String,
    /// Whether it is a rule in both directions, read from right to left.
    pub is_reversed: bool,
    /// What it promises: `exact`, or the classes of what it may change.
    pub class: String,
    /// Why it may not act; `None` if it keeps its promise in every case.
    pub refusal: Option<Refusal>,
    /// How many modules it was tried on.
    pub modules: usize,
    /// How many elements were compared.
    pub elements: usize,
    /// Remarks: conditions that seem needless, a class stronger than declared.
    pub notes: Vec<String>,
}

/// Why a rule may not act.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Both sides differ.
    Unsound {
        /// Where and how.
        difference: String,
        /// A module whose outputs differ, as Core text, if that can say it.
        module: Option<String>,
    },
    /// It was not put to the test, for this reason.
    Unchecked(String),
}

/// Checks the rules in `text` by evaluating both sides of each on made-up modules and values. `name` is that of the file
/// in diagnostics.
///
/// ```
/// use mind::{Refusal, check_rules};
///
/// let text = "\
/// rule hasty
///   class exact
///   core.maximum(?x, core.neg(?x)) => core.neg(?x)
/// ";
/// let verdicts = check_rules("mine.rules", text)?;
/// let Some(Refusal::Unsound { difference, .. }) = &verdicts[0].refusal else { panic!("{verdicts:?}") };
/// assert!(difference.contains("the left side gives"), "{difference}");
/// # Ok::<(), mind::Error>(())
/// ```
///
/// # Errors
///
/// All that is wrong with the text.
pub fn check_rules(name: &str, text: &str) -> Result<Vec<RuleVerdict>, Error> {
    let loaded = RuleSet::load(&session().registry, &[(name, text)]);
    let set = loaded.map_err(|RuleErrors(sources)| {
        let found = sources.into_iter().map(|source| source.diagnostics);
        let found = found.reduce(|mut all, more| {
            all.append(more);
            all
        });
        refused(name, text, found.unwrap_or_default())
    })?;
    let formats = &session().formats;
    let verdicts = check(&set, &config()).into_iter().map(|found| RuleVerdict {
        refusal: match &found.verdict {
            Verdict::Holds => None,
            Verdict::Rejected(shown) => Some(Refusal::Unsound {
                difference: difference(shown),
                module: module_text(shown, formats),
            }),
            Verdict::Unchecked(reason) => Some(Refusal::Unchecked(reason.clone())),
        },
        name: found.name,
        is_reversed: found.reversed,
        class: class_text(found.class),
        modules: found.draws,
        elements: found.cases,
        notes: found.notes,
    });
    Ok(verdicts.collect())
}
