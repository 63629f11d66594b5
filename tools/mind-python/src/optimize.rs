//! Optimisation options and reports.

use std::sync::Arc;

use mind::{Error, FastMath, Optimizer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::rules::Rules;

/// Options of a pipeline.
pub(crate) struct Requests {
    rules: Vec<(String, String)>,
    fast_math: FastMath,
    disabled: Vec<String>,
    missed: bool,
}

impl Default for Requests {
    fn default() -> Requests {
        Requests {
            rules: Vec::new(),
            fast_math: FastMath::EXACT,
            disabled: Vec::new(),
            missed: false,
        }
    }
}

impl Requests {
    pub(crate) fn new(
        rules: Option<&Bound<'_, PyAny>>,
        fast_math: Option<&Bound<'_, PyAny>>,
        disable: Option<Vec<String>>,
        missed: bool,
    ) -> PyResult<Requests> {
        let rules = match rules {
            None => Vec::new(),
            Some(one) => match one.cast::<Rules>() {
                Ok(one) => vec![one.get().source()],
                Err(_) => {
                    let listed = one.try_iter()?.map(|each| {
                        let each = each?;
                        let rules = each.cast::<Rules>()?;
                        Ok(rules.get().source())
                    });
                    listed.collect::<PyResult<_>>()?
                }
            },
        };
        Ok(Requests {
            rules,
            fast_math: fast_math.map_or(Ok(FastMath::EXACT), classes)?,
            disabled: disable.unwrap_or_default(),
            missed,
        })
    }

    /// Returns an optimizer for a pipeline with these options.
    ///
    /// # Errors
    ///
    /// The pipeline cannot be parsed.
    pub(crate) fn optimizer(&self, pipeline: &str) -> Result<Optimizer, Error> {
        let mut optimizer = Optimizer::new(pipeline)?.fast_math(self.fast_math);
        for rule in &self.disabled {
            optimizer = optimizer.disable(rule);
        }
        for (name, text) in &self.rules {
            optimizer = optimizer.rules(name, text)?;
        }
        Ok(if self.missed {
            optimizer.missed()
        } else {
            optimizer
        })
    }
}

/// Parses fast-math classes: `True` for all, or their names in a list or separated by commas.
fn classes(given: &Bound<'_, PyAny>) -> PyResult<FastMath> {
    if let Ok(all) = given.extract::<bool>() {
        return Ok(if all { FastMath::ALL } else { FastMath::EXACT });
    }
    let names: Vec<String> = match given.cast::<PyString>() {
        Ok(text) => text
            .to_str()?
            .split(',')
            .map(|name| name.trim().to_owned())
            .collect(),
        Err(_) => given.extract()?,
    };
    names.iter().try_fold(FastMath::EXACT, |all, name| {
        let class = FastMath::parse(name).ok_or_else(|| {
            let known = FastMath::NAMES.map(|(name, _)| name).join(", ");
            PyValueError::new_err(format!("unknown class `{name}`: expected one of {known}"))
        })?;
        Ok(all.union(class))
    })
}

/// The passes that led to a module.
#[derive(Clone, Default)]
pub(crate) struct Report {
    steps: Vec<Step>,
}

#[derive(Clone)]
enum Step {
    Passes(Arc<mind::Report>),
    /// A user-defined pass, and whether it changed anything.
    Function(String, bool),
}

impl Report {
    /// Returns the report extended by passes of the compiler.
    pub(crate) fn then(&self, report: Arc<mind::Report>) -> Report {
        let mut own = self.clone();
        own.steps.push(Step::Passes(report));
        own
    }

    /// Returns the report extended by a user-defined pass.
    pub(crate) fn then_by(&self, name: String, is_changed: bool) -> Report {
        let mut own = self.clone();
        own.steps.push(Step::Function(name, is_changed));
        own
    }

    /// Returns the report of the last passes of the compiler.
    pub(crate) fn last(&self) -> Option<Arc<mind::Report>> {
        let reports = self.steps.iter().rev().filter_map(|step| match step {
            Step::Passes(report) => Some(report.clone()),
            Step::Function(..) => None,
        });
        reports.into_iter().next()
    }

    pub(crate) fn remarks(&self) -> Vec<Remark> {
        let remarks = self.steps.iter().flat_map(|step| match step {
            Step::Passes(report) => report.remarks(),
            Step::Function(..) => &[],
        });
        remarks.map(|own| Remark { own: own.clone() }).collect()
    }

    pub(crate) fn passes(&self) -> Vec<(String, bool)> {
        let mut passes = Vec::new();
        for step in &self.steps {
            match step {
                Step::Passes(report) => {
                    let own = report.passes().iter();
                    passes.extend(own.map(|pass| (pass.name.to_owned(), pass.changed)));
                }
                Step::Function(name, is_changed) => passes.push((name.clone(), *is_changed)),
            }
        }
        passes
    }
}

/// A rewrite, or a rule that did not fire.
#[pyclass(frozen, module = "mind_opt")]
pub(crate) struct Remark {
    own: mind::Remark,
}

impl Remark {
    /// Returns the rules or patterns that led to the rewrite.
    pub(crate) fn rule_names(&self) -> &[String] {
        &self.own.rules
    }
}

#[pymethods]
impl Remark {
    /// The pass.
    #[getter]
    fn pass_name(&self) -> &'static str {
        self.own.pass
    }

    /// The rules or patterns that led to the rewrite, or the one that did not fire.
    #[getter]
    fn rules(&self) -> Vec<String> {
        self.own.rules.clone()
    }

    /// The line in the module's text, from 1; `None` for an op that is not in the text.
    #[getter]
    fn line(&self) -> Option<usize> {
        self.own.line
    }

    /// A description of the rewrite, or why the rule did not fire.
    #[getter]
    fn text(&self) -> &str {
        &self.own.text
    }

    /// Whether it is a rewrite.
    #[getter]
    fn acted(&self) -> bool {
        self.own.acted
    }

    fn __repr__(&self) -> String {
        let at = self
            .own
            .line
            .map_or(String::new(), |line| format!(" at line {line}"));
        let (pass, rules) = (self.own.pass, self.own.rules.join(", "));
        let verb = if self.own.acted { "" } else { "did not act: " };
        format!("<{pass}: {rules}{at}: {verb}{}>", self.own.text)
    }
}
