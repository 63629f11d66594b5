//! Recognises the scalar functions in the regions of reductions, windows, scatters and sorts.
//!
//! A region is printed as the expressions that it returns, with operands of commutative ops in a canonical order. The
//! few expressions that core has ops for are recognised by that text.

use mind_convert::{Refusal, converted};
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::{Element, Tensor};
use mind_ir::types::DType;
use rustc_hash::FxHashMap;

use crate::import::node::Node;
use crate::import::value::Value;
use crate::text::{Attr, Block, Op, Use};

/// Maximum length of the text of a region.
const LENGTH_LIMIT: usize = 1 << 12;

/// Returns the text of the expressions that a region returns; its arguments are `a0`, `a1` and so on. Returns `None`
/// for a region with nested regions or large expressions.
pub(super) fn expressions(n: &Node<'_, '_, '_>, block: &Block<'_>) -> Option<Vec<String>> {
    let arguments = block.arguments.iter().enumerate();
    let mut known: FxHashMap<&str, String> = arguments
        .map(|(at, own)| (own.name, format!("a{at}")))
        .collect();
    for op in &block.ops {
        let operands = op.operands.iter().map(|own| operand(n, &known, own));
        let operands: Vec<String> = operands.collect::<Option<_>>()?;
        if op.is_return() {
            return Some(operands);
        }
        let (name, _) = op.results.first()?;
        known.insert(name, expression(n, op, operands)?);
    }
    None
}

/// Returns the refusal of an op because of its region.
pub(super) fn unknown_region(n: &Node<'_, '_, '_>, expected: &str) -> Refusal {
    let region = n.region(0).ok();
    let found = region.and_then(|region| expressions(n, region));
    let found = match found.as_deref() {
        Some([one]) => format!("`{one}`"),
        Some(many) => format!("{} values", many.len()),
        None => "something else".to_owned(),
    };
    Refusal::value("what its region returns".to_owned(), found, expected)
}

fn operand(n: &Node<'_, '_, '_>, known: &FxHashMap<&str, String>, own: &Use<'_>) -> Option<String> {
    if let Some(text) = known.get(own.name) {
        return Some(text.clone());
    }
    match n.scope.value(own)? {
        Value::Known(constant) => Some(constant.number()?.to_string()),
        Value::Op(_) | Value::Extents(_) | Value::Compared(_) => None,
    }
}

fn expression(n: &Node<'_, '_, '_>, op: &Op<'_>, mut operands: Vec<String>) -> Option<String> {
    if !op.regions.is_empty() || op.results.len() != 1 {
        return None;
    }
    let name = op.name.strip_prefix("stablehlo.")?;
    let (name, is_commutative) = match name {
        "constant" => {
            let value = op.attrs.iter().find(|(name, _)| *name == "value");
            let (_, Attr::Dense(dense)) = value? else {
                return None;
            };
            let constant = crate::constant::constant(dense, n.importer.module).ok()?;
            return Some(constant.number()?.to_string());
        }
        "compare" => {
            let word = op.words.first().copied().or_else(|| {
                let attr = op
                    .attrs
                    .iter()
                    .find(|(name, _)| *name == "comparison_direction");
                attr?.1.text()
            });
            let order = op.words.get(1).copied().or_else(|| {
                let attr = op.attrs.iter().find(|(name, _)| *name == "compare_type");
                attr?.1.text()
            });
            let is_total = order == Some("TOTALORDER");
            let (name, is_turned) = match word? {
                "EQ" => ("eq", false),
                "NE" => ("ne", false),
                "LT" => ("lt", false),
                "LE" => ("le", false),
                "GT" => ("lt", true),
                "GE" => ("le", true),
                _ => return None,
            };
            if is_turned {
                operands.reverse();
            }
            let name = match (name, is_total) {
                (name, false) => name,
                ("lt", true) => "lt_total",
                (_, true) => return None,
            };
            (name, matches!(name, "eq" | "ne"))
        }
        "add" | "multiply" | "maximum" | "minimum" | "and" | "or" | "xor" => (name, true),
        "subtract" | "divide" | "select" | "not" | "negate" | "abs" => (name, false),
        _ => return None,
    };
    if is_commutative {
        operands.sort_unstable();
    }
    let text = format!("{name}({})", operands.join(","));
    (text.len() <= LENGTH_LIMIT).then_some(text)
}

/// A function that combines two elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Combiner {
    Sum,
    Prod,
    Max,
    Min,
}

impl Combiner {
    /// Returns how the region of an operation combines its two arguments of dtype `of`.
    pub fn of(n: &Node<'_, '_, '_>, block: &Block<'_>, of: DType) -> Option<Combiner> {
        let expressions = expressions(n, block)?;
        let [own] = &expressions[..] else { return None };
        let is_truth = of == DType::Bool;
        match &own[..] {
            "add(a0,a1)" if !is_truth => Some(Combiner::Sum),
            "multiply(a0,a1)" if !is_truth => Some(Combiner::Prod),
            "maximum(a0,a1)" => Some(Combiner::Max),
            "minimum(a0,a1)" => Some(Combiner::Min),
            "or(a0,a1)" | "add(a0,a1)" if is_truth => Some(Combiner::Max),
            "and(a0,a1)" | "multiply(a0,a1)" if is_truth => Some(Combiner::Min),
            _ => None,
        }
    }

    /// Returns the scalar function for elements of dtype `of`.
    pub fn function(self, of: DType) -> ScalarFn {
        let is_truth = of == DType::Bool;
        match self {
            Combiner::Sum => ScalarFn::Add,
            Combiner::Prod => ScalarFn::Mul,
            Combiner::Max if is_truth => ScalarFn::Or,
            Combiner::Max => ScalarFn::Maximum,
            Combiner::Min if is_truth => ScalarFn::And,
            Combiner::Min => ScalarFn::Minimum,
        }
    }

    /// Returns whether `value` is the identity of the combiner.
    pub fn is_identity(self, value: &Value) -> bool {
        let Value::Known(constant) = value else {
            return false;
        };
        let Some(number) = constant.number() else {
            return false;
        };
        let (least, largest) = extremes(constant.dtype());
        let is = |wanted: &Tensor| {
            let bytes = constant.elements.buffer().as_bytes();
            bytes.get(..constant.dtype().size()) == Some(wanted.buffer().as_bytes())
        };
        match self {
            Combiner::Sum => number == 0.0,
            Combiner::Prod => number == 1.0,
            Combiner::Max => is(&least),
            Combiner::Min => is(&largest),
        }
    }
}

/// Returns the least and the largest number of a dtype.
fn extremes(of: DType) -> (Tensor, Tensor) {
    fn both<T: Element>(least: T, largest: T) -> (Tensor, Tensor) {
        (Tensor::scalar(least), Tensor::scalar(largest))
    }
    let infinite = both(f64::NEG_INFINITY, f64::INFINITY);
    match of {
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            (converted(&infinite.0, of), converted(&infinite.1, of))
        }
        DType::Bool => both(false, true),
        DType::I8 => both(i8::MIN, i8::MAX),
        DType::I16 => both(i16::MIN, i16::MAX),
        DType::I32 => both(i32::MIN, i32::MAX),
        DType::I64 => both(i64::MIN, i64::MAX),
        DType::U8 => both(u8::MIN, u8::MAX),
        DType::U16 => both(u16::MIN, u16::MAX),
        DType::U32 => both(u32::MIN, u32::MAX),
        DType::U64 => both(u64::MIN, u64::MAX),
    }
}
