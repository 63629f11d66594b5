//! The table of core ops, with the export of each.

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

/// The values that replace the results of an op.
pub(super) type Many = Result<Vec<Val>, Refusal>;

/// The export of an op.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// One result.
    One(fn(OpId, &mut Emit<'_>) -> One),
    /// Several results.
    Many(fn(OpId, &mut Emit<'_>) -> Many),
    /// An op with regions, whose errors are collected.
    Regions(fn(OpId, &mut Emit<'_>, &mut Diagnostics) -> Many),
    /// A scalar function.
    Scalar(ScalarFn),
    /// Not exported.
    None,
}

/// An op and its export.
type Row = (&'static OpDef, Form);

/// The rows by family, without scalar functions.
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

/// Returns the export of an op.
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
    use mind_core::ops::solve::{Cholesky, TriangularSolve};
    use mind_ir::opdef::{Op, Trait};

    use super::*;

    #[test]
    fn every_op_of_core_is_written_once() {
        // The last two are expanded before the walk.
        let walked: [&OpDef; 4] = [Input::DEF, Fused::DEF, Cholesky::DEF, TriangularSolve::DEF];
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
