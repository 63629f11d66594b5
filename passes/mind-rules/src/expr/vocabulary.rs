//! Functions and predicates that embedding programs add to rule files.

use std::fmt;
use std::sync::Arc;

use super::functions::FUNCTIONS;
use super::kind::{ExprKind, Param};
use super::predicates::PREDICATES;
use super::scope::Argument;

/// The functions that take a list of operands.
pub(crate) const OF_LISTS: [&str; 2] = ["count", "integers"];

/// Functions and predicates that rule files may call in addition to the built-in ones.
///
/// Each must be pure and total: equal arguments always give equal results, and `None` if the result is not known. A
/// condition whose result is not known does not hold.
///
/// ```
/// use mind_rules::{Param, RuleSet, Vocabulary};
///
/// let registry = mind_ir::opdef::Registry::with([mind_ir::builtin::DIALECT, mind_core::DIALECT]);
/// let even = Vocabulary::new().predicate("is_even", &[Param::Int], |a| Some(a[0].int()? % 2 == 0));
/// let text = "rule abs-neg-even class exact where is_even(dim(?x, 0)) core.abs(core.neg(?x)) => core.abs(?x)";
/// let rules = RuleSet::load_with(&registry, &[("mine", text)], &even)?;
/// assert_eq!(rules.infos()[0].sides, "core.abs(core.neg(?x)) => core.abs(?x)");
/// # Ok::<(), mind_rules::RuleErrors>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    pub(crate) functions: Vec<Arc<OwnFunction>>,
    pub(crate) predicates: Vec<Arc<OwnPredicate>>,
}

/// Returns the names of the built-in functions.
pub fn built_in_functions() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|own| own.name).chain(OF_LISTS)
}

/// Returns the names of the built-in predicates.
pub fn built_in_predicates() -> impl Iterator<Item = &'static str> {
    PREDICATES.iter().map(|own| own.name)
}

/// Returns the parameters of the built-in function or predicate called `name`.
pub fn built_in_params(name: &str) -> Option<&'static [Param]> {
    let function = FUNCTIONS.iter().find(|own| own.name == name);
    let predicate = || PREDICATES.iter().find(|own| own.name == name);
    function
        .map(|own| own.params)
        .or_else(|| predicate().map(|own| own.params))
}

pub type FunctionEval = dyn for<'a> Fn(&[Argument<'a>]) -> Option<Argument<'a>> + Send + Sync;
pub type PredicateEval = dyn Fn(&[Argument<'_>]) -> Option<bool> + Send + Sync;

/// A function that an embedding program registers.
pub struct OwnFunction {
    pub name: String,
    pub params: Box<[Param]>,
    pub result: ExprKind,
    pub eval: Box<FunctionEval>,
}

/// A predicate that an embedding program registers.
pub struct OwnPredicate {
    pub name: String,
    pub params: Box<[Param]>,
    pub eval: Box<PredicateEval>,
}

impl Vocabulary {
    /// Creates a vocabulary without additions.
    pub fn new() -> Vocabulary {
        Vocabulary::default()
    }

    /// Adds a predicate, for `where NAME(...)`. It shadows a built-in one of the same name.
    pub fn predicate(
        mut self,
        name: &str,
        params: &[Param],
        eval: impl Fn(&[Argument<'_>]) -> Option<bool> + Send + Sync + 'static,
    ) -> Vocabulary {
        self.predicates.push(Arc::new(OwnPredicate {
            name: name.to_owned(),
            params: params.into(),
            eval: Box::new(eval),
        }));
        self
    }

    /// Adds a function with a result of kind `result`. It shadows a built-in one of the same name.
    pub fn function(
        mut self,
        name: &str,
        params: &[Param],
        result: ExprKind,
        eval: impl for<'a> Fn(&[Argument<'a>]) -> Option<Argument<'a>> + Send + Sync + 'static,
    ) -> Vocabulary {
        self.functions.push(Arc::new(OwnFunction {
            name: name.to_owned(),
            params: params.into(),
            result,
            eval: Box::new(eval),
        }));
        self
    }
}

impl fmt::Debug for OwnFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for OwnPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
