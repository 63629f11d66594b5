//! Model-local functions for the functions that ONNX does not have an operator for.
//!
//! Their bodies are as accurate as ONNX operators permit. The importer recognises them by name, so that a model that is
//! read back computes the same bits. Constants are inputs after the operands, because they need the dtype of the call
//! and `CastLike` was added only in opset 15.

use mind_ir::scalar::ScalarFn;

use super::operator::{
    ABS, ADD, ATAN, DIV, EQUAL, ERF, EXP, GREATER_OR_EQUAL, LESS, LOG, MUL, NEG, Operator, POW,
    SIGN, SUB, TANH, WHERE,
};
use crate::operators::OWN;
use crate::proto::{FunctionProto, NodeProto, OperatorSetIdProto};

/// A model-local function.
#[derive(Debug)]
pub(crate) struct Function {
    pub name: &'static str,
    /// The core function that it computes.
    pub scalar: ScalarFn,
    inputs: &'static [&'static str],
    body: fn(&mut Body),
}

/// All functions by name.
pub(crate) static FUNCTIONS: [Function; 6] = [
    Function::new("Atan2", ScalarFn::Atan2, &["y", "x"], atan2),
    Function::new("Exp2", ScalarFn::Exp2, &["x"], exp2),
    Function::new("Expm1", ScalarFn::Expm1, &["x"], expm1),
    Function::new("Gelu", ScalarFn::Gelu, &["x"], gelu),
    Function::new("Log1p", ScalarFn::Log1p, &["x"], log1p),
    Function::new("Log2", ScalarFn::Log2, &["x"], log2),
];

/// The first version of the format with functions.
pub(super) const IR_VERSION: i64 = 8;

impl Function {
    const fn new(
        name: &'static str,
        scalar: ScalarFn,
        inputs: &'static [&'static str],
        body: fn(&mut Body),
    ) -> Function {
        Function {
            name,
            scalar,
            inputs,
            body,
        }
    }

    /// Returns the function that computes `scalar`.
    pub fn of(scalar: ScalarFn) -> Option<&'static Function> {
        FUNCTIONS.iter().find(|own| own.scalar == scalar)
    }

    fn written(&self) -> Body {
        let mut body = Body::default();
        (self.body)(&mut body);
        body
    }

    /// Returns the constants that a call passes after the operands, in order.
    pub(super) fn constants(&self) -> Vec<f64> {
        let constants = self.written().constants;
        constants.into_iter().map(|(_, number)| number).collect()
    }

    /// Returns the names of the operators in its body.
    pub(super) fn operators(&self) -> impl Iterator<Item = String> {
        self.written().nodes.into_iter().map(|node| node.op_type)
    }

    /// Returns the message of the function for a version of the operator set.
    pub(super) fn proto(&self, opset: i64) -> FunctionProto {
        let body = self.written();
        let constants = body.constants.iter().map(|(name, _)| *name);
        let inputs = self.inputs.iter().copied().chain(constants);
        FunctionProto {
            name: self.name.to_owned(),
            input: inputs.map(str::to_owned).collect(),
            output: vec!["result".to_owned()],
            node: body.nodes,
            opset_import: vec![OperatorSetIdProto {
                domain: String::new(),
                version: opset,
            }],
            domain: OWN.to_owned(),
            ..FunctionProto::default()
        }
    }
}

/// The nodes of a body, the last of which computes the result.
#[derive(Default)]
struct Body {
    constants: Vec<(&'static str, f64)>,
    nodes: Vec<NodeProto>,
}

impl Body {
    fn node(&mut self, output: &str, operator: &Operator, inputs: &[&str]) {
        self.nodes.push(NodeProto {
            op_type: operator.name.to_owned(),
            input: inputs.iter().map(|&own| own.to_owned()).collect(),
            output: vec![output.to_owned()],
            ..NodeProto::default()
        });
    }

    /// Adds a constant in the dtype of the operands.
    fn number(&mut self, name: &'static str, number: f64) {
        self.constants.push((name, number));
    }
}

/// Computes `2^x`.
fn exp2(b: &mut Body) {
    b.number("two", 2.0);
    b.node("result", POW, &["two", "x"]);
}

/// Computes `log x / log 2`.
fn log2(b: &mut Body) {
    b.number("base", std::f64::consts::LN_2);
    b.node("natural", LOG, &["x"]);
    b.node("result", DIV, &["natural", "base"]);
}

/// Computes `2 t / (1 - t)` with `t = tanh(x / 2)` if the magnitude of `x` is below 1/2, otherwise `exp x - 1`.
fn expm1(b: &mut Body) {
    b.number("one", 1.0);
    b.number("two", 2.0);
    b.node("half", DIV, &["x", "two"]);
    b.node("curve", TANH, &["half"]);
    b.node("twice", MUL, &["curve", "two"]);
    b.node("below", SUB, &["one", "curve"]);
    b.node("near", DIV, &["twice", "below"]);
    b.node("power", EXP, &["x"]);
    b.node("far", SUB, &["power", "one"]);
    b.number("bound", 0.5);
    b.node("size", ABS, &["x"]);
    b.node("is_near", LESS, &["size", "bound"]);
    b.node("result", WHERE, &["is_near", "near", "far"]);
}

/// Computes `log(u) x / (u - 1)` with `u = 1 + x`, in which the rounding error of `u` cancels. The result is `x` if `u`
/// is 1, and `log(u)` if `u - 1` is `x`, for example for infinity.
///
/// Source: W. Kahan; Hewlett-Packard HP-15C Advanced Functions Handbook, appendix.
fn log1p(b: &mut Body) {
    b.number("one", 1.0);
    b.node("next", ADD, &["x", "one"]);
    b.node("log", LOG, &["next"]);
    b.node("scaled", MUL, &["log", "x"]);
    b.node("step", SUB, &["next", "one"]);
    b.node("near", DIV, &["scaled", "step"]);
    b.node("is_far", EQUAL, &["next", "x"]);
    b.node("large", WHERE, &["is_far", "log", "near"]);
    b.node("is_small", EQUAL, &["next", "one"]);
    b.node("result", WHERE, &["is_small", "x", "large"]);
}

/// Computes `x (1 + erf(x / sqrt 2)) / 2`.
fn gelu(b: &mut Body) {
    b.number("one", 1.0);
    b.number("two", 2.0);
    b.number("root", std::f64::consts::SQRT_2);
    b.node("scaled", DIV, &["x", "root"]);
    b.node("curve", ERF, &["scaled"]);
    b.node("above", ADD, &["curve", "one"]);
    b.node("twice", MUL, &["x", "above"]);
    b.node("result", DIV, &["twice", "two"]);
}

/// Computes `atan(y / x)`, shifted by half a turn if `x` is negative, and a quarter turn with the sign of `y` if `x` is
/// 0.
fn atan2(b: &mut Body) {
    b.number("zero", 0.0);
    b.number("turn", std::f64::consts::PI);
    b.number("quarter", std::f64::consts::FRAC_PI_2);
    b.node("quotient", DIV, &["y", "x"]);
    b.node("angle", ATAN, &["quotient"]);
    b.node("back", NEG, &["turn"]);
    b.node("is_upper", GREATER_OR_EQUAL, &["y", "zero"]);
    b.node("opposite", WHERE, &["is_upper", "turn", "back"]);
    b.node("behind", ADD, &["angle", "opposite"]);
    b.node("is_behind", LESS, &["x", "zero"]);
    b.node("turned", WHERE, &["is_behind", "behind", "angle"]);
    b.node("side", SIGN, &["y"]);
    b.node("upright", MUL, &["side", "quarter"]);
    b.node("is_upright", EQUAL, &["x", "zero"]);
    b.node("result", WHERE, &["is_upright", "upright", "turned"]);
}
