//! Constraints of a rule on values, for generators of inputs that satisfy it.

use crate::attr_value::AttrValue;
use crate::expr::{Comparison, Condition, Expression};
use crate::matching::pattern::{Instruction, Pattern};
use mind_ir::scalar::Facts;

/// A constraint that a rule states directly. Values are numbered as in [`Lhs`](super::Lhs).
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Hint {
    /// The value is a constant.
    Constant(usize),
    /// The value is a boolean.
    Truth(usize),
    /// The value is a splat, of this number if given.
    Splat(usize, Option<f64>),
    /// The value is a splat of a power of two.
    PowerOfTwo(usize),
    /// The value is a splat of the integer with every bit set, or of true.
    AllOnes(usize),
    /// The value is a splat of the least value of its dtype.
    Lowest(usize),
    /// The value is a splat of the greatest value of its dtype.
    Highest(usize),
    /// The value is a constant with positive elements.
    Positive(usize),
    /// The value is an identity matrix.
    Identity(usize),
    /// The value is a constant arithmetic progression of positions.
    Positions(usize),
    /// The value is a constant list of positions.
    Indices(usize),
    /// The facts hold for every element.
    Fact(usize, Facts),
    /// The value has this rank.
    Rank(usize, i64),
    /// Both values have the same shape.
    SameShape(usize, usize),
}

impl Hint {
    /// Returns the hint with its values mapped by `value`; `None` if one of them has no counterpart.
    fn renumbered(self, value: impl Fn(usize) -> Option<usize>) -> Option<Hint> {
        Some(match self {
            Hint::Constant(own) => Hint::Constant(value(own)?),
            Hint::Truth(own) => Hint::Truth(value(own)?),
            Hint::Splat(own, number) => Hint::Splat(value(own)?, number),
            Hint::PowerOfTwo(own) => Hint::PowerOfTwo(value(own)?),
            Hint::AllOnes(own) => Hint::AllOnes(value(own)?),
            Hint::Lowest(own) => Hint::Lowest(value(own)?),
            Hint::Highest(own) => Hint::Highest(value(own)?),
            Hint::Positive(own) => Hint::Positive(value(own)?),
            Hint::Identity(own) => Hint::Identity(value(own)?),
            Hint::Positions(own) => Hint::Positions(value(own)?),
            Hint::Indices(own) => Hint::Indices(value(own)?),
            Hint::Fact(own, facts) => Hint::Fact(value(own)?, facts),
            Hint::Rank(own, rank) => Hint::Rank(value(own)?, rank),
            Hint::SameShape(a, b) => Hint::SameShape(value(a)?, value(b)?),
        })
    }
}

/// Returns the constraints of `pattern` other than ops and types.
pub(super) fn of_pattern(pattern: &Pattern) -> Vec<Hint> {
    let near = pattern.instructions.iter().filter_map(|each| match each {
        Instruction::Near { reg, value } => Some(Hint::Splat(usize::from(*reg), Some(*value))),
        _ => None,
    });
    near.collect()
}

/// Adds the constraints of `condition`, those of alternatives included, to `found`; `lists` are the values of each
/// list.
pub(super) fn hints(condition: &Condition, lists: &[Vec<usize>], found: &mut Vec<Hint>) {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => {
            parts.iter().for_each(|part| hints(part, lists, found));
        }
        Condition::Not(_) | Condition::Own(..) => {}
        Condition::Each(each, inner) => {
            let mut inner_hints = Vec::new();
            hints(inner, lists, &mut inner_hints);
            for at in 0..each
                .first()
                .map_or(0, |(list, _)| lists[usize::from(*list)].len())
            {
                let value = |number: usize| {
                    let own = each.iter().find(|(_, reg)| usize::from(*reg) == number);
                    let listed = |(list, _): &(u8, u8)| lists[usize::from(*list)].get(at).copied();
                    own.map_or(Some(number), listed)
                };
                found.extend(inner_hints.iter().filter_map(|hint| hint.renumbered(value)));
            }
        }
        Condition::Compare(Comparison::Equal, lhs, rhs) => {
            found.extend(rank(lhs, rhs).or(rank(rhs, lhs)));
        }
        Condition::Compare(..) => {}
        Condition::Predicate(predicate, arguments) => {
            found.extend(hint_of(predicate.name, arguments));
            if let ("scales_exactly", Some(Expression::Register(reg))) =
                (predicate.name, arguments.get(1))
            {
                found.push(Hint::Splat(usize::from(*reg), None));
            }
        }
    }
}

fn rank(call: &Expression, number: &Expression) -> Option<Hint> {
    let (Expression::Call(function, arguments), Expression::Literal(AttrValue::Int(rank))) =
        (call, number)
    else {
        return None;
    };
    let [Expression::Register(reg)] = arguments.as_ref() else {
        return None;
    };
    (function.name == "rank").then_some(Hint::Rank(usize::from(*reg), *rank))
}

fn hint_of(predicate: &str, arguments: &[Expression]) -> Option<Hint> {
    let reg = |at: usize| match arguments.get(at) {
        Some(Expression::Register(reg)) => Some(usize::from(*reg)),
        _ => None,
    };
    let first = reg(0)?;
    Some(match predicate {
        "is_const" => Hint::Constant(first),
        "is_bool" => Hint::Truth(first),
        "is_splat" => Hint::Splat(first, number(arguments.get(1))),
        "is_power_of_two" | "is_one_bit" => Hint::PowerOfTwo(first),
        "all_ones" => Hint::AllOnes(first),
        "is_lowest" => Hint::Lowest(first),
        "is_highest" => Hint::Highest(first),
        "all_positive" => Hint::Positive(first),
        "is_identity" => Hint::Identity(first),
        "is_range" => Hint::Positions(first),
        "in_bounds" => Hint::Indices(first),
        "scales_exactly" => Hint::PowerOfTwo(first),
        "never_nan" => Hint::Fact(first, Facts::NEVER_NAN),
        "finite" => Hint::Fact(first, Facts::FINITE),
        "nonneg" => Hint::Fact(first, Facts::NONNEG),
        "no_neg_zero" => Hint::Fact(first, Facts::NO_NEG_ZERO),
        "same_shape" => Hint::SameShape(first, reg(1)?),
        _ => return None,
    })
}

/// Returns the number of a literal.
pub(super) fn number(expression: Option<&Expression>) -> Option<f64> {
    match expression? {
        Expression::Literal(AttrValue::Int(value)) => Some(*value as f64),
        Expression::Literal(AttrValue::Float(bits)) => Some(f64::from_bits(*bits)),
        _ => None,
    }
}

/// Returns a condition as text, with the names of its predicates and functions and `..` for other arguments.
pub(super) fn text(condition: &Condition) -> String {
    let list = |parts: &[Condition], word: &str| {
        let parts: Vec<String> = parts.iter().map(text).collect();
        parts.join(word)
    };
    match condition {
        Condition::All(parts) => list(parts, " and "),
        Condition::Any(parts) => list(parts, " or "),
        Condition::Not(inner) => format!("not {}", text(inner)),
        Condition::Compare(comparison, lhs, rhs) => {
            let sign = comparison.sign();
            format!("{} {sign} {}", operand(lhs), operand(rhs))
        }
        Condition::Own(predicate, _) => format!("{}(..)", predicate.name),
        Condition::Each(_, inner) => format!("{} of each", text(inner)),
        Condition::Predicate(predicate, arguments) => match number(arguments.last()) {
            Some(number) => format!("{}(.., {number})", predicate.name),
            None => format!("{}(..)", predicate.name),
        },
    }
}

fn operand(expression: &Expression) -> String {
    match expression {
        Expression::Call(function, _) => format!("{}(..)", function.name),
        expression => number(Some(expression)).map_or("..".to_owned(), |number| number.to_string()),
    }
}
