//! Rewrite rules from text.

use mind::{Optimizer, Refusal, RuleVerdict};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::signals;

/// Rewrite rules that were checked: both sides of each were evaluated on many inputs.
#[pyclass(frozen, module = "mind_opt")]
pub(crate) struct Rules {
    name: String,
    text: String,
}

impl Rules {
    /// The name of the file, and the text.
    pub(crate) fn source(&self) -> (String, String) {
        (self.name.clone(), self.text.clone())
    }
}

#[pymethods]
impl Rules {
    /// What the file is called in diagnostics.
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

/// Reads rules, and checks that each keeps what its class promises.
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

/// Checks rules and returns what was found of each, refused ones included.
#[pyfunction]
#[pyo3(signature = (text, *, name="<rules>"))]
pub(crate) fn check_rules(py: Python<'_>, text: &str, name: &str) -> PyResult<Vec<Verdict>> {
    let (file, source) = (name.to_owned(), text.to_owned());
    let checked = signals::waiting(py, move || mind::check_rules(&file, &source))?;
    let verdicts = checked.map_err(|why| raised(py, &why))?;
    Ok(verdicts.into_iter().map(|own| Verdict { own }).collect())
}

/// What a check found of one direction of a rule.
#[pyclass(frozen, module = "mind_opt", name = "RuleVerdict")]
pub(crate) struct Verdict {
    own: RuleVerdict,
}

#[pymethods]
impl Verdict {
    /// The rule.
    #[getter]
    fn name(&self) -> &str {
        &self.own.name
    }

    /// Whether it is a rule in both directions, read from right to left.
    #[getter]
    fn reversed(&self) -> bool {
        self.own.is_reversed
    }

    /// What it promises: `exact`, or the classes of what it may change.
    #[getter]
    fn rule_class(&self) -> &str {
        &self.own.class
    }

    /// Whether it keeps its promise in every case that was tried.
    #[getter]
    fn holds(&self) -> bool {
        self.own.refusal.is_none()
    }

    /// Why it may not act; `None` if it holds.
    #[getter]
    fn reason(&self) -> Option<&str> {
        match self.own.refusal.as_ref()? {
            Refusal::Unsound { difference, .. } => Some(difference),
            Refusal::Unchecked(reason) => Some(reason),
        }
    }

    /// A module whose outputs differ, as Core text.
    #[getter]
    fn counterexample(&self) -> Option<&str> {
        match self.own.refusal.as_ref()? {
            Refusal::Unsound { module, .. } => module.as_deref(),
            Refusal::Unchecked(_) => None,
        }
    }

    /// How many modules it was tried on.
    #[getter]
    fn modules(&self) -> usize {
        self.own.modules
    }

    /// How many elements were compared.
    #[getter]
    fn elements(&self) -> usize {
        self.own.elements
    }

    /// Conditions that seem needless, a class stronger than declared.
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
