//! The functions that ONNX has no operator for, as functions that the model brings.
//!
//! Their bodies compute them as well as operators of ONNX can. Our reader knows them by name, so that a model that is read
//! back computes the same bits.

use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;

use super::operator::{
    ABS, ADD, ATAN, ATANH, CAST_LIKE, CONSTANT, DIV, EQUAL, ERF, EXP, GREATER_OR_EQUAL, LESS, LOG,
    MUL, NEG, Operator, POW, SIGN, SUB, TANH, WHERE,
};
use crate::operators::OWN;
use crate::proto::{AttributeProto, AttributeType, FunctionProto, NodeProto, OperatorSetIdProto};

/// A function that a model brings.
#[derive(Debug)]
pub(crate) struct Function {
    pub name: &'static str,
    /// The function of core that it is.
    pub scalar: ScalarFn,
    inputs: &'static [&'static str],
    body: fn(&mut Body),
}

/// Every function, by name.
pub(crate) static FUNCTIONS: [Function; 6] = [
    Function::new("Atan2", ScalarFn::Atan2, &["y", "x"], atan2),
    Function::new("Exp2", ScalarFn::Exp2, &["x"], exp2),
    Function::new("Expm1", ScalarFn::Expm1, &["x"], expm1),
    Function::new("Gelu", ScalarFn::Gelu, &["x"], gelu),
    Function::new("Log1p", ScalarFn::Log1p, &["x"], log1p),
    Function::new("Log2", ScalarFn::Log2, &["x"], log2),
];

/// The first version of the operator set that has what the bodies are made of.
pub(super) const SINCE: i64 = CAST_LIKE.since();

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

    /// The function that is `scalar`.
    pub fn of(scalar: ScalarFn) -> Option<&'static Function> {
        FUNCTIONS.iter().find(|own| own.scalar == scalar)
    }

    /// What the model brings, in a version of the operator set.
    pub(super) fn proto(&self, opset: i64) -> FunctionProto {
        let mut body = Body::default();
        (self.body)(&mut body);
        FunctionProto {
            name: self.name.to_owned(),
            input: self.inputs.iter().map(|&own| own.to_owned()).collect(),
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

/// The nodes of a body, of which the last one makes the result.
#[derive(Default)]
struct Body {
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

    /// A number in the dtype of `x`.
    fn number(&mut self, output: &str, number: f64) {
        let wide = format!("{output}_f64");
        self.node(&wide, CONSTANT, &[]);
        let value = super::model::tensor_proto(&Tensor::scalar(number));
        let constant = self.nodes.last_mut().expect("a node");
        constant.attribute.push(AttributeProto {
            name: "value".to_owned(),
            r#type: AttributeType::Tensor as i32,
            t: Some(value),
            ..AttributeProto::default()
        });
        self.node(output, CAST_LIKE, &[&wide, "x"]);
    }
}

/// `2^x`.
fn exp2(b: &mut Body) {
    b.number("two", 2.0);
    b.node("result", POW, &["two", "x"]);
}

/// `log x / log 2`.
fn log2(b: &mut Body) {
    b.number("base", std::f64::consts::LN_2);
    b.node("natural", LOG, &["x"]);
    b.node("result", DIV, &["natural", "base"]);
}

/// `2 t / (1 - t)` near 0, where `t = tanh(x / 2)`; else `exp x - 1`.
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
    near_zero(b);
}

/// `2 atanh(x / (x + 2))` near 0, else `log(x + 1)`.
fn log1p(b: &mut Body) {
    b.number("one", 1.0);
    b.number("two", 2.0);
    b.node("above", ADD, &["x", "two"]);
    b.node("part", DIV, &["x", "above"]);
    b.node("curve", ATANH, &["part"]);
    b.node("near", MUL, &["curve", "two"]);
    b.node("next", ADD, &["x", "one"]);
    b.node("far", LOG, &["next"]);
    near_zero(b);
}

/// `near` where the magnitude of `x` is below 1/2, else `far`.
fn near_zero(b: &mut Body) {
    b.number("bound", 0.5);
    b.node("size", ABS, &["x"]);
    b.node("is_near", LESS, &["size", "bound"]);
    b.node("result", WHERE, &["is_near", "near", "far"]);
}

/// `x (1 + erf(x / sqrt 2)) / 2`.
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

/// `atan(y / x)`, with half a turn more where `x` is negative, and by the sign of `y` where `x` is 0.
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
