//! Constants of `exp2`.

/// Constants of one float type.
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// Below this the result rounds to 0.
    pub lowest: T,
    /// Above this the result rounds to infinity.
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
