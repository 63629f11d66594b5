//! Imports the model-local functions of the exporter, which are recognised by name, because their bodies would not
//! compute the same bits.

use mind_ir::scalar::ScalarFn;

use super::{OWN, Operator};

pub(super) const ROWS: &[Operator] = &[
    Operator::scalar("Atan2", &[1], ScalarFn::Atan2).of(OWN),
    Operator::scalar("Exp2", &[1], ScalarFn::Exp2).of(OWN),
    Operator::scalar("Expm1", &[1], ScalarFn::Expm1).of(OWN),
    Operator::scalar("Gelu", &[1], ScalarFn::Gelu).of(OWN),
    Operator::scalar("Log1p", &[1], ScalarFn::Log1p).of(OWN),
    Operator::scalar("Log2", &[1], ScalarFn::Log2).of(OWN),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::functions::FUNCTIONS;

    #[test]
    fn what_is_written_as_a_function_is_read() {
        assert_eq!(FUNCTIONS.len(), ROWS.len());
        for function in &FUNCTIONS {
            let row = super::super::find(OWN, function.name);
            let row = row.unwrap_or_else(|| panic!("{}", function.name));
            assert!(row.is_scalar(function.scalar), "{}", function.name);
        }
    }
}
