//! What each op of core is in ONNX, a row each.

mod contract;
mod control;
mod convolution;
pub(super) mod elementwise;
mod index;
mod movement;
mod normalize;
mod quantize;
mod reduce;
mod runtime;
mod sample;
mod scatter;
mod sorting;
mod window;

use mind_convert::Refusal;
use mind_diag::Diagnostics;
use mind_ir::opdef::OpDef;
use mind_ir::scalar::ScalarFn;
use mind_ir::{Graph, OpId};

use super::draft::Val;
use super::emit::{Emit, One};

/// The values that an op becomes.
pub(super) type Many = Result<Vec<Val>, Refusal>;

/// How an op is written.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// With one result.
    One(fn(OpId, &mut Emit<'_>) -> One),
    /// With several results.
    Many(fn(OpId, &mut Emit<'_>) -> Many),
    /// With the ops of its regions, whose refusals are reported.
    Regions(fn(OpId, &mut Emit<'_>, &mut Diagnostics) -> Many),
    /// As a scalar function.
    Scalar(ScalarFn),
    /// Not at all.
    None,
}

/// An op and how it is written.
type Row = (&'static OpDef, Form);

/// The rows of what applies no scalar function, by family.
const FAMILIES: &[&[Row]] = &[
    contract::ROWS,
    control::ROWS,
    convolution::ROWS,
    index::ROWS,
    movement::ROWS,
    normalize::ROWS,
    quantize::ROWS,
    reduce::ROWS,
    runtime::ROWS,
    sample::ROWS,
    scatter::ROWS,
    sorting::ROWS,
    window::ROWS,
];

/// How an op is written.
pub(super) fn form(g: &Graph, op: OpId) -> Form {
    let def = g.def(op);
    match (row(def), g.scalar(op)) {
        (Some(form), _) => form,
        (None, Some(function)) => Form::Scalar(function),
        (None, None) => Form::None,
    }
}

fn row(def: &OpDef) -> Option<Form> {
    let mut rows = FAMILIES.iter().copied().flatten();
    rows.find(|(own, _)| std::ptr::eq(*own, def))
        .map(|&(_, form)| form)
}

#[cfg(test)]
mod tests {
    use mind_core::DIALECT;
    use mind_core::ops::fused::Fused;
    use mind_core::ops::input::Input;
    use mind_ir::opdef::{Op, Trait};

    use super::*;

    #[test]
    fn every_op_of_core_is_written_once() {
        let walked: [&OpDef; 2] = [Input::DEF, Fused::DEF];
        for def in DIALECT.ops {
            let is_walked = walked.iter().any(|own| std::ptr::eq(*own, *def));
            let forms = [
                is_walked || def.has(Trait::Constant),
                row(def).is_some(),
                row(def).is_none() && def.scalar.is_some(),
            ];
            let forms = forms.into_iter().filter(|&own| own).count();
            assert_eq!(forms, 1, "{}", def.name);
        }
        let rows: Vec<&Row> = FAMILIES.iter().copied().flatten().collect();
        for (at, (def, _)) in rows.iter().enumerate() {
            let again = rows[at + 1..]
                .iter()
                .any(|(own, _)| std::ptr::eq(*own, *def));
            assert!(!again, "{} has two rows", def.name);
        }
    }
}
