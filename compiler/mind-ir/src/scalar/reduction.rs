//! Reductions of many elements to one.

crate::words! {
    /// How elements become one, in the order of docs/numerics.md.
    pub enum Reduction {
        /// Their sum.
        Sum = "sum",
        /// Their sum, divided by their number.
        Mean = "mean",
        /// The largest; NaN if any is.
        Max = "max",
        /// The smallest; NaN if any is.
        Min = "min",
        /// Their product.
        Prod = "prod",
    }
}
