//! Lowers reductions.

mod apart;

use mind_core::axes::resolve;
use mind_core::ops::cumulative::Cumulative;
use mind_core::ops::reduce::{Max, Mean, Min, Prod, Sum};
use mind_ir::OpId;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::DType;
use mind_ir::verify::VerifyError;
use mind_tensor::ops::cumulative::Cumulative as TensorCumulative;
use mind_tensor::ops::reduce::Reduction;

use crate::emit::{Lower, Lowered, cast, reduce, reshape, shape};

/// The table row of a core reduction; all views have the same accessors.
macro_rules! reduction {
    ($view:ident) => {
        ($view::DEF, |op, b| {
            let view = $view::from_id(op);
            let (axes, keepdims) = (view.axes(b.graph).to_vec(), view.keepdims(b.graph));
            lower(op, b, Reduction::$view, &axes, keepdims)
        })
    };
}

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    reduction!(Sum),
    reduction!(Mean),
    reduction!(Max),
    reduction!(Min),
    reduction!(Prod),
    (Cumulative::DEF, cumulative),
];

fn cumulative(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let view = Cumulative::from_id(op);
    let (input, prefixes) = (view.input(b.graph), view.prefixes(b.graph));
    let rank = b.graph.ty(input).rank();
    let axis = resolve("cumulative", view.axis(b.graph), rank)?;
    TensorCumulative::with(axis as i64, prefixes.kind)
        .exclusive(prefixes.exclusive)
        .reverse(prefixes.reverse)
        .build(b, input)
}

/// Lowers a reduction: axes are counted from the front and sorted, and an empty list means all axes without `keepdims`.
/// `bool` is reduced as numbers.
fn lower(
    op: OpId,
    b: &mut Builder<'_>,
    kind: Reduction,
    written: &[i64],
    keepdims: bool,
) -> Lowered {
    let input = b.graph.operands(op)[0];
    let rank = b.graph.ty(input).rank();
    let axes = written.iter().map(|&axis| resolve("reduce", axis, rank));
    let mut axes: Vec<usize> = axes.collect::<Result<_, VerifyError>>()?;
    let keepdims = keepdims && !axes.is_empty();
    if axes.is_empty() {
        axes = (0..rank).collect();
    }
    axes.sort_unstable();
    let axes: Vec<i64> = axes.into_iter().map(|axis| axis as i64).collect();
    if let Some(extents) = apart::extents(b, kind, input, &axes) {
        let result = apart::lower(b, kind, input, &extents)?;
        if keepdims {
            return Ok(result);
        }
        let shape = shape(b, b.graph.result(op));
        return reshape(b, result, &shape, &[]);
    }
    if b.graph.ty(input).dtype != DType::Bool {
        return reduce(b, kind, input, &axes, keepdims);
    }
    let numbers = cast(b, input, DType::U8)?;
    let result = reduce(b, kind, numbers, &axes, keepdims)?;
    cast(b, result, DType::Bool)
}
