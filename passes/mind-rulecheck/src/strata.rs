//! Strata: boundary cases that every rule is tried in before random modules, for example extents of 0.

use mind_core::ops::quantize::{Dequantize, Quantize};
use mind_ir::opdef::Op;
use mind_rules::LhsAttr;

use crate::plan::{Plan, is_any};

/// A boundary case: one choice is at an extreme, the others are random.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stratum {
    /// Most values have this extent along this axis. In products, the axis is that of the rows (0), the contracted
    /// dimension (1) or the columns (2).
    Extent {
        /// The axis; for shapes with fewer axes the last one.
        axis: usize,
        /// The extent.
        extent: i64,
    },
    /// An attribute is at an end of its range.
    Attr {
        /// The index of the op in the plan.
        op: usize,
        /// The index of its attribute.
        attr: usize,
        /// The end.
        end: End,
    },
    /// Scales and zero points have this form.
    Scale(ScaleForm),
}

/// An end of the range of an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The smallest value: axes from the end, nothing reduced, empty slices, negative margins, `false`.
    Low,
    /// The largest value: the last axis, everything reduced, large windows, steps and margins, `true`.
    High,
    /// Extents of 0.
    Empty,
}

/// The granularity of a scale: per tensor, per axis or per block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScaleForm {
    /// One for the whole tensor.
    Tensor,
    /// One per position along an axis.
    Axis,
    /// One per block.
    Block,
}

/// Returns the strata of `plan`.
pub(crate) fn strata(plan: &Plan<'_>) -> Vec<Stratum> {
    let mut strata = Vec::new();
    for extent in [0, 1] {
        strata.extend((0..3).map(|axis| Stratum::Extent { axis, extent }));
    }
    for (op, own) in plan.ops.iter().enumerate() {
        let named = |&(_, attr): &(usize, &LhsAttr<'_>)| matches!(attr, LhsAttr::Named(_));
        for (attr, _) in own.left.attrs.iter().enumerate().filter(named) {
            let ends = [End::Empty, End::Low, End::High];
            strata.extend(ends.map(|end| Stratum::Attr { op, attr, end }));
        }
    }
    let scaled = |def| is_any(def, &[Quantize::DEF, Dequantize::DEF]);
    if plan.ops.iter().any(|op| scaled(op.left.def)) {
        let forms = [ScaleForm::Tensor, ScaleForm::Axis, ScaleForm::Block];
        strata.extend(forms.map(Stratum::Scale));
    }
    strata
}
