//! Grouped convolutions, forward and transposed.

use mind_convert::Refusal;
use mind_core::ops::convolution::{Conv, ConvTranspose, Convolve, Direction, Layout, SumType};
use mind_ir::opdef::{Op, OpDef};
use mind_ir::{Graph, OpId, ValueId};
use mind_mil::ops::conv::{CONV, CONV_TRANSPOSE};
use mind_mil::structure::Input;
use rustc_hash::FxHashSet;

use crate::emit::Argument::{Int, Ints, Value, Word};
use crate::emit::{Emit, Lower, Lowered};

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Conv::DEF, |op, e| {
        let view = Conv::from_id(op);
        let convolve = view.convolve(e.g())?;
        let operands = [view.input(e.g()), view.filter(e.g())];
        lower(e, op, &convolve, operands)
    }),
    (ConvTranspose::DEF, |op, e| {
        let view = ConvTranspose::from_id(op);
        let convolve = view.convolve(e.g())?;
        let operands = [view.input(e.g()), view.filter(e.g())];
        lower(e, op, &convolve, operands)
    }),
];

/// Returns whether a value of MIL is independent of inputs and block arguments.
fn is_constant(g: &Graph, value: ValueId) -> bool {
    let mut seen = FxHashSet::default();
    let mut worklist = vec![value];
    while let Some(value) = worklist.pop() {
        match g.defining_op(value) {
            None => return false,
            Some(op) if g.is::<Input>(op) => return false,
            Some(op) if seen.insert(op) => worklist.extend(g.operands(op)),
            Some(_) => {}
        }
    }
    true
}

/// Returns a convolution in MIL's layouts: `[N, C, s..]` with `[F, C / groups, k..]`, or `[C, F / groups, k..]` if
/// transposed.
fn lower(e: &mut Emit<'_, '_>, op: OpId, c: &Convolve, [x, weight]: [ValueId; 2]) -> Lowered {
    let (result, dtype) = (e.g().result(op), e.dtype(x));
    // The operands may have been narrowed for the target while the result was not.
    let keeps_dtype = c.dtype == SumType::Same || e.dtype(result) == dtype;
    if !dtype.is_float() || e.dtype(weight) != dtype || !keeps_dtype {
        return Err(Refusal::no_counterpart(format!(
            "`{}` of {dtype} by {} as {} has no counterpart",
            c.op,
            e.dtype(weight),
            e.dtype(result)
        )));
    }
    let is_dilated = c.dilations.iter().any(|&dilation| dilation > 1);
    if c.direction == Direction::Forward && is_dilated && !is_constant(e.g(), weight) {
        return Err(Refusal::unsupported(
            format!(
                "`conv` with `dilations = {:?}` takes constant weights, and these depend on an input",
                c.dilations
            ),
            "make the weights a constant, or use dilations of 1",
        ));
    }
    let mut shape = e.shape(result)?;
    let rank = shape.len() as i64;
    let is_last = c.layout == Layout::Nhwc;
    let (mut x, mut weight) = (x, weight);
    if is_last {
        let order: Vec<i64> = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
        x = e.transpose(x, &order)?;
        let order: Vec<i64> = [rank - 1, rank - 2]
            .into_iter()
            .chain(0..rank - 2)
            .collect();
        weight = e.transpose(weight, &order)?;
        let filters = shape.pop().unwrap_or_default();
        shape.insert(1, filters);
    }
    let pads = c.low.iter().zip(&c.high);
    let pads: Vec<i64> = pads.flat_map(|(&low, &high)| [low, high]).collect();
    let word = if pads.iter().all(|&pad| pad == 0) {
        "valid"
    } else {
        "custom"
    };
    let mut args = vec![
        ("x", Value(x)),
        ("weight", Value(weight)),
        ("strides", Ints(&c.strides)),
        ("pad_type", Word(word)),
        ("pad", Ints(&pads)),
        ("dilations", Ints(&c.dilations)),
        ("groups", Int(c.groups)),
    ];
    let row = match c.direction {
        Direction::Forward => &CONV,
        Direction::Backward => {
            if c.more.iter().any(|&more| more != 0) {
                args.push(("output_shape", Ints(&shape)));
            }
            &CONV_TRANSPOSE
        }
    };
    let y = e.op(row, &args)?;
    if !is_last {
        return Ok(y);
    }
    let order: Vec<i64> = [0].into_iter().chain(2..rank).chain([1]).collect();
    e.transpose(y, &order)
}
