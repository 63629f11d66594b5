//! Specialises programs with open extents to the extents of a run.

use mind_diag::Diagnostics;
use mind_ir::builder::Builder;
use mind_ir::graph::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, TensorType};
use mind_ir::verify::{VerifyConfig, infer_op, verify};
use mind_ir::{OpId, ValueId};
use smallvec::SmallVec;

use crate::call::Call;
use crate::constant::constant;
use crate::fold;
use crate::ops;
use crate::ops::tensor::SHAPE;
use crate::row::MilOp;
use crate::structure::{Input, program};

/// Maximum size of a list of extents, in bytes.
const LIMIT: u64 = 1 << 20;

/// Returns whether a module is a program with an input of unknown extent.
pub fn is_open(g: &Graph) -> bool {
    let open = |value: ValueId| {
        let mut dims = g.ty(value).shape.iter();
        dims.any(|dim| matches!(dim, Dim::Dynamic))
    };
    program(g).is_some()
        && g.ops(g.body())
            .any(|op| g.is::<Input>(op) && open(g.result(op)))
}

/// Sets each open extent of an input to the one of `shape` for the input's name, and infers all types. Values computed
/// from extents only become constants.
///
/// # Errors
///
/// Returns the verifier's errors for these extents, for example if they contradict each other.
pub fn specialize(
    g: &mut Graph,
    shape: &dyn Fn(&str) -> Option<Vec<usize>>,
) -> Result<(), Diagnostics> {
    let mut next = g.ops(g.body()).next();
    while let Some(op) = next {
        next = g.next(op);
        if let Some(input) = g.view::<Input>(op) {
            if let Some(extents) = shape(g.name(input.name(g))) {
                fix_unknown_extents(g, g.result(op), &extents);
            }
            continue;
        }
        let Some(row) = ops::row(g.def(op)) else {
            continue;
        };
        if let Some(known) = extents(g, op, row) {
            let new = constant(&mut Builder::before(g, op), &known);
            let old = g.result(op);
            g.replace_all_uses(old, new);
            g.erase(op);
        } else if let Ok(types) = infer_op(g, op) {
            g.set_types(op, &types);
        }
    }
    let found = verify(g, &VerifyConfig::default());
    if found.has_errors() {
        Err(found)
    } else {
        Ok(())
    }
}

fn fix_unknown_extents(g: &mut Graph, input: ValueId, extents: &[usize]) {
    let ty = g.ty(input);
    if ty.rank() != extents.len() {
        return;
    }
    let dims = ty.shape.iter().zip(extents);
    let dims: SmallVec<[Dim; 6]> = dims
        .map(|(&dim, &extent)| match dim {
            Dim::Dynamic => Dim::Fixed(extent as i64),
            dim => dim,
        })
        .collect();
    let ty = TensorType::new(ty.dtype, dims);
    let ty = g.intern_type(ty.view());
    g.declare(input, ty);
    g.set_type(input, ty);
}

/// Evaluates an op on extents: the shape of a tensor, or integers and truth values computed from constants.
fn extents(g: &Graph, op: OpId, row: &'static MilOp) -> Option<Tensor> {
    if std::ptr::eq(row, &SHAPE) {
        let call = Call::bind(row, op, g).ok()?;
        let extents = call.ty("x").static_shape()?;
        let plain = call.value("output_dtype").is_none();
        let extents: Vec<i32> = extents
            .into_iter()
            .map(i32::try_from)
            .collect::<Result<_, _>>()
            .ok()?;
        return plain.then(|| Tensor::of(vec![extents.len()], extents));
    }
    let results: SmallVec<[ValueId; 1]> = g.results(op).into_iter().collect();
    let [result] = results[..] else { return None };
    let counts = !g.ty(result).dtype.is_float() && !row.is_constexpr();
    let mut folded = fold::folded(g, op, LIMIT).filter(|_| counts)?.ok()?;
    folded.pop()
}
