//! Loops.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::{Flow, Machine, Scope};
use crate::ast::{Body, For};
use crate::error::{Error, Result};
use crate::value::Value;

/// The value of the variable `loop`.
pub(crate) struct LoopState {
    items: Rc<[Value]>,
    at: Cell<usize>,
    depth: usize,
    /// The arguments of the last call of `changed`.
    seen: RefCell<Option<Vec<Value>>>,
    /// The number of a recursive loop.
    recursive: Option<usize>,
}

impl LoopState {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// The number of the iteration, from 1.
    pub(crate) fn index(&self) -> usize {
        self.at.get() + 1
    }

    /// An attribute of `loop`, but for its methods.
    pub(crate) fn attribute(&self, name: &str) -> Option<Value> {
        let (at, len) = (self.at.get(), self.items.len());
        Some(match name {
            "index" => Value::length(at + 1),
            "index0" => Value::length(at),
            "revindex" => Value::length(len - at),
            "revindex0" => Value::length(len - at - 1),
            "first" => Value::Bool(at == 0),
            "last" => Value::Bool(at + 1 == len),
            "length" => Value::length(len),
            "depth" => Value::length(self.depth + 1),
            "depth0" => Value::length(self.depth),
            "previtem" => match at.checked_sub(1) {
                Some(at) => self.items[at].clone(),
                None => Value::undefined("there is no previous item"),
            },
            "nextitem" => match self.items.get(at + 1) {
                Some(own) => own.clone(),
                None => Value::undefined("there is no next item"),
            },
            _ => return None,
        })
    }

    /// `loop.cycle(...)`.
    ///
    /// # Errors
    ///
    /// No values.
    pub(crate) fn cycle(&self, values: &[Value]) -> Result<Value> {
        match self.at.get().checked_rem(values.len()) {
            Some(at) => Ok(values[at].clone()),
            None => Err(Error::new("no items for cycling given")),
        }
    }

    /// `loop.changed(...)`: whether the values differ from those of the last call.
    pub(crate) fn changed(&self, values: Vec<Value>) -> bool {
        let mut seen = self.seen.borrow_mut();
        let is_same = seen.as_ref().is_some_and(|seen| {
            let same = |(a, b): (&Value, &Value)| a.equals(b);
            seen.len() == values.len() && seen.iter().zip(&values).all(same)
        });
        *seen = Some(values);
        !is_same
    }
}

impl<'t> Machine<'t> {
    /// Renders a loop.
    ///
    /// # Errors
    ///
    /// Errors in the loop.
    pub(super) fn for_block(
        &mut self,
        own: &'t For,
        scope: &Rc<Scope>,
        out: &mut String,
    ) -> Result<Flow> {
        let iterable = self.evaluate(&own.iterable, scope)?;
        let number = self.next_loop;
        self.next_loop += 1;
        if own.is_recursive {
            self.recursive.push((number, own, scope.clone()));
        }
        let done = self.iterations(own, &iterable, (number, 0), scope, out);
        if own.is_recursive {
            self.recursive.pop();
        }
        done?;
        Ok(Flow::Next)
    }

    fn iterations(
        &mut self,
        own: &'t For,
        iterable: &Value,
        (number, depth): (usize, usize),
        scope: &Rc<Scope>,
        out: &mut String,
    ) -> Result<()> {
        let elements = iterable.elements();
        let elements = elements.map_err(|why| why.or_at(own.iterable.span))?;
        self.spend(elements.len() / 4)?;
        let mut items = Vec::new();
        for element in elements {
            if let Some(condition) = &own.condition {
                let inner = scope.inner(&Body::default());
                self.assign(&own.target, element.clone(), &inner)?;
                if !self.evaluate(condition, &inner)?.is_true() {
                    continue;
                }
            }
            items.push(element);
        }
        let items: Rc<[Value]> = items.into();
        if items.is_empty() {
            let inner = scope.inner(&own.otherwise);
            self.block(&own.otherwise.nodes, &inner, out)?;
            return Ok(());
        }
        let state = Value::object(crate::value::O::Loop(LoopState {
            items: items.clone(),
            at: Cell::new(0),
            depth,
            seen: RefCell::new(None),
            recursive: own.is_recursive.then_some(number),
        }));
        for (at, item) in items.iter().enumerate() {
            if let Value::Object(own) = &state
                && let crate::value::O::Loop(own) = &own.kind
            {
                own.at.set(at);
            }
            let inner = scope.inner(&own.body);
            inner.set("loop", state.clone());
            self.assign(&own.target, item.clone(), &inner)?;
            if self.block(&own.body.nodes, &inner, out)? == Flow::Break {
                break;
            }
        }
        Ok(())
    }

    /// `loop(...)` of a recursive loop.
    ///
    /// # Errors
    ///
    /// A loop that is not recursive, or is over; errors in its body.
    pub(super) fn recurse(&mut self, state: &LoopState, iterable: &Value) -> Result<Value> {
        let Some(number) = state.recursive else {
            let message = "The loop must have the 'recursive' marker to be called recursively.";
            return Err(Error::new(message));
        };
        let found = self.recursive.iter().find(|(own, ..)| *own == number);
        let Some((_, own, scope)) = found.cloned() else {
            return Err(Error::new("the recursive loop is over"));
        };
        let mut out = String::new();
        let place = (number, state.depth + 1);
        self.deeper(|machine| machine.iterations(own, iterable, place, &scope, &mut out))?;
        Ok(Value::from(out))
    }
}
