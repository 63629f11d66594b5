//! Comparisons, and the choice between two values.

use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::scalar::ScalarFn;

mind_ir::words! {
    /// What a comparison asks of its operands.
    pub enum Direction {
        /// They are equal.
        Eq = "eq",
        /// They are not equal.
        Ne = "ne",
        /// The first is less.
        Lt = "lt",
        /// The first is not greater.
        Le = "le",
        /// The first is greater.
        Gt = "gt",
        /// The first is not less.
        Ge = "ge",
    }
}

impl Direction {
    /// The comparison as a function.
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

    /// The direction of a function that compares; `None` for another one.
    pub fn of(function: ScalarFn) -> Option<Direction> {
        let mut all = Direction::ALL.iter().copied();
        all.find(|direction| direction.function() == function)
    }

    /// The same comparison with its operands exchanged.
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
    /// Whether `lhs` and `rhs` compare as `direction` says, at every position.
    ///
    /// If either is NaN, `ne` is true and the others are false. -0 equals +0, and false is less than true.
    ///
    /// Shapes: the operands' shapes broadcast; the result is `bool`.
    /// Errors: E2004 different dtypes, E3001 shapes do not broadcast.
    /// Source: this compiler; ONNX `Equal`, `Less` and their like, StableHLO `compare`.
    Compare = "core.compare" {
        operands: (lhs: Any, rhs: Any),
        attrs: { direction "d": Direction },
        traits: [Pure, SameDType, Elementwise, Extended],
        names: { core: "Compare", mic1: "compare" },
        scalar: Equal,
        scalar_of: |op, g: &Graph| op.direction(g).function(),
    }

    /// `on_true` where `pred` is true, else `on_false`; the other one does not show, whatever it is.
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
