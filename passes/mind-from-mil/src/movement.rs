//! Imports data movement: reshapes, permutations, padding and concatenations.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::pad::{PadMode, PadOp};
use mind_core::ops::shape::Reshape;
use mind_ir::tensor::Tensor;
use mind_ir::types::Dim;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::blocks::BLOCKS;
use mind_mil::ops::{movement, tensor};

use crate::emit::{Emit, Import, Many, One};
use crate::{runtime_part, runtime_shape};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&movement::RESHAPE, |op, e| {
        let x = e.argument(op, "x")?;
        match (e.shape(e.g().result(op)), e.ints(op, "shape")) {
            (Ok(_), _) => renamed(op, e),
            (Err(_), Ok(asked)) => opened(e, x, &asked),
            (Err(_), Err(_)) => runtime_shape::reshape(op, e, x),
        }
    }),
    (&movement::RESHAPE_LIKE, renamed),
    (&movement::EXPAND_DIMS, renamed),
    (&movement::SQUEEZE, renamed),
    (&tensor::FLATTEN2D, renamed),
    (&tensor::IDENTITY, |op, e| e.argument(op, "x")),
    (&tensor::FILL_LIKE, |op, e| {
        let like = e.argument(op, "ref_tensor")?;
        let shape = e.shape(like)?;
        let value = match e.call(op)?.value("value") {
            Some(_) => e.known(op, "value")?,
            None => Tensor::scalar(0f32),
        };
        Ok(e.splat(&value, &shape))
    }),
    (&movement::TRANSPOSE, |op, e| {
        let perm = e.ints(op, "perm")?;
        let x = e.argument(op, "x")?;
        let rank = e.rank(x) as i64;
        let perm: Vec<i64> = perm
            .into_iter()
            .map(|axis| axis.rem_euclid(rank.max(1)))
            .collect();
        e.transpose(x, &perm)
    }),
    (&tensor::CONCAT, |op, e| {
        let values = e.arguments(op, "values")?;
        if e.rank(values[0]) == 0 {
            return stacked(e, &values, 0);
        }
        let call = e.call(op)?;
        let axis = call.axis(call.int("axis").unwrap_or(0), e.rank(values[0]))?;
        if call.flag("interleave") {
            let stacked = stacked(e, &values, axis + 1)?;
            let shape = e.shape(e.g().result(op))?;
            e.reshape_to(stacked, &shape)
        } else {
            e.concat(&values, axis)
        }
    }),
    (&tensor::STACK, |op, e| {
        let values = e.arguments(op, "values")?;
        let call = e.call(op)?;
        let axis = call.axis(call.int("axis").unwrap_or(0), e.rank(values[0]) + 1)?;
        stacked(e, &values, axis)
    }),
    (&tensor::TILE, tile),
    (&tensor::PAD, pad),
    (&movement::DEPTH_TO_SPACE, blocks),
    (&movement::PIXEL_SHUFFLE, blocks),
    (&movement::SPACE_TO_DEPTH, blocks),
    (&movement::PIXEL_UNSHUFFLE, blocks),
];

/// Imports a split along an axis, with the extents of the results.
pub(crate) fn split(op: OpId, e: &mut Emit<'_>) -> Many {
    let x = e.argument(op, "x")?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(0), e.rank(x))?;
    let results: Vec<ValueId> = e.g().results(op).into_iter().collect();
    let mut start = 0;
    let piece = |result: ValueId| {
        let extent = e.shape(result)?[axis];
        start += extent;
        e.part(x, axis, start - extent, start)
    };
    results.into_iter().map(piece).collect()
}

/// Reshapes to the shape of the result, of which one extent may be unknown.
fn renamed(op: OpId, e: &mut Emit<'_>) -> One {
    let result = e.g().result(op);
    let dims = e.g().ty(result).shape;
    let open = dims.iter().filter(|dim| dim.fixed().is_none()).count();
    let shape: Vec<i64> = match open {
        1 => dims.iter().map(|dim| dim.fixed().unwrap_or(-1)).collect(),
        _ => e.shape(result)?,
    };
    let x = e.argument(op, "x")?;
    match open {
        1 => opened(e, x, &shape),
        _ => e.reshape_to(x, &shape),
    }
}

/// Reshapes `x`, whose extents may be unknown, to a shape in which -1 is inferred and 0 copies an extent.
fn opened(e: &mut Emit<'_>, x: ValueId, asked: &[i64]) -> One {
    let own = e.g().ty(x).shape.to_vec();
    let dims = asked.iter().enumerate().map(|(at, &extent)| match extent {
        0 if own.len() == asked.len() => own[at],
        extent => Dim::Fixed(extent),
    });
    let dims: Vec<Dim> = dims.collect();
    Ok(Reshape::with(&dims).build(&mut e.b, x)?)
}

/// Stacks tensors along a new dimension.
fn stacked(e: &mut Emit<'_>, values: &[ValueId], axis: usize) -> One {
    let thin = |value: &ValueId| {
        let mut shape = e.shape(*value)?;
        shape.insert(axis, 1);
        e.reshape_to(*value, &shape)
    };
    let values: Many = values.iter().map(thin).collect();
    e.concat(&values?, axis)
}

/// Imports a tile: a broadcast along a new dimension before each dimension, merged by a reshape.
fn tile(op: OpId, e: &mut Emit<'_>) -> One {
    let x = e.argument(op, "x")?;
    let (Ok(reps), Ok(shape)) = (e.ints(op, "reps"), e.shape(x)) else {
        return runtime_shape::tile(op, e, x);
    };
    let result = e.shape(e.g().result(op))?;
    let thin: Vec<i64> = shape.iter().flat_map(|&extent| [1, extent]).collect();
    let pairs = reps.iter().zip(&shape);
    let twice: Vec<Dim> = pairs
        .flat_map(|(&times, &extent)| [times, extent])
        .map(Dim::Fixed)
        .collect();
    let apart = e.reshape_to(x, &thin)?;
    let repeated = BroadcastTo::with(&twice).build(&mut e.b, apart)?;
    e.reshape_to(repeated, &result)
}

/// Imports padding with a constant, by reflection, or with the edge.
fn pad(op: OpId, e: &mut Emit<'_>) -> One {
    let call = e.call(op)?;
    let (mode, value) = (
        match call.word("mode") {
            "reflect" => PadMode::Reflect,
            "replicate" => PadMode::Edge,
            _ => PadMode::Constant,
        },
        call.float("constant_val").unwrap_or(0.0),
    );
    let x = e.argument(op, "x")?;
    let value =
        (mode == PadMode::Constant && value.to_bits() != 0).then(|| e.number(e.dtype(x), value));
    let Ok(pads) = e.ints(op, "pad") else {
        return runtime_part::pad(op, e, x, (mode, value));
    };
    let mut low = vec![0; e.rank(x) - pads.len() / 2];
    let mut high = low.clone();
    for pair in pads.chunks_exact(2) {
        low.push(pair[0]);
        high.push(pair[1]);
    }
    Ok(PadOp::with(&low, &high)
        .mode(mode)
        .build(&mut e.b, x, value)?)
}

/// Imports the ops that exchange channels with height and width as a permutation of six dimensions, for example depth
/// to space.
fn blocks(op: OpId, e: &mut Emit<'_>) -> One {
    let def = e.g().def(op);
    let row = BLOCKS
        .iter()
        .find(|row| std::ptr::eq(&raw const row.op.def, def));
    let row = row.ok_or_else(|| Refusal::no_counterpart("it has no blocks"))?;
    let factor = e.call(op)?.int(row.factor).unwrap_or(1).max(1);
    let x = e.argument(op, "x")?;
    let shape = e.shape(x)?.try_into();
    let shape = shape.map_err(|_| Refusal::rank("x", e.g().type_text(x), 4))?;
    let (split, _) = row.shapes(factor, shape);
    let result = e.shape(e.g().result(op))?;
    let x = e.reshape_to(x, &split)?;
    let x = e.transpose(x, &row.order)?;
    e.reshape_to(x, &result)
}
