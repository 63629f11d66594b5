//! Padding around a tensor and between its elements.

use mind_diag::Code;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::Folded;
use mind_ir::ops;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{Dim, Shape};
use mind_ir::verify::{InferResult, VerifyError};

use crate::eval::indexed;
use crate::eval::strided::strides_of;

mind_ir::words! {
    /// The values of added elements.
    pub enum PadMode {
        /// A constant.
        Constant = "constant",
        /// The nearest element.
        Edge = "edge",
        /// The tensor reflected about its first and last elements, repeatedly.
        Reflect = "reflect",
        /// The tensor repeated periodically.
        Wrap = "wrap",
    }
}

ops! {
    /// Pads `input` before, after and between its elements along each axis.
    ///
    /// Along axis `i`, `low[i]` elements are added before those of `input`, `high[i]` after them, and `interior[i]`
    /// between adjacent ones; an empty `interior` means none. A negative `low` or `high` crops instead, counted after
    /// `interior` was inserted. `mode` selects the added values: `constant`, `value`, or 0 if it is not given; `edge`,
    /// the nearest element; `reflect`, the tensor reflected about its first and last elements, repeatedly; `wrap`, the
    /// tensor repeated periodically. For example `[1, 2, 3]` padded by 2 at the end is `[1, 2, 3, 2, 1]` with `reflect`
    /// and `[1, 2, 3, 1, 2]` with `wrap`. Only `constant` crops and takes `interior` and `value`.
    ///
    /// Shapes: `low + n + max(n - 1, 0) * interior + high` for each extent `n`.
    /// Errors: E2004 `value` of another dtype, E3002 `value` not of rank 0, E3003 no element to repeat, E3006 a result
    /// extent negative or too large, E4006 a list without one entry per axis, E4010 an amount or operand that `mode`
    /// does not accept.
    /// Source: this compiler; ONNX `Pad`, MIL `pad`, StableHLO `pad`.
    PadOp = "core.pad" {
        operands: (input: Any),
        optional: (value: Any),
        attrs: {
            low "lo": Ints, high "hi": Ints, interior "in": Ints = &[], mode "m": PadMode = PadMode::Constant,
        },
        traits: [Pure, SameDType, Extended],
        names: { core: "Pad", mic1: "pad" },
        infer: infer_pad,
        eval: eval_pad,
        fold: fold_pad,
    }
}

/// The padding along one axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Margins {
    /// Elements added before the first; cropped if negative.
    pub low: i64,
    /// Elements added after the last; cropped if negative.
    pub high: i64,
    /// Elements added between adjacent ones.
    pub interior: i64,
}

impl Margins {
    /// Returns the padding of each axis of a verified op.
    pub fn of(op: PadOp, g: &Graph) -> Vec<Margins> {
        let (low, high, interior) = (op.low(g), op.high(g), op.interior(g));
        let margins = |axis: usize| Margins {
            low: low[axis],
            high: high[axis],
            interior: interior.get(axis).copied().unwrap_or(0),
        };
        (0..low.len()).map(margins).collect()
    }

    /// Returns whether nothing is added or cropped.
    pub fn is_zero(self) -> bool {
        [self.low, self.high, self.interior] == [0; 3]
    }

    /// Returns `extent` plus the interior padding.
    fn dilated(self, extent: i128) -> i128 {
        extent + (extent - 1).max(0) * i128::from(self.interior)
    }

    /// Returns the extent of the result; negative if more is cropped than there is.
    fn extent(self, extent: i64) -> i128 {
        self.dilated(extent.into()) + i128::from(self.low) + i128::from(self.high)
    }

    /// Returns the element of an axis of `extent` that the result has at `index`; `None` for the constant.
    pub fn source(self, mode: PadMode, index: usize, extent: usize) -> Option<usize> {
        let (at, extent) = (index as i128 - i128::from(self.low), extent as i128);
        let place = match mode {
            PadMode::Constant => {
                let step = i128::from(self.interior) + 1;
                let is_own = (0..self.dilated(extent)).contains(&at) && at % step == 0;
                return is_own.then_some((at / step) as usize);
            }
            PadMode::Edge => at.clamp(0, extent - 1),
            PadMode::Reflect => {
                let period = (2 * (extent - 1)).max(1);
                let place = at.rem_euclid(period);
                place.min(period - place) % extent
            }
            PadMode::Wrap => at.rem_euclid(extent),
        };
        Some(place as usize)
    }
}

fn infer_pad(op: PadOp, g: &Graph) -> InferResult {
    let input = g.ty(op.input(g));
    if let Some(value) = op.value(g)
        && g.ty(value).rank() != 0
    {
        return Err(Box::new(VerifyError::Rank {
            op: "pad",
            operand: "value",
            expected: "0".to_owned(),
            found: g.ty(value).rank(),
        }));
    }
    check_lists(op, g, input.rank())?;
    check_mode(op, g)?;
    let mut shape: Shape = input.shape.iter().copied().collect();
    for (dimension, margins) in Margins::of(op, g).into_iter().enumerate() {
        shape[dimension] = padded_extent(op, g, shape[dimension], dimension, margins)?;
    }
    Ok(input.with_shape(shape).into())
}

/// Returns the error for an attribute or operand that conflicts with another.
fn refused(code: u16, problem: String, help: &str) -> Box<VerifyError> {
    let help = Some(help.to_owned());
    let code = Code(code);
    Box::new(VerifyError::Dialect {
        code,
        problem,
        help,
    })
}

fn check_lists(op: PadOp, g: &Graph, rank: usize) -> Result<(), Box<VerifyError>> {
    let lists = [
        ("low", op.low(g)),
        ("high", op.high(g)),
        ("interior", op.interior(g)),
    ];
    for (name, list) in lists {
        if list.len() == rank || (name == "interior" && list.is_empty()) {
            continue;
        }
        let found = list.len();
        let problem =
            format!("`{name}` of `pad` has one entry for each axis: rank {rank}, found {found}");
        return Err(refused(4006, problem, "write one number for each axis"));
    }
    Ok(())
}

fn check_mode(op: PadOp, g: &Graph) -> Result<(), Box<VerifyError>> {
    let mode = op.mode(g);
    if let Some(entry) = op.interior(g).iter().find(|&&entry| entry < 0) {
        let problem = format!("`interior` of `pad` is {entry}, which is negative");
        return Err(refused(
            4010,
            problem,
            "write the number of elements between adjacent ones, 0 or more",
        ));
    }
    if mode == PadMode::Constant {
        return Ok(());
    }
    let word = mode.name();
    let help = "only mode `constant` removes elements and takes `interior` and `value`";
    if op.value(g).is_some() {
        let problem = format!("`pad` of mode {word} takes no `value`");
        return Err(refused(4010, problem, help));
    }
    let lists = [("low", op.low(g)), ("high", op.high(g))];
    for (name, list) in lists {
        if let Some(entry) = list.iter().find(|&&entry| entry < 0) {
            let problem = format!("`{name}` of `pad` is {entry} in mode {word}");
            return Err(refused(4010, problem, help));
        }
    }
    if let Some(entry) = op.interior(g).iter().find(|&&entry| entry != 0) {
        let problem = format!("`interior` of `pad` is {entry} in mode {word}");
        return Err(refused(4010, problem, help));
    }
    Ok(())
}

fn padded_extent(
    op: PadOp,
    g: &Graph,
    dim: Dim,
    dimension: usize,
    margins: Margins,
) -> Result<Dim, Box<VerifyError>> {
    if margins.is_zero() {
        return Ok(dim);
    }
    let Dim::Fixed(extent) = dim else {
        return Ok(Dim::Dynamic);
    };
    if extent == 0 && op.mode(g) != PadMode::Constant {
        return Err(Box::new(VerifyError::Extent {
            op: "pad",
            dimension: format!("dimension {dimension}"),
            expected: "1 or more".to_owned(),
            found: "0".to_owned(),
            help: "the mode repeats elements, and this axis is empty",
        }));
    }
    let padded = margins.extent(extent);
    match i64::try_from(padded) {
        Ok(padded @ 0..) => Ok(Dim::Fixed(padded)),
        Ok(value) => {
            let problem = format!("the extent at dimension {dimension} of `pad` is {value}");
            let help = format!("remove at most the {extent} elements and those between them");
            Err(refused(3006, problem, &help))
        }
        Err(_) => Err(Box::new(VerifyError::ExtentOverflow {
            op: "pad",
            dimension,
        })),
    }
}

fn fold_pad(op: PadOp, g: &Graph) -> Option<Folded> {
    let mut margins = Margins::of(op, g).into_iter();
    margins
        .all(Margins::is_zero)
        .then_some(Folded::Value(op.input(g)))
}

/// Evaluates a pad.
fn eval_pad(op: PadOp, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (input, mode) = (operands[0], op.mode(cx.graph));
    let margins = Margins::of(op, cx.graph);
    let mut shape = Vec::with_capacity(margins.len());
    for (axis, (margins, &extent)) in margins.iter().zip(input.shape()).enumerate() {
        shape.push(padded_length(*margins, mode, axis, extent)?);
    }
    let zero = Tensor::new(Vec::new(), Buffer::zeros(input.dtype(), 1));
    let value = operands.get(1).copied().unwrap_or(&zero);
    let strides = strides_of(input);
    indexed::picked_or(cx, input, value, shape, &mut |index| {
        let mut offset = 0;
        for (axis, margins) in margins.iter().enumerate() {
            let Some(place) = margins.source(mode, index[axis], input.shape()[axis]) else {
                return Ok(None);
            };
            offset += place * strides[axis];
        }
        Ok(Some(offset))
    })
}

/// Returns the extent of the result along `axis`, which has `extent` elements.
fn padded_length(
    margins: Margins,
    mode: PadMode,
    axis: usize,
    extent: usize,
) -> Result<usize, EvalError> {
    let padded = margins.extent(extent as i64);
    if extent == 0 && mode != PadMode::Constant && !margins.is_zero() {
        let text = format!("dimension {axis} of `pad` has no element to repeat");
        return Err(EvalError::Shape(text));
    }
    let known = i64::try_from(padded)
        .ok()
        .and_then(|padded| usize::try_from(padded).ok());
    known.ok_or_else(|| {
        let text = format!("`pad` makes extent {extent} of dimension {axis} to {padded}");
        EvalError::Shape(text)
    })
}
