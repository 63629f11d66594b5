//! The interface between patterns and the graphs in which they are matched.

use mind_ir::types::TypeView;

use crate::attr_value::AttrValue;
use crate::constant::Constant;
use crate::op_table::OpIx;
use mind_ir::scalar::Facts;

/// Facts about values, by number.
pub trait Knowledge {
    /// Returns facts that hold for every element of a value.
    fn facts(&self, value: usize) -> Facts;

    /// Returns the constant that a value is known to be equal to.
    fn constant(&self, value: usize) -> Option<&Constant>;

    /// Returns the number of uses of a value in the program.
    fn uses(&self, value: usize) -> u32;
}

/// A graph in which a pattern is matched: an e-graph, where several ops may compute one value, or a module.
pub trait Subject: Knowledge {
    /// A value: an e-class, or a value of a module.
    type Value: Copy + Eq;
    /// A handle of an attribute of an op.
    type Attr: Copy;
    /// An op: an e-node, or an op of a module.
    type Op: Copy + PartialEq;

    /// Returns the number of a value in [`Knowledge`].
    fn number(value: Self::Value) -> usize;

    /// Returns the current representative of `value`.
    fn canonical(&self, value: Self::Value) -> Self::Value;

    /// Returns the `nth` op of definition `op` that computes `value`.
    fn op(&self, value: Self::Value, op: OpIx, nth: usize) -> Option<Self::Op>;

    /// Returns the operands of an op.
    fn operands(&self, op: Self::Op) -> &[Self::Value];

    /// Returns the attribute of an op at `index` of its definition.
    fn op_attr(&self, op: Self::Op, index: usize) -> Self::Attr;

    /// Returns the value of an attribute; `None` for a literal.
    fn attr(&self, attr: Self::Attr) -> Option<AttrValue>;

    /// Returns whether two attributes have the same value.
    fn same_attr(&self, a: Self::Attr, b: Self::Attr) -> bool;

    /// Returns whether an attribute has this value.
    fn attr_is(&self, attr: Self::Attr, value: &AttrValue) -> bool;

    /// Returns the type of a value.
    fn ty(&self, value: Self::Value) -> TypeView<'_>;
}
