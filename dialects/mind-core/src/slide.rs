//! Sliding windows as attributes of the dialects below core, in which every extent is a number.

use mind_ir::ValueId;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::scalar::Reduction;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, NarrowFloat};
use mind_ir::verify::{InferResult, VerifyError};

use crate::eval::sliding::{Divisor, SlideAxis, Sliding, multiply_windows, reduce_windows};

mind_ir::words! {
    /// The reduction of the elements under a window.
    pub enum SlideKind {
        /// Maximum.
        Max = "max",
        /// Minimum.
        Min = "min",
        /// Sum.
        Sum = "sum",
        /// Product.
        Prod = "prod",
        /// The sum divided by the element of the second operand.
        Mean = "mean",
        /// The sum of products with the taps of a filter; taps outside are elements 0.
        Multiply = "multiply",
        /// The sum of products with the taps of a filter; taps outside are skipped.
        MultiplyInside = "multiply_inside",
    }
}

impl SlideKind {
    /// Returns the reduction; `None` for kinds with a filter.
    pub fn reduction(self) -> Option<Reduction> {
        match self {
            SlideKind::Max => Some(Reduction::Max),
            SlideKind::Min => Some(Reduction::Min),
            SlideKind::Sum => Some(Reduction::Sum),
            SlideKind::Prod => Some(Reduction::Prod),
            SlideKind::Mean => Some(Reduction::Mean),
            SlideKind::Multiply | SlideKind::MultiplyInside => None,
        }
    }

    /// Returns the kind of a reduction.
    pub fn of(reduction: Reduction) -> SlideKind {
        match reduction {
            Reduction::Max => SlideKind::Max,
            Reduction::Min => SlideKind::Min,
            Reduction::Sum => SlideKind::Sum,
            Reduction::Prod => SlideKind::Prod,
            Reduction::Mean => SlideKind::Mean,
        }
    }

    /// Returns whether there is a second operand.
    pub fn is_binary(self) -> bool {
        self.reduction().is_none_or(|kind| kind == Reduction::Mean)
    }
}

/// Returns the dtype of the divisors in a mean of `dtype`.
pub fn divisor_dtype(dtype: DType) -> DType {
    match dtype.narrow_float() {
        Some(NarrowFloat::F16 | NarrowFloat::BF16) => DType::F32,
        None => dtype,
    }
}

/// The largest value of the attributes, so that computed coordinates do not overflow 64 bits.
pub const LARGEST: i64 = 1 << 30;

/// The windows of an op and their reduction.
#[derive(Clone, Debug)]
pub struct Slide {
    /// The reduction.
    pub kind: SlideKind,
    /// The window along each dimension of the input.
    pub axes: Vec<SlideAxis>,
}

impl Slide {
    /// Returns the windows over the first of `inputs` from the attributes `positions`, `window`, `strides`,
    /// `dilations`, `low` and `base` of an op.
    ///
    /// # Errors
    ///
    /// E2007 no input, E3003 an extent that is not known, E4006 lists of another length, E4010 an entry out of range.
    pub fn read(
        g: &Graph,
        op: &'static str,
        kind: SlideKind,
        inputs: &[ValueId],
        lists: [&[i64]; 6],
    ) -> Result<Slide, VerifyError> {
        let Some(&input) = inputs.first() else {
            return Err(VerifyError::Arity {
                op,
                expected: "1 or 2 operands".to_owned(),
                found: 0,
            });
        };
        let ty = g.ty(input);
        let ranges = [
            ("positions", 0..=LARGEST),
            ("extents", 0..=LARGEST),
            ("strides", 0..=LARGEST),
            ("dilations", -LARGEST..=LARGEST),
            ("low", -LARGEST..=LARGEST),
            (
                "base",
                1..=if kind == SlideKind::MultiplyInside {
                    LARGEST
                } else {
                    1
                },
            ),
        ];
        for (list, (what, range)) in lists.iter().zip(&ranges) {
            if list.len() != ty.rank() {
                let (rank, found) = (ty.rank(), list.len());
                return Err(VerifyError::IndexCount { op, rank, found });
            }
            if list.iter().any(|entry| !range.contains(entry)) {
                return Err(VerifyError::Window {
                    what,
                    expected: "integers of at most 2^30, in the range of their kind",
                    found: format!("{list:?}"),
                });
            }
        }
        if lists[3].contains(&0) {
            return Err(VerifyError::Window {
                what: "dilations",
                expected: "integers other than 0",
                found: format!("{:?}", lists[3]),
            });
        }
        let axes = ty.shape.iter().enumerate().map(|(at, dim)| {
            let extent = dim.fixed().filter(|&extent| extent <= LARGEST);
            let extent = extent.ok_or_else(|| VerifyError::Extent {
                op,
                dimension: format!("the extent at dimension {at}"),
                expected: "a number of at most 2^30".to_owned(),
                found: dim.display(g.symbols()).to_string(),
                help: "fix symbols with the pass `specialize`",
            })?;
            let [positions, window, stride, dilation, low, base] = lists.map(|list| list[at]);
            Ok(SlideAxis {
                extent: extent as usize,
                positions: positions as usize,
                window: window as usize,
                stride,
                dilation,
                low,
                base,
            })
        });
        let axes = axes.collect::<Result<Vec<SlideAxis>, VerifyError>>()?;
        Ok(Slide { kind, axes })
    }

    /// Returns the attributes that [`read`](Slide::read) expects, in the same order.
    pub fn lists(&self) -> [Vec<i64>; 6] {
        let list = |entry: fn(&SlideAxis) -> i64| self.axes.iter().map(entry).collect();
        [
            list(|axis| axis.positions as i64),
            list(|axis| axis.window as i64),
            list(|axis| axis.stride),
            list(|axis| axis.dilation),
            list(|axis| axis.low),
            list(|axis| axis.base),
        ]
    }

    /// Returns whether the second operand is indexed by taps along `axis` (as a filter with several taps is) and not by
    /// positions.
    pub fn counts_taps(&self, axis: usize) -> bool {
        self.kind.reduction().is_none() && self.axes[axis].window != 1
    }

    /// Infers the type of the result.
    ///
    /// # Errors
    ///
    /// E2004 a second operand of another dtype, E2007 another number of operands, E3002, E3003 a second operand of
    /// another shape.
    pub fn infer(&self, g: &Graph, op: &'static str, inputs: &[ValueId]) -> InferResult {
        let input = g.ty(inputs[0]);
        let count = 1 + usize::from(self.kind.is_binary());
        if inputs.len() != count {
            return Err(Box::new(VerifyError::Arity {
                op,
                expected: format!("{count} operands for `{}`", self.kind.name()),
                found: inputs.len(),
            }));
        }
        if let Some(&other) = inputs.get(1) {
            self.check_other(g, op, input.dtype, other)?;
        }
        let shape = self.axes.iter();
        let shape = shape.map(|axis| Dim::Fixed(axis.positions as i64));
        Ok(input.with_shape(shape).into())
    }

    fn check_other(
        &self,
        g: &Graph,
        op: &'static str,
        dtype: DType,
        other: ValueId,
    ) -> Result<(), VerifyError> {
        let own = g.ty(other);
        let expected = match self.kind {
            SlideKind::Mean => divisor_dtype(dtype),
            _ => dtype,
        };
        if own.dtype != expected {
            return Err(VerifyError::DTypeClash {
                op,
                lhs: expected,
                rhs: own.dtype,
            });
        }
        if own.rank() != self.axes.len() {
            return Err(VerifyError::Rank {
                op,
                operand: "the second operand",
                expected: self.axes.len().to_string(),
                found: own.rank(),
            });
        }
        for (at, (&dim, axis)) in own.shape.iter().zip(&self.axes).enumerate() {
            let (whole, is_fixed) = if self.counts_taps(at) {
                (axis.window, true)
            } else {
                (axis.positions, false)
            };
            if dim != Dim::Fixed(whole as i64) && (is_fixed || dim != Dim::Fixed(1)) {
                return Err(VerifyError::Extent {
                    op,
                    dimension: format!("the extent of the second operand at dimension {at}"),
                    expected: whole.to_string(),
                    found: dim.display(g.symbols()).to_string(),
                    help: "give it an element for each tap, or for each position of a window of one tap",
                });
            }
        }
        Ok(())
    }

    /// Evaluates the op on contiguous operands.
    ///
    /// # Errors
    ///
    /// E6004 too large; E6005 integer overflow where `cx` rejects it, and the mean of no elements for integers.
    pub fn eval(&self, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
        let other = operands.get(1).map(|other| -> Vec<(usize, bool)> {
            let extents = other.shape().iter().enumerate();
            extents
                .map(|(at, &extent)| (extent, self.counts_taps(at)))
                .collect()
        });
        let mut windows = Sliding::dense(&self.axes, other.as_deref());
        windows.padded = self.kind == SlideKind::Multiply;
        match (self.kind.reduction(), operands) {
            (Some(kind), &[input]) => reduce_windows(cx, kind, &windows, Divisor::Inside, input),
            (Some(kind), &[input, divisor, ..]) => {
                reduce_windows(cx, kind, &windows, Divisor::Given(divisor), input)
            }
            (None, &[input, filter, ..]) => multiply_windows(cx, &windows, input, filter),
            (_, []) | (None, [_]) => unreachable!("verified operands"),
        }
    }
}
