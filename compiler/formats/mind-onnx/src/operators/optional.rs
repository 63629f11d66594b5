//! Imports optional values, if they are tensors.

use std::rc::Rc;

use mind_convert::Refusal;
use mind_ir::tensor::Tensor;

use super::Operator;
use crate::import::value::Value;
use crate::tensor::Constant;

pub(super) const ROWS: &[Operator] = &[
    Operator::values("OptionalGetElement", &[15, 18, 28], |n| {
        let value = n.given(0).cloned();
        let value = value.ok_or_else(|| Refusal::missing(n.operand(0)))?;
        Ok(vec![value])
    }),
    Operator::values("OptionalHasElement", &[15, 18, 28], |n| {
        let has = Tensor::scalar(n.given(0).is_some());
        Ok(vec![Value::Known(Rc::new(Constant::of(&has)))])
    }),
];
