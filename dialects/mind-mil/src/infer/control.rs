//! Nested blocks.

use mind_ir::ValueId;
use mind_ir::opdef::Inferred;
use mind_ir::types::{DType, Dim, Shape, TensorType};
use mind_ir::verify::{InferManyResult, VerifyError};

use crate::call::Call;

/// Returns the values that block `index` yields.
fn yields<'g>(call: &Call<'g>, index: usize) -> &'g [ValueId] {
    let g = call.g;
    let end = g.terminator(g.block(g.regions(call.op)[index]));
    end.map_or(&[], |end| g.operands(end))
}

fn differ(call: &Call<'_>, declared: ValueId, inferred: ValueId) -> Box<VerifyError> {
    let text = |value| call.g.ty(value).text(call.g.symbols());
    Box::new(VerifyError::DeclaredType {
        declared: text(declared),
        inferred: text(inferred),
    })
}

/// Returns the types that both blocks yield; extents that differ are unknown.
///
/// # Errors
///
/// Returns E2001 for values of different dtypes or ranks, and E4109 if a block does not yield one value per result.
pub(crate) fn cond(call: &Call<'_>) -> InferManyResult {
    let (first, second) = (yields(call, 0), yields(call, 1));
    let wanted = call.g.results(call.op).len();
    call.length("the first block", first.len(), wanted)?;
    call.length("the second block", second.len(), wanted)?;
    let joined = |(&one, &other): (&ValueId, &ValueId)| {
        let (a, b) = (call.g.ty(one), call.g.ty(other));
        if a.dtype != b.dtype || a.rank() != b.rank() {
            return Err(differ(call, one, other));
        }
        let dims = a.shape.iter().zip(b.shape);
        let shape: Shape = dims
            .map(|(&a, &b)| if a == b { a } else { Dim::Dynamic })
            .collect();
        Ok(Inferred::New(TensorType {
            dtype: a.dtype,
            shape,
        }))
    };
    first.iter().zip(second).map(joined).collect()
}

/// Returns the types of the blocks' arguments, which are also those of the variables and of the second block's values.
///
/// # Errors
///
/// Returns E2001 for a value of another type or a condition that is not a truth value, and E4109 unless there is one
/// value per variable.
pub(crate) fn while_loop(call: &Call<'_>) -> InferManyResult {
    let (g, variables) = (call.g, call.values("loop_vars"));
    let blocks = [0, 1].map(|index| g.arguments(g.block(g.regions(call.op)[index])));
    for (name, found) in [
        ("the result", g.results(call.op).len()),
        ("the first block", blocks[0].len()),
        ("the second block", blocks[1].len()),
        ("what the second block yields", yields(call, 1).len()),
    ] {
        call.length(name, found, variables.len())?;
    }
    let &[again] = yields(call, 0) else {
        let found = yields(call, 0).len();
        return Err(call
            .length("what the first block yields", found, 1)
            .err()
            .unwrap_or_else(|| {
                Box::new(VerifyError::Structure {
                    problem: "the first block yields nothing".to_owned(),
                })
            }));
    };
    if g.ty(again).dtype != DType::Bool || g.ty(again).count() != Some(1) {
        return Err(Box::new(VerifyError::DeclaredType {
            declared: g.ty(again).text(g.symbols()),
            inferred: TensorType::fixed(DType::Bool, &[]).view().text(g.symbols()),
        }));
    }
    let next = yields(call, 1);
    let mut types = InferManyResult::Ok(Default::default())?;
    for (at, &variable) in variables.iter().enumerate() {
        let argument = blocks[1].get(at);
        for value in [variable, blocks[0].get(at), next[at]] {
            if g.ty(argument).meet(g.ty(value)).is_none() {
                return Err(differ(call, value, argument));
            }
        }
        types.push(Inferred::New(g.ty(argument).to_owned()));
    }
    Ok(types)
}
