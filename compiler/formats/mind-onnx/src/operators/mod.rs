//! The table of operators, with their versions and imports.

mod activation;
mod attention;
mod blocks;
mod contract;
mod control;
mod convolution;
mod dequantised;
mod determinant;
mod einsum;
mod elementwise;
mod flex_attention;
mod fourier;
mod fused;
mod fused_attention;
mod grid;
mod grouped_attention;
mod index;
mod integers;
mod linear_attention;
mod loss;
mod missing;
mod normalize;
mod optional;
mod own;
mod place;
mod pool;
mod product;
mod quantize;
mod quantized;
mod recurrent;
mod reduce;
mod repeated;
mod resize;
mod runtime_shape;
mod shape;
mod slice;
mod window;

use std::sync::LazyLock;

use mind_convert::{Many, Refusal};
use mind_diag::Code;
use mind_ir::scalar::ScalarFn;
use rustc_hash::FxHashMap;

pub(crate) use missing::missing;
pub(crate) use resize::reads_as;

use crate::import::emit::One;
use crate::import::node::Node;
use crate::import::ranks::RankRule;
use crate::import::value::Value;

/// The last version of ONNX's own operator set that the rows were checked against.
const LAST_OPSET: i64 = 28;

/// The domain of ONNX's own operators.
const ONNX: &str = "";

/// The domain of the operators of ONNX Runtime's exporters and optimisers.
const MICROSOFT: &str = "com.microsoft";

/// The domain of ONNX's preview operators.
const PREVIEW: &str = "ai.onnx.preview";

/// The domain of the model-local functions that the exporter writes.
pub(crate) const OWN: &str = "mind";

/// The table entry of an operator.
pub(crate) struct Operator {
    domain: &'static str,
    name: &'static str,
    /// The versions of its set that changed it, starting with the first supported one.
    since: &'static [i64],
    import: Import,
    /// The number of leading inputs whose elements the result consists of; 0 for an operator that computes.
    pub moves: usize,
    /// Whether nodes with known inputs are not folded, because their users match the operator.
    pub stays: bool,
}

/// The import of an operator.
enum Import {
    /// A scalar function.
    Scalar(ScalarFn),
    /// One result.
    One(fn(&mut Node<'_, '_, '_>) -> One),
    /// Several results.
    Many(fn(&mut Node<'_, '_, '_>) -> Many),
    /// Results that may be known.
    Values(fn(&mut Node<'_, '_, '_>) -> Result<Vec<Value>, Refusal>),
}

impl Operator {
    const fn new(name: &'static str, since: &'static [i64], import: Import) -> Operator {
        Operator {
            domain: ONNX,
            name,
            since,
            import,
            moves: 0,
            stays: false,
        }
    }

    const fn scalar(name: &'static str, since: &'static [i64], function: ScalarFn) -> Operator {
        Operator::new(name, since, Import::Scalar(function))
    }

    const fn one(
        name: &'static str,
        since: &'static [i64],
        import: fn(&mut Node<'_, '_, '_>) -> One,
    ) -> Operator {
        Operator::new(name, since, Import::One(import))
    }

    const fn many(
        name: &'static str,
        since: &'static [i64],
        import: fn(&mut Node<'_, '_, '_>) -> Many,
    ) -> Operator {
        Operator::new(name, since, Import::Many(import))
    }

    const fn values(
        name: &'static str,
        since: &'static [i64],
        import: fn(&mut Node<'_, '_, '_>) -> Result<Vec<Value>, Refusal>,
    ) -> Operator {
        Operator::new(name, since, Import::Values(import))
    }

    /// Marks that the result consists of elements of the first input.
    const fn moving(self) -> Operator {
        Operator { moves: 1, ..self }
    }

    /// Marks that the result consists of elements of all inputs.
    const fn moving_all(self) -> Operator {
        Operator {
            moves: usize::MAX,
            ..self
        }
    }

    /// Marks that the operator is not folded at import.
    const fn staying(self) -> Operator {
        Operator {
            stays: true,
            ..self
        }
    }

    /// Returns the operator in another domain.
    const fn of(self, domain: &'static str) -> Operator {
        Operator { domain, ..self }
    }

    /// Returns whether it is a function of the exporter, whose body in a model is for other readers.
    pub fn is_own(&self) -> bool {
        self.domain == OWN
    }

    /// Returns the rule for the rank of its first result.
    pub fn rank_rule(&self) -> RankRule {
        match self.import {
            Import::Scalar(function) if function.arity() == 1 => RankRule::First,
            Import::Scalar(_) => RankRule::Broadcast,
            Import::One(_) | Import::Many(_) | Import::Values(_) if self.domain != ONNX => {
                RankRule::Other
            }
            Import::One(_) | Import::Many(_) | Import::Values(_) => match self.name {
                name if KEEP_RANK.contains(&name) => RankRule::First,
                name if BROADCAST.contains(&name) => RankRule::Broadcast,
                _ => RankRule::Other,
            },
        }
    }

    /// Returns whether it is imported as this scalar function.
    #[cfg(test)]
    fn is_scalar(&self, function: ScalarFn) -> bool {
        matches!(self.import, Import::Scalar(own) if own == function)
    }

    /// Checks that the row applies to a version of the operator set.
    ///
    /// # Errors
    ///
    /// A version before the first supported one, or after the last one.
    pub fn check(&self, opset: i64) -> Result<(), Refusal> {
        let first = self.since[0];
        if opset < first {
            let message = format!("found opset {opset}, expected {first} or later");
            return Err(Refusal::new(Code(4101), message).help(format!(
                "convert the model to opset {first} or later: `onnx.version_converter`"
            )));
        }
        if self.domain == ONNX && opset > LAST_OPSET {
            let message = format!("found opset {opset}, expected {LAST_OPSET} or earlier");
            return Err(Refusal::new(Code(4101), message).help(format!(
                "export the model with opset {LAST_OPSET} or earlier"
            )));
        }
        Ok(())
    }

    /// Imports a node of the operator.
    pub fn import(&self, n: &mut Node<'_, '_, '_>) -> Result<Vec<Value>, Refusal> {
        let values = match self.import {
            Import::Scalar(function) => vec![n.apply(function)?],
            Import::One(import) => vec![import(n)?],
            Import::Many(import) => import(n)?,
            Import::Values(import) => return import(n),
        };
        Ok(values.into_iter().map(Value::Op).collect())
    }
}

/// Operators that are not scalar functions and whose first result has the rank of their first input.
const KEEP_RANK: &[&str] = &[
    "Cast",
    "CastLike",
    "Celu",
    "Clip",
    "Dropout",
    "Elu",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "Hardmax",
    "Identity",
    "IsInf",
    "IsNaN",
    "LayerNormalization",
    "LeakyRelu",
    "LogSoftmax",
    "Mish",
    "Pad",
    "Reciprocal",
    "Relu",
    "Selu",
    "Slice",
    "Softmax",
    "Softplus",
    "Softsign",
    "Split",
    "Swish",
    "ThresholdedRelu",
    "Tile",
    "Transpose",
    "Trilu",
];

/// Operators that are not scalar functions and that broadcast their inputs to one shape.
const BROADCAST: &[&str] = &[
    "Add",
    "BitShift",
    "Div",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Max",
    "Mean",
    "Min",
    "Mod",
    "Mul",
    "Pow",
    "Sub",
    "Sum",
];

/// The rows, by family.
const FAMILIES: &[&[Operator]] = &[
    activation::ROWS,
    attention::ROWS,
    blocks::ROWS,
    control::ROWS,
    convolution::ROWS,
    determinant::ROWS,
    einsum::ROWS,
    elementwise::ROWS,
    flex_attention::ROWS,
    fourier::ROWS,
    fused::ROWS,
    fused_attention::ROWS,
    grid::ROWS,
    grouped_attention::ROWS,
    index::ROWS,
    linear_attention::ROWS,
    loss::ROWS,
    normalize::ROWS,
    optional::ROWS,
    own::ROWS,
    place::ROWS,
    pool::ROWS,
    product::ROWS,
    quantize::ROWS,
    quantized::ROWS,
    recurrent::ROWS,
    reduce::ROWS,
    repeated::ROWS,
    resize::ROWS,
    runtime_shape::ROWS,
    shape::ROWS,
    slice::ROWS,
    window::ROWS,
];

/// Returns the canonical name of a domain.
pub(crate) fn domain(name: &str) -> &str {
    match name {
        "ai.onnx" => ONNX,
        name => name,
    }
}

/// Returns the name of an operator in diagnostics.
pub(crate) fn qualified(of: &str, name: &str) -> String {
    match domain(of) {
        ONNX => name.to_owned(),
        of => format!("{of}.{name}"),
    }
}

/// Returns the row of an operator.
pub(crate) fn find(of: &str, name: &str) -> Option<&'static Operator> {
    /// All rows by domain and name, hashed because models have thousands of nodes.
    static ROWS: LazyLock<FxHashMap<(&str, &str), &Operator>> = LazyLock::new(|| {
        let rows = FAMILIES.iter().copied().flatten();
        rows.map(|row| ((row.domain, row.name), row)).collect()
    });
    ROWS.get(&(domain(of), name)).copied()
}

/// An operator that can be imported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ReadOperator {
    /// Its domain; empty for ONNX's own.
    pub domain: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The versions of its set that changed it, starting with the first supported one.
    pub since: &'static [i64],
}

/// Returns the operators that can be imported, by domain and name.
pub fn operators() -> Vec<ReadOperator> {
    let rows = FAMILIES.iter().copied().flatten();
    let mut all: Vec<ReadOperator> = rows
        .map(|row| ReadOperator {
            domain: row.domain,
            name: row.name,
            since: row.since,
        })
        .collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_has_one_row_with_ascending_versions() {
        let rows: Vec<&Operator> = FAMILIES.iter().copied().flatten().collect();
        for (at, row) in rows.iter().enumerate() {
            assert!(row.since.is_sorted_by(|a, b| a < b), "{}", row.name);
            assert!(!row.since.is_empty(), "{}", row.name);
            let same = |other: &&Operator| (other.domain, other.name) == (row.domain, row.name);
            assert!(!rows[at + 1..].iter().any(same), "{}", row.name);
        }
    }

    #[test]
    fn operators_with_a_rank_rule_have_rows() {
        let names = KEEP_RANK.iter().chain(BROADCAST);
        for &name in names.clone() {
            assert!(find(ONNX, name).is_some(), "{name}");
            assert_eq!(
                names.clone().filter(|own| **own == name).count(),
                1,
                "{name}"
            );
        }
    }
}
