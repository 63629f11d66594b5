//! Failing cases as standalone modules.

use mind_diag::Span;
use mind_eqsat::RuleInstances;
use mind_interp::Scalar;
use mind_ir::builder::Builder;
use mind_ir::graph::{Graph, InsertPoint};
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};
use mind_ir::verify::{VerifyConfig, infer_op, verify};
use mind_ir::{OpId, ValueId};
use mind_rules::{AttrValue, RuleInstance};

use crate::evaluate::{Ran, Sides, finish, prune};
use crate::instance::replay;
use crate::plan::Plan;
use crate::tally::{Failure, Tally};
use crate::trial::{Promise, Trial};

/// A module whose two outputs, the left and the right side of a rule, should be equal but are not.
pub struct Counterexample {
    /// The module. It has no inputs; the left and the right side are its outputs.
    pub module: Graph,
    /// The main dtype of the case.
    pub dtype: DType,
    /// The index of the first element that differs.
    pub index: Vec<usize>,
    /// The result of the left side at `index`.
    pub left: Observed,
    /// The result of the right side at `index`.
    pub right: Observed,
}

/// The result of one side.
#[derive(Clone, PartialEq, Debug)]
pub enum Observed {
    /// An element.
    Element(Scalar),
    /// The evaluation failed with this message.
    Error(String),
}

impl std::fmt::Display for Observed {
    /// Prints the element and its bits, for example `-0.0 (0x80000000)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Observed::Element(scalar) => write!(f, "{scalar} ({:#x})", scalar.bits()),
            Observed::Error(reason) => write!(f, "an error: {reason}"),
        }
    }
}

impl std::fmt::Debug for Counterexample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} at {:?}: {} and {}",
            self.dtype, self.index, self.left, self.right
        )
    }
}

/// Returns the module for a failing case; `None` if the case does not fail when it is built again.
pub(crate) fn counterexample<'r>(
    forms: &RuleInstances<'r>,
    form: RuleInstance<'r>,
    plan: &Plan<'r>,
    failure: &Failure,
) -> Option<Counterexample> {
    let trial = Trial::new(forms, form, replay(plan, &failure.draw)?);
    let broken = |right: &ValueId| {
        let mut seen = Tally::default();
        let sides = trial.sides(*right);
        let values = failure.values.clone();
        trial.case(&sides, values, failure.mode, &Promise::of(form), &mut seen);
        seen.failure.is_some()
    };
    let value = trial.acting().map(|(_, right)| right).find(broken)?;
    let (left, right, index) = match trial.sides(value).run(&failure.values) {
        Ran::Done(outputs) => {
            let [left, right] = &outputs[..] else {
                return None;
            };
            let found = |tensor: &Tensor| Observed::Element(Scalar::at(tensor, failure.at));
            (
                found(left),
                found(right),
                position(failure.at, left.shape()),
            )
        }
        Ran::RightFails(error) => {
            let left = Sides::left(&trial.instance);
            let Ran::Done(outputs) = left.run(&failure.values) else {
                return None;
            };
            let left = outputs.first().filter(|left| left.count() > 0)?;
            let element = Observed::Element(Scalar::at(left, 0));
            (element, Observed::Error(error), position(0, left.shape()))
        }
        Ran::LeftFails => return None,
    };
    let mut module = trial.instance.graph.clone();
    finish(&mut module, &[trial.instance.left, value]);
    inline(&mut module, &trial, &failure.values);
    prune(&mut module);
    substitute_symbol(&mut module, failure.draw.symbol)?;
    let found = verify(&mut module, &VerifyConfig::default());
    (!found.has_errors()).then_some(Counterexample {
        module,
        dtype: failure.draw.dtype,
        index,
        left,
        right,
    })
}

/// Replaces the inputs by constants.
fn inline(module: &mut Graph, trial: &Trial, values: &[Tensor]) {
    for (&(op, _), tensor) in trial.instance.inputs.iter().zip(values) {
        let at = InsertPoint::Before(op);
        let constant = mind_core::constant(&mut Builder::new(module, at, Span::FILE), tensor);
        let input = module.result(op);
        let label = module.label(input);
        module.replace_all_uses(input, constant);
        module.erase(op);
        module.set_label(constant, label);
    }
}

/// Replaces the symbol by its extent and infers the types of all ops anew. Returns `None` if an op has no type then.
fn substitute_symbol(module: &mut Graph, symbol: Option<i64>) -> Option<()> {
    let Some(extent) = symbol else {
        return Some(());
    };
    let ops: Vec<OpId> = module.ops(module.body()).collect();
    for op in ops {
        for at in 0..module.attrs(op).len() {
            if let Some(AttrValue::Dims(dims)) = AttrValue::of(module.attr(op, at)) {
                let fixed = |dim: &Dim| match dim {
                    Dim::Symbol(_) => Dim::Fixed(extent),
                    dim => *dim,
                };
                let dims = AttrValue::Dims(dims.iter().map(fixed).collect());
                module.set_attr(op, at, dims.as_attr());
            }
        }
        let types = infer_op(module, op).ok()?;
        module.set_types(op, &types);
    }
    Some(())
}

/// Returns the index of the `flat`-th element in row-major order.
fn position(mut flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, &extent) in index.iter_mut().zip(shape).rev() {
        (*at, flat) = (flat % extent.max(1), flat / extent.max(1));
    }
    index
}
