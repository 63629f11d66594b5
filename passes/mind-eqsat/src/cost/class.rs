//! Classes of ops by the kind of their work.

/// The kind of work that an op does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CostClass {
    /// No work at run time: inputs and constants.
    Free,
    /// A view: the same elements in the same order with another shape. Needs no kernel.
    View,
    /// A transpose. A contraction can read through it.
    Permute,
    /// A copy of some elements of the operands, for example a slice; attributes and shapes determine which.
    Move,
    /// A copy whose elements need not be those of the operands, or whose positions are data and may be out of bounds at
    /// run time, for example a pad or a gather.
    Lookup,
    /// One scalar function at every position.
    Elementwise,
    /// A reduction along the axes of the attribute `axes`, or along all axes if the list is empty.
    Reduction,
    /// Several passes along one axis: that of the attribute `axis`, or the last one by default. The number is the work
    /// per element, in simple scalar functions.
    Normalisation(u64),
    /// Multiply-add chains.
    Contraction(Inner),
    /// Multiply-add chains along dimensions that the op lists, or along those of square matrices. Never in a kernel with other ops.
    Product,
    /// Quantisation or dequantisation: this number of simple scalar functions per element. Operand 1 holds the scales.
    Scaled(u64),
    /// Multiply-add chains over windows, in either layout and with groups. Never in a kernel with other ops.
    Convolution,
}

impl CostClass {
    /// Returns whether ops of this class are convolutions.
    pub(crate) fn convolves(self) -> bool {
        matches!(
            self,
            CostClass::Convolution | CostClass::Contraction(Inner::AllButLastOfRhs)
        )
    }
}

/// The number of products that one element of a contraction's result sums up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inner {
    /// The last extent of operand 0: a matrix product.
    LastOfLhs,
    /// The product of all extents of operand 1 but the last: a convolution.
    AllButLastOfRhs,
}
