//! What kind of work an op does.

/// What kind of work an op does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CostClass {
    /// None when the module runs: inputs and constants.
    Free,
    /// The same elements in the same order under another shape: no kernel.
    View,
    /// The same elements in the order of other axes; a contraction can read through it.
    Permute,
    /// Some elements of its operands, copied; which ones, the attributes and shapes say.
    Move,
    /// Elements at given positions, copied; a position out of bounds is an error when run.
    Lookup,
    /// One scalar function at every position.
    Elementwise,
    /// Fewer elements, each from many: those along its attribute `axes`, or all where that is empty.
    Reduction,
    /// Several passes along one axis: that of its attribute `axis`, else the last one. Holds what it does
    /// per element, in simple scalar functions.
    Normalisation(u64),
    /// Chains of multiply-adds.
    Contraction(Inner),
    /// Chains of multiply-adds along dimensions that the op lists or those of square matrices, that no kernel holds beside
    /// other ops.
    Product,
    /// As many simple scalar functions at every position: of elements and their scales, operand 1.
    Scaled(u64),
    /// Chains of multiply-adds under windows, in either layout and by groups, that no kernel holds beside other ops.
    Convolution,
}

impl CostClass {
    /// Whether it slides a filter.
    pub(crate) fn convolves(self) -> bool {
        matches!(
            self,
            CostClass::Convolution | CostClass::Contraction(Inner::AllButLastOfRhs)
        )
    }
}

/// How many products one element of a contraction's result sums up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inner {
    /// The last extent of operand 0: a product of matrices.
    LastOfLhs,
    /// The product of all extents of operand 1 but the last: a convolution.
    AllButLastOfRhs,
}
