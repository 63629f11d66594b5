//! Elements of constants.

use mind_ir::types::{DType, DTypeClass};
use mind_text::number::read_element;

use crate::rng::Rng;

/// Neutral elements that rewrites match, and edge cases.
const FLOATS: &[&str] = &["0.0", "-0.0", "1.0", "-1.0", "2.0", "0.5", "inf", "nan"];
const SIGNED: &[&str] = &["0", "1", "-1", "2", "127", "-128"];
const UNSIGNED: &[&str] = &["0", "1", "2", "255"];

/// Appends an element of `dtype`; neither 0 nor -1 if it is a divisor.
pub(crate) fn draw(rng: &mut Rng, dtype: DType, divisor: bool, bytes: &mut Vec<u8>) {
    let plain = rng.below(200);
    let text = match dtype.class() {
        DTypeClass::Bool => rng.pick(&["true", "false"]).to_owned(),
        DTypeClass::Float if rng.once_in(3) => rng.pick(FLOATS).to_owned(),
        DTypeClass::Float => format!("{}.{}", plain % 4, 1 + plain),
        _ if divisor => (2 + plain % 5).to_string(),
        DTypeClass::Signed if rng.once_in(2) => rng.pick(SIGNED).to_owned(),
        DTypeClass::Unsigned if rng.once_in(2) => rng.pick(UNSIGNED).to_owned(),
        _ => (plain % 100).to_string(),
    };
    read_element(&text, dtype, bytes).expect("every dtype has these numbers");
}
