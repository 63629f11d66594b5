//! Rewrite rules from text.

use mind::{Optimizer, Refusal, RuleVerdict};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::signals;

/// Checked rewrite rules: both sides of each were evaluated on many inputs.
#[pyclass(frozen, module = "mind_opt")]
pub(crate) struct Rules {
    name: String,
    text: String,
}

impl Rules {
    /// Returns the name of the file, and the text.
    pub(crate) fn source(&self) -> (String, String) {
        (self.name.clone(), self.text.clone())
    }
}

#[pymethods]
impl Rules {
    /// The name of the file in diagnostics.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The rules as text.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("Rules({})", self.name)
    }
}

/// Parses rules, and checks that each satisfies its class.
#[pyfunction]
#[pyo3(signature = (text, *, name="<rules>"))]
pub(crate) fn rules(py: Python<'_>, text: &str, name: &str) -> PyResult<Rules> {
    let (file, source) = (name.to_owned(), text.to_owned());
    let checked = signals::waiting(py, move || {
        Optimizer::new("verify")?.rules(&file, &source).map(|_| ())
    })?;
    checked.map_err(|why| raised(py, &why))?;
    Ok(Rules {
        name: name.to_owned(),
        text: text.to_owned(),
    })
}

/// Checks rules. Returns a verdict for each, including rejected ones.
#[pyfunction]
#[pyo3(signature = (text, *, name="<rules>"))]
pub(crate) fn check_rules(py: Python<'_>, text: &str, name: &str) -> PyResult<Vec<Verdict>> {
    let (file, source) = (name.to_owned(), text.to_owned());
    let checked = signals::waiting(py, move || mind::check_rules(&file, &source))?;
    let verdicts = checked.map_err(|why| raised(py, &why))?;
    Ok(verdicts.into_iter().map(|own| Verdict { own }).collect())
}

/// The verdict on one direction of a rule.
#[pyclass(frozen, module = "mind_opt", name = "RuleVerdict")]
pub(crate) struct Verdict {
    own: RuleVerdict,
}

#[pymethods]
impl Verdict {
    /// The name of the rule.
    #[getter]
    fn name(&self) -> &str {
        &self.own.name
    }

    /// Whether it is the right-to-left direction of a bidirectional rule.
    #[getter]
    fn reversed(&self) -> bool {
        self.own.is_reversed
    }

    /// The class of the rule: `exact`, or the classes of allowed changes.
    #[getter]
    fn rule_class(&self) -> &str {
        &self.own.class
    }

    /// Whether it satisfies its class in every tested case.
    #[getter]
    fn holds(&self) -> bool {
        self.own.refusal.is_none()
    }

    /// Why it is rejected; `None` if it holds.
    #[getter]
    fn reason(&self) -> Option<&str> {
        match self.own.refusal.as_ref()? {
            Refusal::Unsound { difference, .. } => Some(difference),
            Refusal::Unchecked(reason) => Some(reason),
        }
    }

    /// A counterexample: a module with different outputs, as Core text.
    #[getter]
    fn counterexample(&self) -> Option<&str> {
        match self.own.refusal.as_ref()? {
            Refusal::Unsound { module, .. } => module.as_deref(),
            Refusal::Unchecked(_) => None,
        }
    }

    /// Number of modules on which it was tested.
    #[getter]
    fn modules(&self) -> usize {
        self.own.modules
    }

    /// Number of compared elements.
    #[getter]
    fn elements(&self) -> usize {
        self.own.elements
    }

    /// Hints: conditions that seem unnecessary, and a class that is stronger than declared.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.own.notes.clone()
    }

    fn __repr__(&self) -> String {
        let verdict = self
            .reason()
            .map_or("holds".to_owned(), |why| format!("refused: {why}"));
        format!("<{} ({}): {verdict}>", self.own.name, self.own.class)
    }
}
