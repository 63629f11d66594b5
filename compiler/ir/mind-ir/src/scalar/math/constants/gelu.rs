//! Constants of `gelu`.

/// Constants for one float type.
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// The tail for larger numbers rounds to 0.
    pub highest: T,
    /// The zero of the substitution t = (a - k) / (a + k), which maps any tail into -1..1.
    ///
    /// It is chosen so that `poly` is short and its constant term nearly exact.
    pub k: T,
    /// (a + k) R(a) as a polynomial in t, with R(a) = e^(a^2/2) erfc(a / sqrt(2)) / 2.
    pub poly: &'static [T],
}

/// (a + 3.375) R(a) in powers of (a - 3.375) / (a + 3.375) for 0 <= a <= 14.5, relative error below
/// 2^-27.7.
pub const POLY_F32: [f32; 10] = [
    0.7410803,      // 3f3db770
    -0.5529922,     // bf0d90e6
    0.2953758,      // 3e973b7f
    -0.09838428,    // bdc97db3
    0.008720205,    // 3c0edf31
    0.0078246305,   // 3c0032e1
    -0.0022542286,  // bb13bbae
    -0.00085012167, // ba5edab3
    0.00031264205,  // 39a3ea1b
    0.00013669376,  // 390f5574
];

/// (a + 3.5) R(a) in powers of (a - 3.5) / (a + 3.5) for 0 <= a <= 38.7, relative error below
/// 2^-57.4.
pub const POLY_F64: [f64; 24] = [
    0.7444160754359381,       // 3fe7d241a953a614
    -0.565561816053779,       // bfe2191517fa27b8
    0.315424969887952,        // 3fd42fec3680acaa
    -0.11605092871407968,     // bfbdb5837f7f5594
    0.017407832602072484,     // 3f91d35bdee16d67
    0.006476218919906063,     // 3f7a86cec7675ab4
    -0.0031891010487422886,   // bf6a200796a7d542
    -0.00044501295041646417,  // bf3d2a14117e6a21
    0.00047665710525461293,   // 3f3f3cfaadb082c9
    0.00006703323375789704,   // 3f1192862fdb6049
    -0.00007558467246962957,  // bf13d066c90c4943
    -0.000018788903324177463, // bef3b39b9ad97745
    0.00001150665124944423,   // 3ee821961b0e8eff
    5.651923850975924e-6,     // 3ed7b4b4ff94b9f3
    -1.1650152749627038e-6,   // beb38bb3d7633f5c
    -1.479175513117134e-6,    // beb8d102ad1b09c7
    -1.433044760095175e-7,    // be833be78060e4f5
    2.94398816412027e-7,      // 3e93c1bbaff90ea9
    1.2407698250807415e-7,    // 3e80a740ae1824a5
    -3.008374324233712e-8,    // be6026ad9db652a0
    -3.646441814370798e-8,    // be6393a1a7edb6cb
    -3.898698259804754e-9,    // be30beaa007b3c2f
    4.948158355261398e-9,     // 3e35408ec1ffb1d1
    1.505449061952934e-9,     // 3e19dd08f5676856
];

/// The constants for f32.
pub const F32: Constants<f32> = Constants {
    highest: 14.5,
    k: 3.375,
    poly: &POLY_F32,
};

/// The constants for f64.
pub const F64: Constants<f64> = Constants {
    highest: 38.7,
    k: 3.5,
    poly: &POLY_F64,
};
