//! Comparison of the results of both sides under the promise of a class.

use mind_interp::Scalar;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_rules::FastMath;

use crate::format::{FloatFormat, to_f64};
use crate::values::Mode;

/// The error that each step of a regrouped sum or product may add, in units of one rounding.
const SLACK: f64 = 4.0;

/// Both results of a case and the values that they were computed from.
pub(crate) struct Evidence<'a> {
    pub(crate) left: &'a Tensor,
    pub(crate) right: &'a Tensor,
    pub(crate) mode: Mode,
    /// The values of all ops of both sides.
    pub(crate) everything: &'a [Tensor],
    /// The number of roundings that one element of the result may depend on.
    pub(crate) steps: usize,
}

/// The judgement of a case under a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Judgement {
    /// The promise of the class was kept.
    Kept,
    /// The class promises nothing on these values, for example because one is NaN.
    Excused {
        /// Whether the results differ by more than the class allows elsewhere.
        differ: bool,
    },
    /// The promise was broken at this element.
    Broken(usize),
}

/// Judges a case under the promise of `class`; `tolerance` is the relative error that `approx` allows.
pub(crate) fn judge(class: FastMath, tolerance: f64, case: &Evidence<'_>) -> Judgement {
    let (left, right) = (case.left, case.right);
    if left.same_bits(right) {
        return Judgement::Kept;
    }
    if left.dtype() != right.dtype() || left.shape() != right.shape() {
        return Judgement::Broken(0);
    }
    if !left.dtype().is_float() {
        // Every class requires equal integers.
        return first_difference(left, right).map_or(Judgement::Kept, Judgement::Broken);
    }
    let regroups = class.allows(FastMath::REASSOC);
    let approximates = class.allows(FastMath::APPROX);
    let finite = |tensor: &Tensor| to_f64(tensor.buffer()).iter().all(|x| x.is_finite());
    let inexact = regroups || approximates;
    let far = inexact && !matches!(case.mode, Mode::Moderate | Mode::Positive);
    let assumes = class.allows(FastMath::NNAN) || inexact;
    let excused = far || assumes && !case.everything.iter().all(finite);
    let slack = Slack::new(left.dtype(), class, tolerance, case);
    let (lefts, rights) = (to_f64(left.buffer()), to_f64(right.buffer()));
    let broken = (0..left.count()).find(|&at| {
        let same = Scalar::at(left, at).same_bits(Scalar::at(right, at));
        let zeros = lefts[at] == 0.0 && rights[at] == 0.0;
        let signless = class.allows(FastMath::NSZ) && zeros;
        !(same || signless || inexact && slack.covers(lefts[at], rights[at]))
    });
    match (broken, excused) {
        (broken, true) => Judgement::Excused {
            differ: broken.is_some(),
        },
        (Some(at), false) => Judgement::Broken(at),
        (None, false) => Judgement::Kept,
    }
}

/// Returns a description of the values on which `class` promises nothing, for a message.
pub(crate) fn excuse(class: FastMath) -> &'static str {
    if class.allows(FastMath::REASSOC) || class.allows(FastMath::APPROX) {
        "where a value is infinite or NaN, or far from 1"
    } else {
        "where a value is infinite or NaN"
    }
}

fn first_difference(left: &Tensor, right: &Tensor) -> Option<usize> {
    (0..left.count()).find(|&at| !Scalar::at(left, at).same_bits(Scalar::at(right, at)))
}

/// The error that a class allows.
struct Slack {
    absolute: f64,
    relative: f64,
}

impl Slack {
    fn new(dtype: DType, class: FastMath, tolerance: f64, case: &Evidence<'_>) -> Slack {
        let mut slack = Slack {
            absolute: 0.0,
            relative: 0.0,
        };
        let Some(format) = FloatFormat::of(dtype) else {
            return slack;
        };
        if class.allows(FastMath::APPROX) {
            slack.relative = tolerance;
            slack.absolute = format.least_normal();
        }
        if class.allows(FastMath::REASSOC) {
            let magnitudes = case
                .everything
                .iter()
                .flat_map(|tensor| to_f64(tensor.buffer()));
            let finite = magnitudes.filter(|x| x.is_finite());
            let largest = finite.fold(0.0f64, |largest, x| largest.max(x.abs()));
            let steps = (case.steps + 2) as f64;
            slack.absolute += SLACK * format.rounding() * steps * largest;
        }
        slack
    }

    fn covers(&self, left: f64, right: f64) -> bool {
        (left - right).abs() <= self.absolute + self.relative * left.abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(class: FastMath, left: f32, right: f32, mode: Mode) -> Judgement {
        let (left, right) = (Tensor::scalar(left), Tensor::scalar(right));
        let everything = [left.clone(), right.clone()];
        let case = Evidence {
            left: &left,
            right: &right,
            mode,
            everything: &everything,
            steps: 1,
        };
        judge(class, 1e-3, &case)
    }

    #[test]
    fn exact_tells_zeros_apart_and_takes_any_nan_for_any_other() {
        let exact = |a, b| judged(FastMath::EXACT, a, b, Mode::Special);
        assert_eq!(exact(0.0, -0.0), Judgement::Broken(0));
        assert_eq!(exact(f32::NAN, -f32::NAN), Judgement::Kept);
        assert_eq!(exact(1.0, 1.0 + f32::EPSILON), Judgement::Broken(0));
    }

    #[test]
    fn each_class_forgives_its_own() {
        let tiny = 1.0 + f32::EPSILON;
        let kept = |class, a, b| judged(class, a, b, Mode::Moderate) == Judgement::Kept;
        assert!(kept(FastMath::NSZ, 0.0, -0.0) && !kept(FastMath::NSZ, 1.0, tiny));
        assert!(kept(FastMath::REASSOC, 1.0, tiny) && !kept(FastMath::REASSOC, 1.0, 1.1));
        assert!(kept(FastMath::APPROX, 1.0, 1.0005) && !kept(FastMath::APPROX, 1.0, 1.01));
        let nnan = judged(FastMath::NNAN, f32::INFINITY, 1.0, Mode::Special);
        assert_eq!(nnan, Judgement::Excused { differ: true });
        let far = judged(FastMath::REASSOC, 1.0, f32::INFINITY, Mode::Special);
        assert_eq!(far, Judgement::Excused { differ: true });
        let near = judged(FastMath::REASSOC, 1.0, tiny, Mode::Special);
        assert_eq!(near, Judgement::Excused { differ: false });
        assert_eq!(
            judged(FastMath::NNAN, 0.0, -0.0, Mode::Special),
            Judgement::Broken(0)
        );
    }
}
