//! TODO
use super::Operator;
pub(super) const ROWS: &[Operator] = &[];
