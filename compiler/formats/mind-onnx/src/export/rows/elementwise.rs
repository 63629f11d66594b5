//! Exports elementwise functions.

use mind_convert::Refusal;
use mind_ir::OpId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, DTypeClass};

use super::super::draft::Val;
use super::super::emit::{Emit, One};
use super::super::functions::Function;
use super::super::operator::{self as op, Operator};

/// The export of a function; `dtype` is that of its last operand.
enum Shape {
    /// An operator with a result of that dtype.
    Apply(&'static Operator),
    /// An operator with a boolean result.
    Test(&'static Operator),
    /// The operator on booleans, and the one on integers.
    Bits(&'static Operator, &'static Operator),
    /// A model-local function.
    Call,
    /// Several nodes.
    Nodes(fn(&mut Emit<'_>, DType, &[Val]) -> One),
    /// Not exported, for this reason.
    Refused(&'static str),
}

fn shape(function: ScalarFn) -> Shape {
    use Shape::{Apply, Bits, Call, Nodes, Test};
    match function {
        ScalarFn::Add => Apply(op::ADD),
        ScalarFn::Sub => Apply(op::SUB),
        ScalarFn::Mul => Apply(op::MUL),
        ScalarFn::Div => Apply(op::DIV),
        ScalarFn::Maximum => Apply(op::MAX),
        ScalarFn::Minimum => Apply(op::MIN),
        ScalarFn::Neg => Apply(op::NEG),
        ScalarFn::Abs => Apply(op::ABS),
        ScalarFn::Relu => Nodes(relu),
        ScalarFn::Exp => Apply(op::EXP),
        ScalarFn::Log => Apply(op::LOG),
        ScalarFn::Sqrt => Apply(op::SQRT),
        ScalarFn::Erf => Apply(op::ERF),
        ScalarFn::Tanh => Apply(op::TANH),
        ScalarFn::Sigmoid => Apply(op::SIGMOID),
        ScalarFn::Gelu => Nodes(gelu),
        ScalarFn::Equal => Test(op::EQUAL),
        ScalarFn::NotEqual => Nodes(|e, dtype, inputs| {
            let equal = e.test(op::EQUAL, dtype, inputs, Vec::new())?;
            e.node(op::NOT, &[equal], Vec::new())
        }),
        ScalarFn::Less => Test(op::LESS),
        ScalarFn::LessEqual => Test(op::LESS_OR_EQUAL),
        ScalarFn::Greater => Test(op::GREATER),
        ScalarFn::GreaterEqual => Test(op::GREATER_OR_EQUAL),
        ScalarFn::Select => {
            Nodes(|e, dtype, inputs| e.choose(dtype, inputs[0], inputs[1], inputs[2]))
        }
        ScalarFn::And => Bits(op::AND, op::BITWISE_AND),
        ScalarFn::Or => Bits(op::OR, op::BITWISE_OR),
        ScalarFn::Xor => Bits(op::XOR, op::BITWISE_XOR),
        ScalarFn::Not => Bits(op::NOT, op::BITWISE_NOT),
        ScalarFn::ShiftLeft => Nodes(shift_left),
        ScalarFn::ShiftRight => Nodes(shift_right),
        ScalarFn::Exp2 | ScalarFn::Expm1 | ScalarFn::Log2 | ScalarFn::Log1p | ScalarFn::Atan2 => {
            Call
        }
        ScalarFn::Sinh => Apply(op::SINH),
        ScalarFn::Cosh => Apply(op::COSH),
        ScalarFn::Sin => Apply(op::SIN),
        ScalarFn::Cos => Apply(op::COS),
        ScalarFn::Tan => Apply(op::TAN),
        ScalarFn::Asin => Apply(op::ASIN),
        ScalarFn::Acos => Apply(op::ACOS),
        ScalarFn::Atan => Apply(op::ATAN),
        ScalarFn::Asinh => Apply(op::ASINH),
        ScalarFn::Acosh => Apply(op::ACOSH),
        ScalarFn::Atanh => Apply(op::ATANH),
        ScalarFn::Sign => Apply(op::SIGN),
        ScalarFn::Floor => Apply(op::FLOOR),
        ScalarFn::Ceil => Apply(op::CEIL),
        ScalarFn::Trunc => Nodes(trunc),
        ScalarFn::Round => Apply(op::ROUND),
        ScalarFn::Rsqrt => Nodes(rsqrt),
        ScalarFn::Mod => Nodes(modulo),
        ScalarFn::Remainder => Nodes(remainder),
        ScalarFn::Pow => Apply(op::POW),
        ScalarFn::Fma => Shape::Refused("ONNX has no sum of a product that is rounded once"),
    }
}

/// Exports an elementwise op.
pub(in super::super) fn write(e: &mut Emit<'_>, op: OpId, function: ScalarFn) -> One {
    let operands = e.g.operands(op);
    let dtype = operands.last().map(|&last| e.dtype(last));
    let dtype = dtype.ok_or_else(|| Refusal::form("the number of its operands", 0, "1 or more"))?;
    let inputs = e.operands(op);
    match shape(function) {
        Shape::Apply(operator) => e.apply(operator, dtype, &inputs, Vec::new()),
        Shape::Test(operator) => e.test(operator, dtype, &inputs, Vec::new()),
        Shape::Bits(logical, _) if dtype == DType::Bool => {
            e.apply(logical, dtype, &inputs, Vec::new())
        }
        Shape::Bits(_, bitwise) => e.apply(bitwise, dtype, &inputs, Vec::new()),
        Shape::Call => call(e, function, dtype, &inputs),
        Shape::Nodes(write) => write(e, dtype, &inputs),
        Shape::Refused(why) => Err(Refusal::no_counterpart(why)),
    }
}

fn call(e: &mut Emit<'_>, function: ScalarFn, dtype: DType, inputs: &[Val]) -> One {
    let function = Function::of(function).expect("a function that is called is in the table");
    e.call(function, dtype, inputs)
}

impl Emit<'_> {
    /// Returns `on_true` where `condition` is true, and `on_false` elsewhere.
    pub fn choose(&mut self, dtype: DType, condition: Val, on_true: Val, on_false: Val) -> One {
        if dtype == DType::U64 && !op::WHERE.runs(dtype, self.opset) {
            return self.chosen_by_products(dtype, condition, on_true, on_false);
        }
        let carrier = self.carrier(op::WHERE, dtype)?;
        let values = self.cast_all(&[on_true, on_false], dtype, carrier)?;
        let own = self.node(op::WHERE, &[condition, values[0], values[1]], Vec::new())?;
        self.cast(own, carrier, dtype)
    }

    /// Selects by multiplying both integers with 1 or 0 and adding them, for a dtype without a kernel of `Where`.
    fn chosen_by_products(
        &mut self,
        dtype: DType,
        condition: Val,
        on_true: Val,
        on_false: Val,
    ) -> One {
        let otherwise = self.node(op::NOT, &[condition], Vec::new())?;
        let mut parts = Vec::with_capacity(2);
        for (holds, own) in [(condition, on_true), (otherwise, on_false)] {
            let times = self.cast(holds, DType::Bool, dtype)?;
            parts.push(self.node(op::MUL, &[own, times], Vec::new())?);
        }
        self.node(op::ADD, &parts, Vec::new())
    }
}

fn gelu(e: &mut Emit<'_>, dtype: DType, inputs: &[Val]) -> One {
    if op::GELU.is_in(e.opset) {
        return e.apply(op::GELU, dtype, inputs, Vec::new());
    }
    call(e, ScalarFn::Gelu, dtype, inputs)
}

fn relu(e: &mut Emit<'_>, dtype: DType, inputs: &[Val]) -> One {
    if dtype.class() == DTypeClass::Unsigned {
        return Ok(inputs[0]);
    }
    // `Max` of NaN and 0 is NaN, so floats without a kernel are widened instead.
    if dtype.is_float() || op::RELU.runs(dtype, e.opset) {
        return e.apply(op::RELU, dtype, inputs, Vec::new());
    }
    let zero = e.number(dtype, 0.0);
    e.apply(op::MAX, dtype, &[inputs[0], zero], Vec::new())
}

/// Truncates: the ceiling of negative numbers, and the floor of others.
fn trunc(e: &mut Emit<'_>, dtype: DType, inputs: &[Val]) -> One {
    let zero = e.number(dtype, 0.0);
    let is_below = e.test(op::LESS, dtype, &[inputs[0], zero], Vec::new())?;
    let ceil = e.apply(op::CEIL, dtype, inputs, Vec::new())?;
    let floor = e.apply(op::FLOOR, dtype, inputs, Vec::new())?;
    e.choose(dtype, is_below, ceil, floor)
}

/// Computes `1 / sqrt(x)` with a rounding after each step, and another one if `dtype` is computed in a wider dtype.
fn rsqrt(e: &mut Emit<'_>, dtype: DType, inputs: &[Val]) -> One {
    let carrier = dtype.carrier();
    let wide = e.cast(inputs[0], dtype, carrier)?;
    let root = e.node(op::SQRT, &[wide], Vec::new())?;
    let own = e.node(op::RECIPROCAL, &[root], Vec::new())?;
    e.cast(own, carrier, dtype)
}

fn remainder(e: &mut Emit<'_>, dtype: DType, inputs: &[Val]) -> One {
    e.apply(op::MOD, dtype, inputs, vec![("fmod", true.into())])
}

/// Computes the floored modulo. For floats ONNX only has the truncated remainder, to which the divisor is added where
/// the signs differ.
fn modulo(e: &mut Emit<'_>, dtype: DType, inputs: &[Val]) -> One {
    if !dtype.is_float() {
        return e.apply(op::MOD, dtype, inputs, Vec::new());
    }
    let [_, divisor] = *inputs else {
        return Err(Refusal::form("the number of its operands", inputs.len(), 2));
    };
    let rest = remainder(e, dtype, inputs)?;
    let zero = e.number(dtype, 0.0);
    let below_zero = e.number(dtype, -0.0);
    let is_negative = e.test(op::LESS, dtype, &[divisor, zero], Vec::new())?;
    let is_rest_negative = e.test(op::LESS, dtype, &[rest, zero], Vec::new())?;
    let differs = e.node(op::XOR, &[is_negative, is_rest_negative], Vec::new())?;
    let more = e.apply(op::ADD, dtype, &[rest, divisor], Vec::new())?;
    let own = e.choose(dtype, differs, more, rest)?;
    let none = e.choose(dtype, is_negative, below_zero, zero)?;
    let is_zero = e.test(op::EQUAL, dtype, &[rest, zero], Vec::new())?;
    e.choose(dtype, is_zero, none, own)
}

/// Returns the unsigned dtype of the same width as a signed one; other dtypes are returned unchanged.
fn unsigned(dtype: DType) -> DType {
    match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        DType::U8
        | DType::U16
        | DType::U32
        | DType::U64
        | DType::Bool
        | DType::F16
        | DType::BF16
        | DType::F32
        | DType::F64 => dtype,
    }
}

/// Shifts bits; shift amounts out of range give 0.
fn shifted(e: &mut Emit<'_>, dtype: DType, direction: &str, bits: Val, by: Val) -> One {
    let last = e.number(dtype, (8 * dtype.size() - 1) as f64);
    let near = e.apply(op::MIN, dtype, &[by, last], Vec::new())?;
    let own = e.node(
        op::BIT_SHIFT,
        &[bits, near],
        vec![("direction", direction.into())],
    )?;
    let is_far = e.test(op::GREATER, dtype, &[by, last], Vec::new())?;
    let zero = e.number(dtype, 0.0);
    e.choose(dtype, is_far, zero, own)
}

fn shift_left(e: &mut Emit<'_>, dtype: DType, inputs: &[Val]) -> One {
    let plain = unsigned(dtype);
    let inputs = e.cast_all(inputs, dtype, plain)?;
    let own = shifted(e, plain, "LEFT", inputs[0], inputs[1])?;
    e.cast(own, plain, dtype)
}

/// Shifts right arithmetically. A negative number is shifted as its complement, because the high bits of that are
/// zeros.
fn shift_right(e: &mut Emit<'_>, dtype: DType, inputs: &[Val]) -> One {
    let plain = unsigned(dtype);
    let by = e.cast(inputs[1], dtype, plain)?;
    if plain == dtype {
        return shifted(e, plain, "RIGHT", inputs[0], by);
    }
    let (zero, ones) = (e.number(dtype, 0.0), e.number(dtype, -1.0));
    let is_negative = e.test(op::LESS, dtype, &[inputs[0], zero], Vec::new())?;
    let complement = e.apply(op::SUB, dtype, &[ones, inputs[0]], Vec::new())?;
    let positive = e.choose(dtype, is_negative, complement, inputs[0])?;
    let bits = e.cast(positive, dtype, plain)?;
    let moved = shifted(e, plain, "RIGHT", bits, by)?;
    let moved = e.cast(moved, plain, dtype)?;
    let back = e.apply(op::SUB, dtype, &[ones, moved], Vec::new())?;
    e.choose(dtype, is_negative, back, moved)
}
