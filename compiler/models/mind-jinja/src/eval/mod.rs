//! The evaluator.

mod access;
mod call;
mod expression;
mod loops;
mod statement;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub(crate) use access::{own_attribute, slice_bounds};
pub(crate) use call::MacroValue;
pub(crate) use loops::LoopState;

use crate::ast::{Body, For};
use crate::error::{Error, Result};
use crate::globals;
use crate::parse::Parsed;
use crate::value::Value;

/// How deeply evaluations may be nested: blocks, expressions and calls of macros within each other.
const MAX_EVALUATIONS: usize = 320;

/// Renders a template.
///
/// # Errors
///
/// The first error, at its place.
pub(crate) fn render(parsed: &Parsed, variables: Vec<(&str, Value)>, steps: u64) -> Result<String> {
    let globals = Scope::of(None, &Body::default());
    for (name, value) in globals::all().into_iter().chain(variables) {
        globals.set(name, value);
    }
    let root = Scope::of(Some(globals), &parsed.body);
    let mut machine = Machine {
        parsed,
        root: root.clone(),
        steps,
        limit: steps,
        depth: 0,
        captured: Vec::new(),
        recursive: Vec::new(),
        next_loop: 0,
    };
    let mut out = String::new();
    machine.block(&parsed.body.nodes, &root, &mut out)?;
    Ok(out)
}

/// The variables of a frame that is evaluated.
pub(crate) struct Scope {
    names: RefCell<BTreeMap<Rc<str>, Value>>,
    /// See [`Body::unassigned`].
    unassigned: Rc<BTreeSet<String>>,
    /// Whether it is the scope of a `{% block %}`, which reads the assigned variables of enclosing scopes alone.
    is_block: bool,
    parent: Option<Rc<Scope>>,
}

impl Scope {
    /// An empty scope for the frame of `body`.
    fn of(parent: Option<Rc<Scope>>, body: &Body) -> Rc<Scope> {
        Rc::new(Scope {
            names: RefCell::default(),
            unassigned: body.unassigned.clone(),
            is_block: false,
            parent,
        })
    }

    /// An empty scope for the frame of `body` inside of `self`.
    fn inner(self: &Rc<Scope>, body: &Body) -> Rc<Scope> {
        Scope::of(Some(self.clone()), body)
    }

    /// An empty scope for the frame of a `{% block %}`.
    fn block(parent: Rc<Scope>, body: &Body) -> Rc<Scope> {
        Rc::new(Scope {
            names: RefCell::default(),
            unassigned: body.unassigned.clone(),
            is_block: true,
            parent: Some(parent),
        })
    }

    pub(crate) fn set(&self, name: &str, value: Value) {
        self.names.borrow_mut().insert(name.into(), value);
    }

    /// Returns `None` if the variable is undefined.
    fn get(&self, name: &str) -> Option<Value> {
        let mut scope = self;
        let mut is_in_block = false;
        loop {
            if let Some(value) = scope.names.borrow().get(name) {
                return Some(value.clone());
            }
            if !is_in_block && scope.unassigned.contains(name) {
                return None;
            }
            is_in_block |= scope.is_block;
            scope = scope.parent.as_deref()?;
        }
    }
}

/// Where evaluation goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    Break,
    Continue,
}

/// The state of a rendering.
pub(crate) struct Machine<'t> {
    parsed: &'t Parsed,
    /// The scope of the template.
    root: Rc<Scope>,
    /// Steps that are left.
    steps: u64,
    limit: u64,
    depth: usize,
    /// Scopes that macros hold, which hold these in turn.
    captured: Vec<Rc<Scope>>,
    /// Recursive loops that run, by number.
    recursive: Vec<(usize, &'t For, Rc<Scope>)>,
    next_loop: usize,
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        // Macros and their scopes hold each other.
        for scope in &self.captured {
            scope.names.borrow_mut().clear();
        }
    }
}

impl Machine<'_> {
    /// # Errors
    ///
    /// No steps are left.
    pub(crate) fn spend(&mut self, steps: usize) -> Result<()> {
        match self.steps.checked_sub(steps as u64) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => {
                self.steps = 0;
                let limit = self.limit;
                Err(Error::new(format!(
                    "the template takes more than {limit} steps"
                )))
            }
        }
    }

    /// Pays for a value that was made.
    ///
    /// # Errors
    ///
    /// No steps are left.
    pub(crate) fn pay(&mut self, value: Value) -> Result<Value> {
        let steps = match &value {
            Value::Str(own) | Value::Markup(own) => own.len() / 64,
            Value::List(own) | Value::Tuple(own) => own.len() / 4,
            Value::Dict(own) => own.len() * own.len() / 8,
            other => other.len().unwrap_or(0) / 4,
        };
        self.spend(steps)?;
        Ok(value)
    }

    /// Runs `evaluate` one level deeper.
    ///
    /// # Errors
    ///
    /// Those of `evaluate`; too many levels or steps.
    fn deeper<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.spend(1)?;
        if self.depth >= MAX_EVALUATIONS {
            return Err(Error::new(format!(
                "more than {MAX_EVALUATIONS} evaluations within each other"
            )));
        }
        self.depth += 1;
        let own = evaluate(self);
        self.depth -= 1;
        own
    }
}
