//! Constants of `exp2`.

/// Constants for one float type.
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// The result for smaller numbers rounds to 0.
    pub lowest: T,
    /// The result for larger numbers rounds to infinity.
    pub highest: T,
}

/// The constants for f32.
pub const F32: Constants<f32> = Constants {
    lowest: -151.0,
    highest: 129.0,
};

/// The constants for f64.
pub const F64: Constants<f64> = Constants {
    lowest: -1076.0,
    highest: 1025.0,
};
