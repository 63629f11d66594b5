//! Conditions as text, with the values of their terms.

use mind_ir::Symbols;
use mind_ir::attr::OPEN_END;
use mind_ir::tensor::{Num, Tensor};
use mind_ir::types::Dim;
use mind_ir::with_num;

use super::condition::{Condition, Expression};
use super::scope::{Argument, Scope, ValueInfo};
use crate::attr_value::AttrValue;
use crate::constant::Constant;
use crate::matching::slots::RuleNames;
use crate::matching::subject::Subject;
use mind_ir::scalar::Facts;

/// A match in which a condition is explained, and the names of its rule.
pub struct ExplainedMatch<'a, S: Subject> {
    /// The match.
    pub scope: &'a Scope<'a, S>,
    /// The names of the symbols in it.
    pub symbols: &'a Symbols,
    /// The names of the rule.
    pub names: &'a RuleNames,
}

impl<S: Subject> ExplainedMatch<'_, S> {
    /// Describes the part of `condition` that does not hold and the values of its terms.
    pub fn failure(&self, condition: &Condition) -> String {
        let part = self.failing(condition);
        let mut terms: Vec<String> = Vec::new();
        self.terms(part, &mut terms);
        let verdict = match part.holds(self.scope) {
            Some(_) => "does not hold",
            None => "cannot be told",
        };
        let text = self.text(part);
        if terms.is_empty() {
            format!("`{text}` {verdict}")
        } else {
            format!("`{text}` {verdict}: {}", terms.join(", "))
        }
    }

    /// Returns the first part of a conjunction that does not hold.
    fn failing<'c>(&self, condition: &'c Condition) -> &'c Condition {
        let Condition::All(parts) = condition else {
            return condition;
        };
        let fails = |part: &&Condition| part.holds(self.scope) != Some(true);
        parts
            .iter()
            .find(fails)
            .map_or(condition, |part| self.failing(part))
    }

    fn text(&self, condition: &Condition) -> String {
        let joined = |parts: &[Condition], word: &str| {
            let texts: Vec<String> = parts.iter().map(|part| self.nested(part)).collect();
            texts.join(word)
        };
        match condition {
            Condition::All(parts) => joined(parts, " and "),
            Condition::Any(parts) => joined(parts, " or "),
            Condition::Not(inner) => format!("not {}", self.nested(inner)),
            Condition::Compare(comparison, lhs, rhs) => {
                format!(
                    "{} {} {}",
                    self.term(lhs),
                    comparison.sign(),
                    self.term(rhs)
                )
            }
            Condition::Predicate(predicate, arguments) => {
                format!("{}({})", predicate.name, self.list(arguments))
            }
            Condition::Own(predicate, arguments) => {
                format!("{}({})", predicate.name, self.list(arguments))
            }
            Condition::Each(_, inner) => format!("for each value of a list: {}", self.text(inner)),
        }
    }

    fn nested(&self, condition: &Condition) -> String {
        match condition {
            Condition::All(_) | Condition::Any(_) => format!("({})", self.text(condition)),
            _ => self.text(condition),
        }
    }

    fn list(&self, expressions: &[Expression]) -> String {
        let texts: Vec<String> = expressions.iter().map(|each| self.term(each)).collect();
        texts.join(", ")
    }

    fn term(&self, expression: &Expression) -> String {
        let named = |mark: &str, names: &[String], slot: u8| {
            let name = names.get(usize::from(slot)).map_or("_", String::as_str);
            format!("{mark}{name}")
        };
        match expression {
            Expression::Literal(value) => attr_text(value, self.symbols),
            Expression::Attr(slot) => named("$", &self.names.attrs, *slot),
            Expression::Register(reg) => self.names.value(*reg).unwrap_or_else(|| "_".to_owned()),
            Expression::DType(slot) => named("'", &self.names.dtypes, *slot),
            Expression::Dim(slot) => named("", &self.names.dims, *slot),
            Expression::Shape(slot) => named("..", &self.names.shapes, *slot),
            Expression::Count(slot) => format!("count(?{})", named("", &self.names.lists, *slot)),
            Expression::Integers(slot) => {
                format!("integers(?{})", named("", &self.names.lists, *slot))
            }
            Expression::List(items) | Expression::Dims(items) => format!("[{}]", self.list(items)),
            Expression::Call(function, arguments) => {
                format!("{}({})", function.name, self.list(arguments))
            }
            Expression::Own(function, arguments) => {
                format!("{}({})", function.name, self.list(arguments))
            }
        }
    }

    /// Adds the terms of `condition` with their values to `out`, without duplicates.
    fn terms(&self, condition: &Condition, out: &mut Vec<String>) {
        match condition {
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().for_each(|part| self.terms(part, out));
            }
            Condition::Not(inner) => self.terms(inner, out),
            Condition::Compare(_, lhs, rhs) => {
                self.meaning(lhs, out);
                self.meaning(rhs, out);
            }
            Condition::Predicate(_, arguments) | Condition::Own(_, arguments) => {
                arguments.iter().for_each(|each| self.meaning(each, out));
            }
            // Omitted because its terms have another value for each element.
            Condition::Each(..) => {}
        }
    }

    fn meaning(&self, expression: &Expression, out: &mut Vec<String>) {
        if matches!(expression, Expression::Literal(_)) {
            return;
        }
        let value = expression.argument(self.scope);
        let value = value.map_or_else(|| "unknown".to_owned(), |value| self.argument(&value));
        let text = format!("{} is {value}", self.term(expression));
        if !out.contains(&text) {
            out.push(text);
        }
    }

    fn argument(&self, argument: &Argument<'_>) -> String {
        match argument {
            Argument::Value(value) => self.value(value),
            Argument::DType(dtype) => dtype.to_string(),
            Argument::Attr(value) => attr_text(value, self.symbols),
            Argument::Dim(dim) => dim_text(*dim, self.symbols),
            Argument::Shape(shape) => dims_text(shape, self.symbols),
        }
    }

    /// Describes a value by its type, constant, facts and number of uses.
    fn value(&self, value: &ValueInfo<'_>) -> String {
        let ty = value.ty.text(self.symbols);
        let constant = match value.constant() {
            Some(constant) => constant_text(constant),
            None => "no constant".to_owned(),
        };
        let facts = Facts::NAMES
            .iter()
            .filter(|(_, fact)| value.facts().has(*fact));
        let facts: String = facts.map(|(name, _)| format!(", {name}")).collect();
        format!("{ty} ({constant}{facts}, {} uses)", value.uses())
    }
}

/// Returns a constant as text.
pub fn constant_text(constant: &Constant) -> String {
    if constant.splat {
        format!("{} everywhere", element(&constant.data))
    } else {
        "a constant".to_owned()
    }
}

fn element(tensor: &Tensor) -> String {
    fn first<T: Num>(tensor: &Tensor) -> String {
        let element = tensor.elements::<T>()[0];
        match element.to_i128() {
            Some(int) => int.to_string(),
            None => format!("{:?}", element.to_f64()),
        }
    }
    with_num!(tensor.dtype(), T => first::<T>(tensor), else "a boolean".to_owned())
}

fn dim_text(dim: Dim, symbols: &Symbols) -> String {
    match dim {
        Dim::Fixed(extent) => extent.to_string(),
        Dim::Symbol(sym) => symbols.get(sym).to_owned(),
        Dim::Dynamic => "?".to_owned(),
    }
}

fn dims_text(dims: &[Dim], symbols: &Symbols) -> String {
    let dims: Vec<String> = dims.iter().map(|&dim| dim_text(dim, symbols)).collect();
    format!("[{}]", dims.join(", "))
}

/// Returns an attribute value as text.
pub fn attr_text(value: &AttrValue, symbols: &Symbols) -> String {
    match value {
        AttrValue::Int(value) => value.to_string(),
        AttrValue::Bool(value) => value.to_string(),
        AttrValue::Float(bits) => format!("{:?}", f64::from_bits(*bits)),
        AttrValue::Str(sym) => symbols.get(*sym).to_owned(),
        AttrValue::Ints(list) => {
            let text = |&each: &i64| match each {
                OPEN_END => "open".to_owned(),
                each => each.to_string(),
            };
            format!("[{}]", list.iter().map(text).collect::<Vec<_>>().join(", "))
        }
        AttrValue::Dims(dims) => dims_text(dims, symbols),
        AttrValue::Valid => "valid".to_owned(),
        AttrValue::Same => "same".to_owned(),
        AttrValue::Pads(pads) => format!("{pads:?}"),
        AttrValue::DType(dtype) => dtype.name().to_owned(),
        AttrValue::Word(word) => (*word).to_owned(),
    }
}
