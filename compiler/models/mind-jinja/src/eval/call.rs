//! Calls.

use std::rc::Rc;

use super::{Machine, Scope};
use crate::arguments::Arguments;
use crate::ast::Args;
use crate::error::{Error, Result};
use crate::value::{O, Value};
use crate::{filters, globals, methods, tests};

/// A macro with the scope that it was defined in.
pub(crate) struct MacroValue {
    pub(crate) index: usize,
    /// `None` of a `caller`.
    pub(crate) name: Option<Rc<str>>,
    pub(crate) parameters: Rc<[Value]>,
    /// Whether it reads `varargs`, `kwargs` and `caller`.
    pub(crate) reads: [bool; 3],
    pub(crate) scope: Rc<Scope>,
}

impl MacroValue {
    /// The name as `repr` shows it.
    pub(crate) fn shown_name(&self) -> String {
        match &self.name {
            Some(name) => format!("'{name}'"),
            None => "anonymous".to_owned(),
        }
    }

    /// An attribute of a macro.
    pub(crate) fn attribute(&self, name: &str) -> Option<Value> {
        let [varargs, kwargs, caller] = self.reads;
        Some(match name {
            "name" => match &self.name {
                Some(name) => Value::Str(name.clone()),
                None => Value::from("caller"),
            },
            "arguments" => Value::Tuple(self.parameters.clone()),
            "catch_varargs" => Value::Bool(varargs),
            "catch_kwargs" => Value::Bool(kwargs),
            "caller" => Value::Bool(caller),
            _ => return None,
        })
    }
}

impl<'t> Machine<'t> {
    /// Evaluates arguments.
    pub(super) fn arguments(&mut self, args: &'t Args, scope: &Rc<Scope>) -> Result<Arguments> {
        let mut all = Arguments::default();
        for own in &args.positional {
            all.positional.push(self.evaluate(own, scope)?);
        }
        for (name, own) in &args.named {
            all.named
                .push((name.as_str().into(), self.evaluate(own, scope)?));
        }
        if let Some(list) = &args.list {
            all.positional
                .extend(self.evaluate(list, scope)?.elements()?);
        }
        if let Some(dict) = &args.dict {
            let value = self.evaluate(dict, scope)?;
            let Value::Dict(pairs) = &value else {
                let kind = value.kind();
                return Err(Error::at(
                    dict.span,
                    format!("arguments behind `**` are a mapping, not {kind}"),
                ));
            };
            for (key, value) in pairs.iter() {
                let Some(name) = key.as_text() else {
                    return Err(Error::at(dict.span, "keywords must be strings"));
                };
                all.named.push((name.into(), value.clone()));
            }
        }
        self.spend(all.positional.len() + all.named.len())?;
        Ok(all)
    }

    /// Calls a value.
    ///
    /// # Errors
    ///
    /// A value that cannot be called; errors of the call.
    pub(crate) fn call(&mut self, function: &Value, args: Arguments) -> Result<Value> {
        let value = match function.defined()? {
            Value::Function(own) => (own.call)(args)?,
            Value::Object(own) => match &own.kind {
                O::Macro(own) => self.call_macro(own, args)?,
                O::Method(own) => methods::call(self, own, args)?,
                O::Loop(own) => {
                    let [iterable] = args.bind("loop", ["iterable"], 1)?;
                    self.recurse(own, &iterable.unwrap_or(Value::None))?
                }
                O::Joiner(own) => globals::join(own),
                _ => return Err(not_callable(function)),
            },
            other => return Err(not_callable(other)),
        };
        self.pay(value)
    }

    /// Applies a filter.
    ///
    /// # Errors
    ///
    /// No filter of that name; errors of the filter.
    pub(crate) fn filter(&mut self, name: &str, value: Value, args: Arguments) -> Result<Value> {
        let Some(filter) = filters::named(name) else {
            return Err(Error::new(format!("no filter is called `{name}`")));
        };
        self.spend(value.as_elements().map_or(0, <[Value]>::len) / 4)?;
        let value = filter(self, value, args)?;
        self.pay(value)
    }

    /// Whether a test holds.
    ///
    /// # Errors
    ///
    /// No test of that name; errors of the test.
    pub(crate) fn test(&mut self, name: &str, value: &Value, args: Arguments) -> Result<bool> {
        match tests::named(name) {
            Some(test) => test(value, args),
            None => Err(Error::new(format!("no test is called `{name}`"))),
        }
    }

    fn call_macro(&mut self, own: &MacroValue, args: Arguments) -> Result<Value> {
        let body = &self.parsed.macros[own.index];
        let shown = own.name.as_deref().unwrap_or("caller");
        let scope = own.scope.inner(&body.body);
        let Arguments {
            positional,
            mut named,
        } = args;
        let mut positional = positional.into_iter();
        let mut take = |name: &str| {
            let at = named.iter().position(|(own, _)| &**own == name)?;
            Some(named.remove(at).1)
        };
        let mut missing = Vec::new();
        for (name, default) in &body.parameters {
            let given = positional.next().or_else(|| take(name));
            missing.extend(given.is_none().then_some((name, default)));
            let undefined = || Value::undefined(format!("parameter '{name}' was not provided"));
            scope.set(name, given.unwrap_or_else(undefined));
        }
        // A default reads all given arguments and the defaults of earlier parameters.
        for (name, default) in missing {
            if let Some(default) = default {
                scope.set(name, self.evaluate(default, &scope)?);
            }
        }
        let [varargs, kwargs, caller] = body.reads;
        if caller {
            let value = take("caller");
            let none = || Value::undefined("No caller defined");
            scope.set("caller", value.unwrap_or_else(none));
        }
        let rest: Vec<Value> = positional.collect();
        if varargs {
            scope.set("varargs", Value::tuple(rest));
        } else if !rest.is_empty() {
            let count = body.parameters.len();
            let message = format!("macro '{shown}' takes not more than {count} argument(s)");
            return Err(Error::new(message));
        }
        if kwargs {
            let pairs = named
                .into_iter()
                .map(|(name, value)| (Value::Str(name), value));
            scope.set("kwargs", Value::dict(pairs));
        } else if let Some((name, _)) = named.first() {
            let message = format!("macro '{shown}' takes no keyword argument '{name}'");
            return Err(Error::new(message));
        }
        let mut out = String::new();
        self.deeper(|machine| machine.block(&body.body.nodes, &scope, &mut out))?;
        Ok(Value::from(out))
    }
}

fn not_callable(value: &Value) -> Error {
    Error::new(format!("'{}' object is not callable", value.kind()))
}
