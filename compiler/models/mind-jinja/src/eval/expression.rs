//! Expressions.

use std::rc::Rc;

use super::{Machine, Scope};
use crate::ast::{Comparison, Constant, Expr, ExprKind, Unary};
use crate::error::{Error, Result};
use crate::value::Value;
use crate::{check_length, operators, show};

impl<'t> Machine<'t> {
    /// The value of an expression.
    ///
    /// # Errors
    ///
    /// The first error in it, at its place.
    pub(super) fn evaluate(&mut self, own: &'t Expr, scope: &Rc<Scope>) -> Result<Value> {
        let value = self.deeper(|machine| machine.kind(&own.kind, scope));
        value.map_err(|why| why.or_at(own.span))
    }

    fn kind(&mut self, kind: &'t ExprKind, scope: &Rc<Scope>) -> Result<Value> {
        match kind {
            ExprKind::Constant(own) => Ok(constant(own)),
            ExprKind::Name(name) => {
                let undefined = || Value::undefined(format!("'{name}' is undefined"));
                Ok(scope.get(name).unwrap_or_else(undefined))
            }
            ExprKind::List(all) => Ok(Value::list(self.all(all, scope)?)),
            ExprKind::Tuple(all) => Ok(Value::tuple(self.all(all, scope)?)),
            ExprKind::Dict(pairs) => self.dict(pairs, scope),
            ExprKind::Unary(operator, own) => {
                let own = self.evaluate(own, scope)?;
                match operator {
                    Unary::Not => Ok(Value::Bool(!own.is_true())),
                    Unary::Minus => operators::minus(&own),
                    Unary::Plus => operators::plus(&own),
                }
            }
            ExprKind::Binary(operator, own) => {
                let [left, right] = &**own;
                let left = self.evaluate(left, scope)?;
                let right = self.evaluate(right, scope)?;
                let value = operators::binary(*operator, &left, &right)?;
                self.pay(value)
            }
            ExprKind::And(own) => {
                let left = self.evaluate(&own[0], scope)?;
                match left.is_true() {
                    true => self.evaluate(&own[1], scope),
                    false => Ok(left),
                }
            }
            ExprKind::Or(own) => {
                let left = self.evaluate(&own[0], scope)?;
                match left.is_true() {
                    true => Ok(left),
                    false => self.evaluate(&own[1], scope),
                }
            }
            ExprKind::Concat(all) => self.concat(all, scope),
            ExprKind::Compare(first, others) => self.compare(first, others, scope),
            ExprKind::Choice(own) => match (
                self.evaluate(&own.condition, scope)?.is_true(),
                &own.otherwise,
            ) {
                (true, _) => self.evaluate(&own.then, scope),
                (false, Some(otherwise)) => self.evaluate(otherwise, scope),
                (false, None) => Ok(Value::undefined(
                    "the inline if-expression evaluated to false and no else section was defined.",
                )),
            },
            ExprKind::Attribute(own, name) => {
                let own = self.evaluate(own, scope)?;
                self.attribute(&own, name)
            }
            ExprKind::Item(own, key) => {
                let own = self.evaluate(own, scope)?;
                let key = self.evaluate(key, scope)?;
                self.item(&own, &key)
            }
            ExprKind::Slice(own, bounds) => {
                let own = self.evaluate(own, scope)?;
                let mut all = [None, None, None];
                for (place, bound) in all.iter_mut().zip(bounds) {
                    if let Some(bound) = bound {
                        *place = Some(self.evaluate(bound, scope)?);
                    }
                }
                let value = super::access::slice(&own, &all)?;
                self.pay(value)
            }
            ExprKind::Call(function, args) => {
                let function = self.evaluate(function, scope)?;
                let args = self.arguments(args, scope)?;
                self.call(&function, args)
            }
            ExprKind::Filter(own) => {
                let value = match &own.value {
                    Some(value) => self.evaluate(value, scope)?,
                    None => Value::None,
                };
                let args = self.arguments(&own.args, scope)?;
                self.filter(&own.name, value, args)
            }
            ExprKind::Test(own) => {
                let value = self.evaluate(&own.value, scope)?;
                let args = self.arguments(&own.args, scope)?;
                Ok(Value::Bool(self.test(&own.name, &value, args)?))
            }
        }
    }

    fn all(&mut self, all: &'t [Expr], scope: &Rc<Scope>) -> Result<Vec<Value>> {
        all.iter().map(|own| self.evaluate(own, scope)).collect()
    }

    fn dict(&mut self, pairs: &'t [(Expr, Expr)], scope: &Rc<Scope>) -> Result<Value> {
        let mut all = crate::value::Dict::default();
        for (key, value) in pairs {
            let own = self.evaluate(key, scope)?;
            if !own.is_hashable() {
                let kind = own.kind();
                return Err(Error::at(key.span, format!("unhashable type: '{kind}'")));
            }
            self.spend(all.len() / 16)?;
            let value = self.evaluate(value, scope)?;
            all.insert(own, value);
        }
        Ok(Value::Dict(Rc::new(all)))
    }

    fn concat(&mut self, all: &'t [Expr], scope: &Rc<Scope>) -> Result<Value> {
        let mut out = String::new();
        for own in all {
            let value = self.evaluate(own, scope)?;
            let text = show::text(&value)?;
            check_length(out.len() + text.len())?;
            out.push_str(&text);
        }
        self.pay(Value::from(out))
    }

    fn compare(
        &mut self,
        first: &'t Expr,
        others: &'t [(Comparison, Expr)],
        scope: &Rc<Scope>,
    ) -> Result<Value> {
        let mut left = self.evaluate(first, scope)?;
        for (operator, other) in others {
            let right = self.evaluate(other, scope)?;
            let elements = right.len().unwrap_or(0).max(left.len().unwrap_or(0));
            self.spend(elements / 64)?;
            if !operators::compare(*operator, &left, &right)? {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }
}

fn constant(own: &Constant) -> Value {
    match own {
        Constant::None => Value::None,
        Constant::Bool(own) => Value::Bool(*own),
        Constant::Int(own) => Value::Int(*own),
        Constant::Float(own) => Value::Float(*own),
        Constant::Text(own) => Value::from(own.as_str()),
    }
}
