//! Constants of `sigmoid`.

/// Constants for one float type.
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// The result for smaller numbers rounds to 0.
    pub lowest: T,
    /// The result for larger numbers rounds to 1.
    pub highest: T,
    /// For smaller numbers, e^-x is so much larger than 1 that their sum as powers of two may be inexact.
    pub far: T,
}

/// The constants for f32.
pub const F32: Constants<f32> = Constants {
    lowest: -104.0,
    highest: 104.0,
    far: -8.0,
};

/// The constants for f64.
pub const F64: Constants<f64> = Constants {
    lowest: -746.0,
    highest: 746.0,
    far: -8.0,
};
