//! Lowers sorts and top-k.

use mind_convert::Refusal;
use mind_core::ops::data::NonZero;
use mind_core::ops::sort::{Sort, TopK};
use mind_ir::ValueId;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::DType;
use mind_mil::MilOp;
use mind_mil::Opset;
use mind_mil::ops::index::GATHER_ALONG_AXIS;
use mind_mil::ops::tensor::{ARGSORT, NON_ZERO, TOPK};

use crate::emit::Argument::{Flag, Int, Value};
use crate::emit::{Emit, Lower, LowerMany};

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[(NonZero::DEF, |op, e| {
    let x = NonZero::from_id(op).input(e.g());
    numbers(e, &NON_ZERO, x)?;
    let rows = e.op(&NON_ZERO, &[("x", Value(x))])?;
    e.transpose(rows, &[1, 0])
})];

/// The ops with two results.
pub(crate) const MANY: &[(&OpDef, LowerMany)] = &[
    (Sort::DEF, |op, e| {
        let view = Sort::from_id(op);
        let (x, axis, descending) = (view.input(e.g()), view.axis(e.g()), view.descending(e.g()));
        numbers(e, &ARGSORT, x)?;
        let args = [
            ("x", Value(x)),
            ("axis", Int(axis)),
            ("ascending", Flag(!descending)),
        ];
        let places = e.op(&ARGSORT, &args)?;
        let mut args = vec![
            ("x", Value(x)),
            ("indices", Value(places)),
            ("axis", Int(axis)),
        ];
        if e.config.opset >= Opset::Ios17 {
            args.push(("validate_indices", Flag(false)));
        }
        let values = e.op(&GATHER_ALONG_AXIS, &args)?;
        Ok(vec![values, places])
    }),
    (TopK::DEF, |op, e| {
        let view = TopK::from_id(op);
        let (x, k, axis) = (view.input(e.g()), view.k(e.g()), view.axis(e.g()));
        let largest = view.largest(e.g());
        numbers(e, &TOPK, x)?;
        let mut args = vec![
            ("x", Value(x)),
            ("k", Int(k)),
            ("axis", Int(axis)),
            ("ascending", Flag(!largest)),
        ];
        if e.config.opset >= Opset::Ios16 {
            args.push(("sort", Flag(true)));
            args.push(("return_indices", Flag(true)));
        }
        e.several(&TOPK, &args, op)
    }),
];

/// Rejects a dtype that `row` does not order.
fn numbers(e: &Emit<'_, '_>, row: &MilOp, x: ValueId) -> Result<(), Refusal> {
    match e.dtype(x) {
        DType::F16 | DType::F32 | DType::I32 => Ok(()),
        DType::Bool if row.name == "non_zero" => Ok(()),
        dtype => Err(Refusal::no_counterpart(format!(
            "`{}` takes no {dtype}",
            row.name
        ))),
    }
}
