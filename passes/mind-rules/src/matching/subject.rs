//! What a pattern is matched in: an e-graph, or a module.

use mind_ir::types::TypeView;

use crate::attr_value::AttrValue;
use crate::constant::Constant;
use crate::op_table::OpIx;
use mind_ir::scalar::Facts;

/// What is known of values, by number.
pub trait Knowledge {
    /// What is known of every element of a value.
    fn facts(&self, value: usize) -> Facts;

    /// The constant that a value is known to be.
    fn constant(&self, value: usize) -> Option<&Constant>;

    /// How many operands of the program are this value.
    fn uses(&self, value: usize) -> u32;
}

/// What a pattern is matched in. Several ops may compute one value.
pub trait Subject: Knowledge {
    /// A value: an e-class, or a value of a module.
    type Value: Copy + Eq;
    /// The attribute of an op.
    type Attr: Copy;
    /// An op: an e-node, or an op of a module.
    type Op: Copy + PartialEq;

    /// The number of a value in [`Knowledge`].
    fn number(value: Self::Value) -> usize;

    /// What stands for `value` now.
    fn canonical(&self, value: Self::Value) -> Self::Value;

    /// The `nth` op of this kind that computes `value`.
    fn op(&self, value: Self::Value, op: OpIx, nth: usize) -> Option<Self::Op>;

    /// The operands of an op.
    fn operands(&self, op: Self::Op) -> &[Self::Value];

    /// The attribute of an op at `index` of its table entry.
    fn op_attr(&self, op: Self::Op, index: usize) -> Self::Attr;

    /// An attribute's value; `None` for a literal.
    fn attr(&self, attr: Self::Attr) -> Option<AttrValue>;

    /// Whether two attributes have one value.
    fn same_attr(&self, a: Self::Attr, b: Self::Attr) -> bool;

    /// Whether an attribute has this value.
    fn attr_is(&self, attr: Self::Attr, value: &AttrValue) -> bool;

    /// The type of a value.
    fn ty(&self, value: Self::Value) -> TypeView<'_>;
}
