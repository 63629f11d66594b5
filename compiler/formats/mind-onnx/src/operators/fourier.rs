//! Imports discrete Fourier transforms as products with a constant matrix of cosines and sines.

use std::f64::consts::TAU;

use mind_convert::{EmitCore, Refusal, converted};
use mind_core::ops::convolution::{Conv, Layout};
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::pad::PadOp;
use mind_core::ops::shape::ExpandDims;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};

use super::Operator;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("DFT", &[17, 20], transform),
    Operator::one("STFT", &[17], short_time),
];

/// Maximum number of elements of a matrix.
const MOST_COEFFICIENTS: i64 = 1 << 25;

/// A transform of length `length`.
#[derive(Clone, Copy)]
struct Transform {
    length: i64,
    inverse: bool,
    onesided: bool,
}

impl Transform {
    /// Returns the number of bins of a one-sided spectrum.
    fn half(self) -> i64 {
        self.length / 2 + 1
    }

    /// Returns the number of input elements.
    fn inputs(self) -> i64 {
        if self.inverse && self.onesided {
            self.half()
        } else {
            self.length
        }
    }

    /// Returns the number of output elements, and of their parts: 1 if they are real, 2 if they are complex.
    fn outputs(self) -> (i64, i64) {
        match (self.onesided, self.inverse) {
            (true, true) => (self.length, 1),
            (true, false) => (self.half(), 2),
            (false, _) => (self.length, 2),
        }
    }

    /// Returns the coefficients `[inputs, parts, outputs, 2 or 1]`; `parts` is 1 for real inputs and 2 for complex
    /// ones.
    fn matrix(self, parts: i64) -> Result<Tensor, Refusal> {
        let (inputs, (outputs, made)) = (self.inputs(), self.outputs());
        let count = [parts, outputs, made]
            .iter()
            .try_fold(inputs, |count, own| count.checked_mul(*own));
        if !matches!(parts, 1 | 2) {
            return Err(Refusal::extent(
                "the last dimension of the signal",
                parts,
                "1 (real) or 2 (complex)",
            ));
        }
        if self.length <= 0 || count.is_none_or(|count| count > MOST_COEFFICIENTS) {
            let length = self.length;
            let expected =
                format!("a positive length with at most {MOST_COEFFICIENTS} coefficients");
            return Err(Refusal::value(
                "the length of the transform".to_owned(),
                length,
                expected,
            ));
        }
        let sign = if self.inverse { 1.0 } else { -1.0 };
        let mut coefficients = Vec::with_capacity(count.unwrap_or(0) as usize);
        for input in 0..inputs {
            let weight = self.weight(input);
            for part in 0..parts {
                for output in 0..outputs {
                    let turn = (input * output % self.length) as f64 / self.length as f64;
                    let (sin, cos) = (TAU * turn).sin_cos();
                    let sin = sign * sin;
                    // `(x + iy)(cos + i sin)` is `(x cos - y sin) + i (x sin + y cos)`.
                    let own = if part == 0 { [cos, sin] } else { [-sin, cos] };
                    coefficients.extend(own[..made as usize].iter().map(|own| own * weight));
                }
            }
        }
        let shape = [inputs, parts, outputs, made].map(|extent| extent as usize);
        Ok(Tensor::of(shape.to_vec(), coefficients))
    }

    /// Returns the weight of an input. Bins of a one-sided spectrum count twice if their conjugates are omitted.
    fn weight(self, input: i64) -> f64 {
        if !self.inverse {
            return 1.0;
        }
        let is_own_conjugate = input == 0 || 2 * input == self.length;
        let copies = if self.onesided && !is_own_conjugate {
            2.0
        } else {
            1.0
        };
        copies / self.length as f64
    }
}

fn transform(n: &mut Node<'_, '_, '_>) -> One {
    let (inverse, onesided) = (n.flag("inverse")?, n.flag("onesided")?);
    let x = n.input(0)?;
    let rank = n.e.rank(x);
    let axis = if n.opset < 20 {
        n.int("axis")?.unwrap_or(1)
    } else {
        n.one_int(2)?.unwrap_or(-2)
    };
    let axis = n.e.axis(axis, rank)?;
    if axis + 1 == rank {
        return Err(Refusal::value(
            "axis",
            axis,
            "an axis before the last, which has real and imaginary parts",
        ));
    }
    let extent = n.e.extent(x, axis)?;
    let parts = n.e.extent(x, rank - 1)?;
    let default = if inverse && onesided {
        (extent - 1).saturating_mul(2)
    } else {
        extent
    };
    let length = n.one_int(1)?.unwrap_or(default);
    let transform = Transform {
        length,
        inverse,
        onesided,
    };
    let matrix = transform.matrix(parts)?;
    let e = &mut n.e;
    let mut high = vec![0; rank];
    high[axis] = transform.inputs() - extent;
    let x = if high[axis] == 0 {
        x
    } else {
        PadOp::with(&vec![0; rank], &high).build(e, x, None)?
    };
    // Summed in `f64`, because large terms cancel.
    let of = e.dtype(x);
    let (x, matrix) = (e.convert(x, DType::F64)?, e.tensor(&matrix));
    let (axis, last) = (axis as i64, rank as i64 - 1);
    let product = DotGeneral::with()
        .lhs_contract(&[axis, last])
        .rhs_contract(&[0, 1])
        .build(e, x, matrix)?;
    let product = e.convert(product, of)?;
    // The bins come last and move to the position of the transformed axis.
    let mut order: Vec<i64> = (0..last - 1).collect();
    order.insert(axis as usize, last - 1);
    order.push(last);
    e.transpose(product, &order)
}

/// Imports a short-time Fourier transform as a convolution with windowed waves.
fn short_time(n: &mut Node<'_, '_, '_>) -> One {
    let onesided = n.int("onesided")? != Some(0);
    let step = n
        .one_int(1)?
        .ok_or_else(|| Refusal::missing(n.operand(1)))?;
    if step <= 0 {
        return Err(Refusal::value(n.operand(1), step, "a positive step"));
    }
    let (mut signal, window) = (n.input(0)?, n.optional(2)?);
    if n.e.rank(signal) == 2 {
        // For real signals, the dimension of parts may be omitted.
        signal = ExpandDims::with(&[2]).build(&mut n.e, signal)?;
    }
    let length = match (n.one_int(3)?, window) {
        (Some(length), _) => length,
        (None, Some(window)) => n.e.extent(window, 0)?,
        (None, None) => n.e.extent(signal, 1)?,
    };
    if n.e.rank(signal) != 3 {
        return Err(Refusal::rank(
            n.operand(0),
            n.e.g().type_text(signal),
            "2 or 3",
        ));
    }
    let parts = n.e.extent(signal, 2)?;
    let transform = Transform {
        length,
        inverse: false,
        onesided,
    };
    let matrix = transform.matrix(parts)?;
    let (bins, made) = transform.outputs();
    let e = &mut n.e;
    let of = e.dtype(signal);
    let waves = e.tensor(&converted(&matrix, of));
    let waves = e.reshape_to(waves, &[length, parts, bins * made])?;
    let waves = e.transpose(waves, &[2, 1, 0])?;
    let filter = weighted(e, waves, window)?;
    let signal = e.transpose(signal, &[0, 2, 1])?;
    let frames = Conv::with()
        .layout(Layout::Nchw)
        .strides(&[step])
        .build(e, signal, filter)?;
    let frames = e.transpose(frames, &[0, 2, 1])?;
    let shape = e.dims(frames);
    let shape = [shape[0], shape[1], Dim::Fixed(bins), Dim::Fixed(made)];
    e.reshape(frames, &shape)
}

/// Multiplies the waves by the window.
fn weighted(e: &mut Emit<'_>, waves: ValueId, window: Option<ValueId>) -> One {
    let Some(window) = window else {
        return Ok(waves);
    };
    let of: DType = e.dtype(waves);
    let window = e.convert(window, of)?;
    e.apply(ScalarFn::Mul, &[waves, window])
}
