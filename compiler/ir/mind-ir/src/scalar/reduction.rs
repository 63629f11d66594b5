//! Reductions of many elements to one.

crate::words! {
    /// A reduction of several elements to one. docs/numerics.md specifies the order of operations.
    pub enum Reduction {
        /// The sum.
        Sum = "sum",
        /// The sum divided by the number of elements.
        Mean = "mean",
        /// The largest element; NaN if any element is NaN.
        Max = "max",
        /// The smallest element; NaN if any element is NaN.
        Min = "min",
        /// The product.
        Prod = "prod",
    }
}
