//! Imports selects, comparisons and casts.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::compare::Select;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::element::Element;
use mind_mil::ops::{binary, unary};

use crate::emit::{Emit, Import};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&binary::SELECT, |op, e| {
        let cond = e.argument(op, "cond")?;
        let [a, b] = alike(op, e, ["a", "b"])?;
        Ok(Select::build(&mut e.b, cond, a, b)?)
    }),
    (&unary::CAST, |op, e| {
        let element = Element::parse(e.call(op)?.word("dtype"));
        let mut dtypes = DType::ALL.iter().copied();
        let to = dtypes.find(|&dtype| Some(Element::of(dtype)) == element);
        let to = to.ok_or_else(|| Refusal::no_counterpart("core has no such dtype"))?;
        let x = e.argument(op, "x")?;
        e.convert(x, to)
    }),
];

/// Returns two arguments in one dtype, because weights may be given in another float dtype.
fn alike(op: OpId, e: &mut Emit<'_>, names: [&str; 2]) -> Result<[ValueId; 2], Refusal> {
    let [x, y] = [e.argument(op, names[0])?, e.argument(op, names[1])?];
    let y = e.convert(y, e.dtype(x))?;
    Ok([x, y])
}
