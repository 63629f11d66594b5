//! Numeric expressions in postfix order, because evaluating nested ones must not use stack proportional to their depth.

use super::format::Format;
use super::integer::{Integer, Operation};

/// The index of a numeric variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberId(pub usize);

/// An item of an [`Expression`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// A number.
    Literal(Integer),
    /// A variable.
    Variable(NumberId),
    /// An operation on the two values before it.
    Combine(Operation),
}

/// An expression in which both operands precede each operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression(Vec<Term>);

/// The variables of an expression have different formats, and none is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatConflict;

impl Expression {
    /// Creates an expression of `terms`, which must leave exactly one value.
    pub fn new(terms: Vec<Term>) -> Expression {
        Expression(terms)
    }

    /// Returns its value, or all reasons why it does not have one, one per line.
    pub fn evaluate(
        &self,
        value_of: impl Fn(NumberId) -> Result<Integer, String>,
    ) -> Result<Integer, String> {
        let undefined: Vec<String> = self
            .variables()
            .filter_map(|variable| value_of(variable).err())
            .collect();
        if !undefined.is_empty() {
            return Err(undefined.join("\n"));
        }
        let mut stack = Vec::new();
        for term in &self.0 {
            let value = match term {
                Term::Literal(value) => value.clone(),
                Term::Variable(variable) => value_of(*variable)?,
                Term::Combine(operation) => {
                    let right: Option<Integer> = stack.pop();
                    let left: Option<Integer> = stack.pop();
                    let result = left
                        .zip(right)
                        .and_then(|(left, right)| operation.apply(&left, &right));
                    result.ok_or_else(|| "division by zero, or a number too large".to_owned())?
                }
            };
            stack.push(value);
        }
        stack.pop().ok_or_else(|| "empty expression".to_owned())
    }

    /// Returns the common format of its variables, if it has variables.
    pub fn implied_format(
        &self,
        format_of: impl Fn(NumberId) -> Format,
    ) -> Result<Option<Format>, FormatConflict> {
        let mut implied = None;
        for format in self.variables().map(format_of) {
            if *implied.get_or_insert(format) != format {
                return Err(FormatConflict);
            }
        }
        Ok(implied)
    }

    fn variables(&self) -> impl Iterator<Item = NumberId> {
        self.0.iter().filter_map(|term| match term {
            Term::Variable(variable) => Some(*variable),
            Term::Literal(_) | Term::Combine(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(value: u64) -> Term {
        Term::Literal(Integer::from(value))
    }

    #[test]
    fn operations_apply_in_order() {
        let (subtract, add) = (
            Term::Combine(Operation::Subtract),
            Term::Combine(Operation::Add),
        );
        let expression = Expression::new(vec![
            literal(9),
            literal(4),
            subtract,
            Term::Variable(NumberId(0)),
            add,
        ]);
        assert_eq!(
            expression.evaluate(|_| Ok(Integer::from(2))),
            Ok(Integer::from(7))
        );
        assert_eq!(
            expression.evaluate(|_| Err("undefined variable: X".to_owned())),
            Err("undefined variable: X".to_owned())
        );
    }
}
