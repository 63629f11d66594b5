//! Statements.

use std::cell::RefCell;
use std::rc::Rc;

use super::call::MacroValue;
use super::{Flow, Machine, Scope};
use crate::ast::{Expr, ExprKind, Filter, MacroNode, Node, Target};
use crate::error::{Error, Result, Span};
use crate::value::{O, Value};
use crate::{check_length, globals, show};

impl<'t> Machine<'t> {
    /// Renders nodes in a scope.
    ///
    /// # Errors
    ///
    /// Errors in the nodes.
    pub(super) fn block(
        &mut self,
        nodes: &'t [Node],
        scope: &Rc<Scope>,
        out: &mut String,
    ) -> Result<Flow> {
        for node in nodes {
            let flow = self.deeper(|own| own.node(node, scope, out))?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn node(&mut self, node: &'t Node, scope: &Rc<Scope>, out: &mut String) -> Result<Flow> {
        match node {
            Node::Text(text) => self.write(text, out)?,
            Node::Print(value) => self.print(value, scope, out)?,
            Node::If(own) => {
                for (condition, body) in &own.branches {
                    if self.evaluate(condition, scope)?.is_true() {
                        return self.block(body, scope, out);
                    }
                }
                return self.block(&own.otherwise, scope, out);
            }
            Node::For(own) => return self.for_block(own, scope, out),
            Node::Set(target, value) => {
                let value = self.evaluate(value, scope)?;
                self.assign(target, value, scope)?;
            }
            Node::SetBlock(target, filters, body) => {
                let mut text = String::new();
                let inner = scope.inner(body);
                let flow = self.block(&body.nodes, &inner, &mut text)?;
                let value = self.filters(Value::from(text), filters, &inner)?;
                self.assign(target, value, scope)?;
                return Ok(flow);
            }
            Node::With(pairs, body) => {
                let inner = scope.inner(body);
                for (target, value) in pairs {
                    let value = self.evaluate(value, scope)?;
                    self.assign(target, value, &inner)?;
                }
                return self.block(&body.nodes, &inner, out);
            }
            Node::Macro(own) => self.define(own, scope),
            Node::CallBlock(caller, call) => self.call_block(caller, call, scope, out)?,
            Node::FilterBlock(filters, body, span) => {
                let mut text = String::new();
                let inner = scope.inner(body);
                let flow = self.block(&body.nodes, &inner, &mut text)?;
                let value = self.filters(Value::from(text), filters, &inner);
                let value = value.map_err(|why| why.or_at(*span))?;
                self.write(&show::text(&value)?, out)?;
                return Ok(flow);
            }
            Node::Scope(body) => {
                return self.block(&body.nodes, &scope.inner(body), out);
            }
            Node::Block(body, is_scoped) => {
                let parent = match is_scoped {
                    true => scope.clone(),
                    false => self.root.clone(),
                };
                return self.block(&body.nodes, &Scope::block(parent, body), out);
            }
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    fn write(&mut self, text: &str, out: &mut String) -> Result<()> {
        self.spend(text.len() / 64)?;
        check_length(out.len() + text.len())?;
        out.push_str(text);
        Ok(())
    }

    fn print(&mut self, value: &'t Expr, scope: &Rc<Scope>, out: &mut String) -> Result<()> {
        let own = self.evaluate(value, scope)?;
        let text = show::text(&own).map_err(|why| why.or_at(value.span))?;
        self.write(&text, out)
    }

    fn define(&mut self, own: &MacroNode, scope: &Rc<Scope>) {
        let value = self.macro_value(own, scope);
        if let Some(name) = &self.parsed.macros[own.index].name {
            scope.set(name, value);
        }
    }

    fn macro_value(&mut self, own: &MacroNode, scope: &Rc<Scope>) -> Value {
        if !self
            .captured
            .iter()
            .rev()
            .take(1)
            .any(|last| Rc::ptr_eq(last, scope))
        {
            self.captured.push(scope.clone());
        }
        let body = &self.parsed.macros[own.index];
        let name = body.name.as_deref().map(Rc::from);
        let parameters = body
            .parameters
            .iter()
            .map(|(name, _)| Value::from(name.as_str()));
        Value::object(O::Macro(MacroValue {
            index: own.index,
            name,
            parameters: parameters.collect(),
            reads: body.reads,
            scope: scope.clone(),
        }))
    }

    fn call_block(
        &mut self,
        caller: &MacroNode,
        call: &'t Expr,
        scope: &Rc<Scope>,
        out: &mut String,
    ) -> Result<()> {
        let ExprKind::Call(function, args) = &call.kind else {
            return Ok(());
        };
        let caller = self.macro_value(caller, scope);
        let function = self.evaluate(function, scope)?;
        let mut args = self.arguments(args, scope)?;
        args.named.push(("caller".into(), caller));
        let value = self.call(&function, args);
        let value = value.map_err(|why| why.or_at(call.span))?;
        self.write(&show::text(&value)?, out)
    }

    /// Applies the filters of a block.
    fn filters(&mut self, value: Value, filters: &'t [Filter], scope: &Rc<Scope>) -> Result<Value> {
        let mut value = value;
        for filter in filters {
            let args = self.arguments(&filter.args, scope)?;
            value = self.filter(&filter.name, value, args)?;
        }
        Ok(value)
    }

    /// Assigns a value.
    ///
    /// # Errors
    ///
    /// A value without as many elements as there are targets, an attribute of a value that is not a namespace.
    pub(super) fn assign(&mut self, target: &Target, value: Value, scope: &Scope) -> Result<()> {
        match target {
            Target::Name(name) => scope.set(name, value),
            Target::Attribute(name, attribute, span) => {
                let own = scope.get(name);
                let namespace = match &own {
                    Some(Value::Object(own)) => match &own.kind {
                        O::Namespace(own) => Some(own),
                        _ => None,
                    },
                    _ => None,
                };
                let Some(namespace) = namespace else {
                    let message =
                        format!("`{name}` is no namespace, whose attributes can be assigned");
                    return Err(Error::at(*span, message));
                };
                self.spend(namespace.borrow().len() / 16)?;
                globals::check_attribute(attribute).map_err(|why| why.or_at(*span))?;
                set_attribute(namespace, attribute, value);
            }
            Target::Tuple(targets, span) => self.unpack(targets, &value, *span, scope)?,
        }
        Ok(())
    }

    fn unpack(
        &mut self,
        targets: &[Target],
        value: &Value,
        span: Span,
        scope: &Scope,
    ) -> Result<()> {
        let elements = value.elements().map_err(|_| {
            let kind = value.kind();
            Error::at(span, format!("cannot unpack non-iterable {kind} object"))
        })?;
        let (expected, found) = (targets.len(), elements.len());
        if found != expected {
            let message = match found < expected {
                true => format!("not enough values to unpack (expected {expected}, got {found})"),
                false => format!("too many values to unpack (expected {expected}, got {found})"),
            };
            return Err(Error::at(span, message));
        }
        for (target, element) in targets.iter().zip(elements) {
            self.assign(target, element, scope)?;
        }
        Ok(())
    }
}

/// Sets an attribute of a namespace.
fn set_attribute(namespace: &RefCell<crate::value::Dict>, attribute: &str, value: Value) {
    namespace.borrow_mut().insert(Value::from(attribute), value);
}
