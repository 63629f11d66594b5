//! Constants of `sigmoid`.

/// Constants of one float type.
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// Below this the result rounds to 0.
    pub lowest: T,
    /// Above this the result rounds to 1.
    pub highest: T,
    /// Below this, e^-x outweighs 1 so far that their sum as powers of two may be inexact.
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
