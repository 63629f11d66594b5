//! Conditions and computed attributes of rules.

mod condition;
mod contents;
mod extremes;
mod functions;
mod kind;
mod lists;
mod near;
mod number;
mod predicates;
mod scope;
mod shapes;
mod show;
mod vocabulary;

pub(crate) use condition::Comparison;
pub use condition::{Condition, Expression};
pub(crate) use functions::FUNCTIONS;
pub use kind::{ExprKind, Param};
pub(crate) use near::is_near;
pub use number::Number;
pub(crate) use predicates::{PREDICATES, fits_in};
pub use scope::{Argument, Scope, ValueInfo};
pub use show::{ExplainedMatch, attr_text, constant_text};
pub(crate) use vocabulary::OF_LISTS;
pub use vocabulary::{Vocabulary, built_in_functions, built_in_params, built_in_predicates};
