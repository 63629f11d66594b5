//! Conditions and computed attributes of rules.

mod condition;
mod contents;
mod functions;
mod kind;
mod lists;
mod near;
mod predicates;
mod scope;
mod shapes;

pub(crate) use condition::{Comparison, Condition, Expression};
pub(crate) use functions::FUNCTIONS;
pub(crate) use kind::{Kind, Param};
pub(crate) use near::is_near;
pub(crate) use predicates::PREDICATES;
pub(crate) use scope::Scope;
