//! Soundness checks of rewrite rules.

use mind_driver::admission::{config, difference, module_text};
use mind_rulecheck::{Verdict, check, class_text};
use mind_rules::{RuleErrors, RuleSet};

use crate::error::{Error, refused};
use crate::module::session;

/// Result of checking one direction of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleVerdict {
    /// The name of the rule.
    pub name: String,
    /// Whether this is the right-to-left direction of a bidirectional rule.
    pub is_reversed: bool,
    /// Its class of exactness: `exact`, or the classes of differences that it may cause.
    pub class: String,
    /// The reason why it is refused; `None` if it is sound in all cases tried.
    pub refusal: Option<Refusal>,
    /// The number of modules it was tried on.
    pub modules: usize,
    /// The number of elements compared.
    pub elements: usize,
    /// Notes, for example about conditions that seem unnecessary or a stronger class that holds.
    pub notes: Vec<String>,
}

/// Reason why a rule is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The two sides differ.
    Unsound {
        /// The first difference.
        difference: String,
        /// The counterexample as Core text, if Core can express it: a module whose outputs differ.
        module: Option<String>,
    },
    /// It could not be checked, for this reason.
    Unchecked(String),
}

/// Checks the rules in `text` by evaluating both sides of each rule on random modules and values. `name` is the name of
/// the file in diagnostics.
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
/// Returns all errors of the text.
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
