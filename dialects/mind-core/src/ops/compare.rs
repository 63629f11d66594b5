//! Comparisons and selection.

use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::scalar::ScalarFn;

mind_ir::words! {
    /// The predicate of a comparison.
    pub enum Direction {
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Ne = "ne",
        /// Less than.
        Lt = "lt",
        /// Less than or equal; false for NaN.
        Le = "le",
        /// Greater than.
        Gt = "gt",
        /// Greater than or equal; false for NaN.
        Ge = "ge",
    }
}

impl Direction {
    /// Returns the scalar function of the comparison.
    pub const fn function(self) -> ScalarFn {
        match self {
            Direction::Eq => ScalarFn::Equal,
            Direction::Ne => ScalarFn::NotEqual,
            Direction::Lt => ScalarFn::Less,
            Direction::Le => ScalarFn::LessEqual,
            Direction::Gt => ScalarFn::Greater,
            Direction::Ge => ScalarFn::GreaterEqual,
        }
    }

    /// Returns the direction of a comparing function; `None` for other functions.
    pub fn of(function: ScalarFn) -> Option<Direction> {
        let mut all = Direction::ALL.iter().copied();
        all.find(|direction| direction.function() == function)
    }

    /// Returns the direction for exchanged operands.
    pub const fn swapped(self) -> Direction {
        match self {
            Direction::Eq => Direction::Eq,
            Direction::Ne => Direction::Ne,
            Direction::Lt => Direction::Gt,
            Direction::Le => Direction::Ge,
            Direction::Gt => Direction::Lt,
            Direction::Ge => Direction::Le,
        }
    }
}

ops! {
    /// Whether `lhs` and `rhs` satisfy `direction`, at every position.
    ///
    /// If either is NaN, `ne` is true and the others are false. -0 equals +0, and false is less than true.
    ///
    /// Shapes: the operands' shapes broadcast; the result is `bool`.
    /// Errors: E2004 different dtypes, E3001 shapes do not broadcast.
    /// Source: this compiler; ONNX `Equal`, `Less` and similar ops, StableHLO `compare`.
    Compare = "core.compare" {
        operands: (lhs: Any, rhs: Any),
        attrs: { direction "d": Direction },
        traits: [Pure, SameDType, Elementwise, Extended],
        names: { core: "Compare", mic1: "compare" },
        scalar: Equal,
        scalar_of: |op, g: &Graph| op.direction(g).function(),
    }

    /// `on_true` where `pred` is true, else `on_false`; the other value has no effect, even if it is NaN.
    ///
    /// Shapes: the shapes of all three broadcast; the result has the dtype of `on_true` and `on_false`.
    /// Errors: E2004 different dtypes, E2005 `pred` is not `bool`, E3001 shapes do not broadcast.
    /// Source: this compiler; ONNX `Where`, MIL `select`, StableHLO `select`.
    Select = "core.select" {
        operands: (pred: Bool, on_true: Any, on_false: Any),
        traits: [Pure, SameDType, Elementwise, Extended],
        names: { core: "Select", mic1: "select" },
        scalar: Select,
    }
}
